import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Input from '@cloudscape-design/components/input'
import Tiles from '@cloudscape-design/components/tiles'
import { useState } from 'react'
import { alarmOf, type Preset, presets, putAlarm } from '../api/alarms'
import { keys } from '../api/keys'
import { useAction } from '../api/useaction'
import { goToFirstWrong } from '../frame/firstwrong'
import { address, go } from '../frame/router'
import { Dialog } from './dialog'
import { QueuePicker } from './queuepicker'
import { noTopic, settle, TopicChoice, wrongWith } from './topicchoice'

/** AlarmMe makes one of the alarms that people want on nearly every queue. */
export function AlarmMe({ queue, close }: { queue: string; close: () => void }) {
  const [name, setName] = useState(queue)
  const [preset, setPreset] = useState<Preset>(presets[0] as Preset)
  const [threshold, setThreshold] = useState(String(preset.threshold))
  const [choice, setChoice] = useState(noTopic)
  const [tried, setTried] = useState(false)
  const { busy, error, run } = useAction()
  const wrong = {
    name: name ? undefined : 'Choose a queue.',
    threshold: /^\d+(\.\d+)?$/.test(threshold) ? undefined : 'The threshold is a number, 0 or more.',
    choice: wrongWith(choice),
  }
  async function submit() {
    setTried(true)
    if (wrong.name || wrong.threshold || wrong.choice) {
      goToFirstWrong()
      return
    }
    await run(
      async () => {
        const alarm = alarmOf(preset, name, Number(threshold), await settle(choice))
        const AlarmName = alarm.AlarmName ?? ''
        await putAlarm(alarm)
        return {
          header: `Alarm ${AlarmName} watches ${name}`,
          content: 'It is evaluated each minute.',
          action: { text: 'View alarm', do: () => go(address(['alarms', AlarmName])) },
        }
      },
      { stale: [keys.alarms, keys.topics], done: close },
    )
  }
  return (
    <Dialog
      title="Quick alarm"
      size="large"
      more={
        <Button onClick={() => go(address(['create-alarm'], { queue: name, metric: preset.metric, threshold }))}>
          Advanced
        </Button>
      }
      yes="Create alarm"
      act={submit}
      close={close}
      busy={busy}
      error={error}
    >
      <FormField label="Queue" errorText={tried && wrong.name}>
        <QueuePicker name={name} choose={(q) => setName(q.QueueName)} />
      </FormField>
      <FormField label="When" stretch>
        <Tiles
          columns={2}
          value={preset.id}
          onChange={({ detail }) => {
            const next = presets.find((p) => p.id === detail.value) ?? preset
            setPreset(next)
            setThreshold(String(next.threshold))
          }}
          items={presets.map((p) => ({ value: p.id, label: p.title, description: p.says }))}
        />
      </FormField>
      {preset.id !== 'silent' && (
        <FormField label={`More than, in ${preset.unit}`} errorText={tried && wrong.threshold}>
          <Input
            type="number"
            inputMode="decimal"
            value={threshold}
            onChange={({ detail }) => setThreshold(detail.value)}
          />
        </FormField>
      )}
      <TopicChoice label="Notification" choice={choice} change={setChoice} showErrors={tried} />
      {choice.kind === 'none' && (
        <Box variant="small" color="text-body-secondary">
          The alarm is shown in the console and by sluice alarm ls.
        </Box>
      )}
    </Dialog>
  )
}

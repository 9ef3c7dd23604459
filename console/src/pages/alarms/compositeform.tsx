import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import Form from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import { useState } from 'react'
import { putComposite, useAlarms } from '../../api/alarms'
import { keys } from '../../api/keys'
import { useAction } from '../../api/useaction'
import { goToFirstWrong } from '../../frame/firstwrong'
import { address, go } from '../../frame/router'
import { Problem } from '../../parts/problem'
import { settle, wrongWith } from '../../parts/topicchoice'
import { AlarmName } from './alarmname'
import { type CompositeDraft, compositeOf, wrongInComposite } from './compositedraft'
import { Notification } from './notification'

/** CompositeForm creates or changes a composite alarm. */
export function CompositeForm({ first, editing }: { first: CompositeDraft; editing?: string }) {
  const [draft, setDraft] = useState(first)
  const [tried, setTried] = useState(false)
  const { busy, error, run } = useAction()
  const set = (part: Partial<CompositeDraft>) => setDraft({ ...draft, ...part })
  const wrong = wrongInComposite(draft)

  async function submit() {
    setTried(true)
    if (Object.keys(wrong).length > 0 || wrongWith(draft.firing) || wrongWith(draft.fine)) {
      goToFirstWrong()
      return
    }
    await run(
      async () => {
        const topics = { firing: await settle(draft.firing), fine: await settle(draft.fine) }
        await putComposite(compositeOf(draft, topics))
        return { header: `Alarm ${draft.name} ${editing ? 'saved' : 'created'}` }
      },
      { stale: [keys.alarms, keys.topics], done: () => go(address(['alarms', draft.name])) },
    )
  }

  return (
    <Form
      header={<Header variant="h1">{editing ? `Edit ${editing}` : 'Create composite alarm'}</Header>}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button variant="link" onClick={() => go(editing ? address(['alarms', editing]) : '/alarms')}>
            Cancel
          </Button>
          <Button variant="primary" loading={busy} onClick={submit}>
            {editing ? 'Save changes' : 'Create composite alarm'}
          </Button>
        </SpaceBetween>
      }
    >
      <SpaceBetween size="l">
        <Details draft={draft} set={set} wrong={tried ? wrong : {}} tried={tried} editing={Boolean(editing)} />
        <Suppressor draft={draft} set={set} wrong={tried ? wrong : {}} />
        <Notification draft={draft} set={set} tried={tried} />
        <Problem error={error} what="The alarm was not saved" />
      </SpaceBetween>
    </Form>
  )
}

interface PartProps {
  draft: CompositeDraft
  set: (part: Partial<CompositeDraft>) => void
  wrong: ReturnType<typeof wrongInComposite>
}

function Details({ draft, set, wrong, tried, editing }: PartProps & { tried: boolean; editing: boolean }) {
  return (
    <Container header={<Header variant="h2">Details</Header>}>
      <SpaceBetween size="m">
        <AlarmName name={draft.name} change={(name) => set({ name })} tried={tried} editing={editing} />
        <FormField label="Alarm description" description="Notifications include it. At most 1,024 characters.">
          <Textarea
            value={draft.description}
            rows={2}
            onChange={({ detail }) => set({ description: detail.value.slice(0, 1024) })}
          />
        </FormField>
        <FormField
          stretch
          label="Rule"
          description='The alarm fires when the rule holds: ALARM("a") AND NOT (OK("b") OR INSUFFICIENT_DATA("c")), or AT_LEAST(2, ALARM, ("a", "b", "c")).'
          errorText={wrong.rule}
        >
          <Textarea
            value={draft.rule}
            rows={6}
            spellcheck={false}
            onChange={({ detail }) => set({ rule: detail.value })}
          />
        </FormField>
      </SpaceBetween>
    </Container>
  )
}

function Suppressor({ draft, set, wrong }: PartProps) {
  const { data } = useAlarms()
  const none = { value: '', label: 'No alarm' }
  const options = (data ?? [])
    .filter((a) => a.AlarmName !== draft.name)
    .map((a) => ({ value: a.AlarmName ?? '', label: a.AlarmName ?? '' }))
  return (
    <Container
      header={
        <Header variant="h2" description="While the suppressor is in alarm, this alarm takes no action.">
          Suppression - optional
        </Header>
      }
    >
      <SpaceBetween size="m">
        <FormField label="Suppressor">
          <Select
            filteringType="auto"
            selectedOption={draft.suppressor ? { value: draft.suppressor, label: draft.suppressor } : none}
            options={[none, ...options]}
            onChange={({ detail }) => set({ suppressor: detail.selectedOption.value ?? '' })}
          />
        </FormField>
        {draft.suppressor && (
          <ColumnLayout columns={2}>
            <FormField
              label="Wait period in seconds"
              description="How long a notification waits for the suppressor."
              errorText={wrong.wait}
            >
              <Input value={draft.wait} inputMode="numeric" onChange={({ detail }) => set({ wait: detail.value })} />
            </FormField>
            <FormField
              label="Extension period in seconds"
              description="How long it still waits after the suppressor leaves the alarm state."
              errorText={wrong.extension}
            >
              <Input
                value={draft.extension}
                inputMode="numeric"
                onChange={({ detail }) => set({ extension: detail.value })}
              />
            </FormField>
          </ColumnLayout>
        )}
      </SpaceBetween>
    </Container>
  )
}

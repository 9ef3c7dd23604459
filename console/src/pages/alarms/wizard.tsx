import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import Wizard from '@cloudscape-design/components/wizard'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { comparisons, conditionOf } from '../../api/alarm'
import { measureOf, missings, putAlarm } from '../../api/alarms'
import { keys } from '../../api/keys'
import {
  fetchLines,
  lastHours,
  moreQueueMeasures,
  periodFor,
  periods,
  queueMeasures,
  statistics,
} from '../../api/metrics'
import { nameOf } from '../../api/queues'
import { useAction } from '../../api/useaction'
import { wrongAlarmName } from '../../data/names'
import { goToFirstWrong } from '../../frame/firstwrong'
import { address, go } from '../../frame/router'
import { Graph } from '../../parts/graph'
import { RangeField, wordOf } from '../../parts/graphs'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { QueuePicker } from '../../parts/queuepicker'
import { settle, wrongWith } from '../../parts/topicchoice'
import { AlarmName } from './alarmname'
import { type Draft, dimensionsOf, inputOf, isQueues } from './draft'
import { Notification } from './notification'

/** steps are those that the parts of a draft are asked for in: metric, condition, actions, name. */
const steps = [0, 0, 1, 2]

/** wrongIn says what is wrong in each part of a draft. */
function wrongIn(d: Draft): (string | undefined)[] {
  const points = Number(d.points)
  const of = Number(d.of)
  const whole = (n: number) => Number.isInteger(n) && n >= 1
  return [
    isQueues(d) && !d.queue ? 'Choose a queue.' : undefined,
    d.threshold.trim() === '' || Number.isNaN(Number(d.threshold))
      ? 'The threshold is a number.'
      : !whole(of) || !whole(points) || points > of
        ? 'Both are whole numbers, and the datapoints cannot exceed the periods.'
        : of * Number(d.period) > (Number(d.period) >= 3600 ? 604_800 : 86_400)
          ? 'The evaluation spans at most a day, or a week with periods of at least an hour.'
          : undefined,
    wrongWith(d.firing) ?? wrongWith(d.fine) ?? wrongWith(d.lacking),
    wrongAlarmName(d.name),
  ]
}

/** AlarmWizard creates or changes an alarm in four steps. */
export function AlarmWizard({ title, first, editing }: { title: string; first: Draft; editing?: string }) {
  const [draft, setDraft] = useState(first)
  const [step, setStep] = useState(0)
  const [tried, setTried] = useState<number>(-1)
  const { busy, error, run } = useAction()
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const errors = wrongIn(draft)
  const shown = (part: number) => (tried >= (steps[part] ?? 0) ? errors[part] : undefined)

  function move(to: number) {
    const wrong = steps[errors.findIndex(Boolean)] ?? to
    setTried(Math.max(tried, Math.min(wrong, to - 1)))
    setStep(Math.min(wrong, to))
    goToFirstWrong()
  }

  async function submit() {
    const wrong = steps[errors.findIndex(Boolean)]
    if (wrong !== undefined) {
      setTried(wrong)
      setStep(wrong)
      goToFirstWrong()
      return
    }
    await run(
      async () => {
        const topics = {
          firing: await settle(draft.firing),
          fine: await settle(draft.fine),
          lacking: await settle(draft.lacking),
        }
        await putAlarm(inputOf(draft, topics))
        return { header: editing ? `Alarm ${draft.name} saved` : `Alarm ${draft.name} created` }
      },
      { stale: [keys.alarms, keys.topics], done: () => go(address(['alarms', draft.name])) },
    )
  }

  return (
    <Wizard
      activeStepIndex={step}
      isLoadingNextStep={busy}
      submitButtonText={editing ? 'Save changes' : 'Create alarm'}
      onNavigate={({ detail }) => move(detail.requestedStepIndex)}
      onCancel={() => go(editing ? address(['alarms', editing]) : '/alarms')}
      onSubmit={submit}
      i18nStrings={{
        stepNumberLabel: (n) => `Step ${n}`,
        collapsedStepsLabel: (n, of) => `Step ${n} of ${of}`,
        navigationAriaLabel: 'Steps',
        cancelButton: 'Cancel',
        previousButton: 'Previous',
        nextButton: 'Next',
      }}
      steps={[
        {
          title: 'Specify metric and conditions',
          description: title,
          content: (
            <SpaceBetween size="l">
              <MetricStep draft={draft} set={set} error={shown(0)} editing={Boolean(editing)} />
              <ConditionStep draft={draft} set={set} error={shown(1)} />
            </SpaceBetween>
          ),
        },
        { title: 'Configure actions', content: <Notification draft={draft} set={set} tried={tried >= 1} /> },
        {
          title: 'Add name and description',
          content: <NameStep draft={draft} set={set} tried={tried >= 2} editing={Boolean(editing)} />,
        },
        { title: 'Preview and create', content: <Review draft={draft} error={error} edit={setStep} /> },
      ]}
    />
  )
}

interface StepProps {
  draft: Draft
  set: (part: Partial<Draft>) => void
  error?: string | undefined
}

function MetricStep({ draft, set, error, editing }: StepProps & { editing: boolean }) {
  const measures = [...queueMeasures, ...moreQueueMeasures]
  const measure = measures.find((m) => m.name === draft.metric && m.namespace === draft.namespace)
  return (
    <Container header={<Header variant="h2">Metric</Header>}>
      <SpaceBetween size="m">
        {isQueues(draft) ? (
          <SpaceBetween size="m">
            <FormField label="Queue" errorText={error}>
              <QueuePicker
                name={draft.queue}
                choose={(q) =>
                  set({
                    queue: q.QueueName,
                    ...(!editing &&
                      (draft.name === '' || draft.name === `${draft.queue}-`) && { name: `${q.QueueName}-` }),
                  })
                }
              />
            </FormField>
            <FormField label="Metric" description={measure && `${measure.title}: ${measure.says}`}>
              <Select
                selectedOption={{ value: draft.metric, label: draft.metric }}
                options={measures.map((m) => ({ value: m.name, label: m.name, description: m.title }))}
                onChange={({ detail }) => {
                  const next = measures.find((m) => m.name === detail.selectedOption.value)
                  if (next) {
                    set({
                      metric: next.name,
                      namespace: next.namespace,
                      statistic: next.statistic,
                      kept: { ...draft.kept, Unit: undefined },
                    })
                  }
                }}
              />
            </FormField>
          </SpaceBetween>
        ) : (
          <Pairs
            items={[
              { label: 'Metric', value: `${draft.namespace} ${draft.metric}` },
              { label: 'Dimensions', value: draft.dimensions.map((d) => `${d.Name} ${d.Value}`).join(', ') || '–' },
            ]}
          />
        )}
        <ColumnLayout columns={2}>
          <FormField label="Statistic">
            <Select
              selectedOption={{ value: draft.statistic, label: wordOf(draft.statistic) }}
              options={statistics.map((value) => ({ value, label: wordOf(value) }))}
              onChange={({ detail }) => set({ statistic: detail.selectedOption.value ?? '' })}
            />
          </FormField>
          <FormField label="Period">
            <Select
              selectedOption={{
                value: draft.period,
                label: periods.find((p) => String(p.seconds) === draft.period)?.text ?? `${draft.period} s`,
              }}
              options={periods.map((p) => ({ value: String(p.seconds), label: p.text }))}
              onChange={({ detail }) => set({ period: detail.selectedOption.value ?? '60' })}
            />
          </FormField>
        </ColumnLayout>
        <Preview draft={draft} />
      </SpaceBetween>
    </Container>
  )
}

function Preview({ draft }: { draft: Draft }) {
  const [hours, setHours] = useState(3)
  const ready = !isQueues(draft) || draft.queue !== ''
  const { data, error, refetch } = useQuery({
    queryKey: ['GetMetricData', 'preview', dimensionsOf(draft), draft.metric, draft.statistic, draft.period, hours],
    enabled: ready,
    queryFn: async ({ signal }) => {
      const span = lastHours(hours)
      const metric = { Namespace: draft.namespace, MetricName: draft.metric, Dimensions: dimensionsOf(draft) }
      const period = Math.max(Number(draft.period), periodFor(span))
      return {
        span,
        lines: await fetchLines([{ title: draft.metric, metric, statistic: draft.statistic }], span, period, signal),
      }
    },
  })
  if (!ready) {
    return null
  }
  return (
    <SpaceBetween size="s">
      <RangeField hours={hours} choose={setHours} />
      <Graph
        title={draft.metric}
        unit={measureOf({ Namespace: draft.namespace, MetricName: draft.metric })?.unit ?? ''}
        span={data?.span ?? lastHours(hours)}
        lines={data?.lines}
        threshold={Number.isNaN(Number(draft.threshold)) ? undefined : Number(draft.threshold)}
        error={error}
        retry={() => void refetch()}
      />
    </SpaceBetween>
  )
}

function ConditionStep({ draft, set, error }: StepProps) {
  return (
    <Container header={<Header variant="h2">Conditions</Header>}>
      <SpaceBetween size="m">
        <ColumnLayout columns={2}>
          <FormField label="Whenever the value is">
            <Select
              selectedOption={comparisons.find((c) => c.value === draft.comparison) ?? null}
              options={comparisons}
              onChange={({ detail }) => set({ comparison: detail.selectedOption.value ?? '' })}
            />
          </FormField>
          <FormField label="than the threshold">
            <Input
              value={draft.threshold}
              inputMode="decimal"
              onChange={({ detail }) => set({ threshold: detail.value })}
            />
          </FormField>
        </ColumnLayout>
        <FormField
          label="Datapoints to alarm"
          description="How many of the newest points must breach the threshold."
          errorText={error}
        >
          <div className="points">
            <Input
              ariaLabel="Datapoints to alarm"
              type="number"
              value={draft.points}
              onChange={({ detail }) => set({ points: detail.value })}
            />
            <span>out of</span>
            <Input
              ariaLabel="Evaluation periods"
              type="number"
              value={draft.of}
              onChange={({ detail }) => set({ of: detail.value })}
            />
          </div>
        </FormField>
        <FormField label="Missing data treatment">
          <Select
            selectedOption={missings.find((m) => m.value === draft.missing) ?? null}
            options={missings}
            onChange={({ detail }) => set({ missing: detail.selectedOption.value ?? 'missing' })}
          />
        </FormField>
      </SpaceBetween>
    </Container>
  )
}

function NameStep({ draft, set, tried, editing }: StepProps & { tried: boolean; editing: boolean }) {
  return (
    <Container header={<Header variant="h2">Name and description</Header>}>
      <SpaceBetween size="m">
        <AlarmName name={draft.name} change={(name) => set({ name })} tried={tried} editing={editing} />
        <FormField label="Alarm description" description="Notifications include it. At most 1,024 characters.">
          <Textarea
            value={draft.description}
            rows={3}
            onChange={({ detail }) => set({ description: detail.value.slice(0, 1024) })}
          />
        </FormField>
      </SpaceBetween>
    </Container>
  )
}

function Review({ draft, error, edit }: { draft: Draft; error: unknown; edit: (step: number) => void }) {
  const whom = (c: Draft['firing']) =>
    c.kind === 'none' ? 'No action' : c.kind === 'topic' ? nameOf(c.arn) : `${c.name} (new): ${c.addresses}`
  const topics = { firing: '', fine: '', lacking: '' }
  const part = (title: string, step: number, items: { label: string; value: string }[]) => (
    <Container
      header={
        <Header variant="h2" actions={<Button onClick={() => edit(step)}>Edit</Button>}>
          {title}
        </Header>
      }
    >
      <Pairs columns={2} items={items} />
    </Container>
  )
  return (
    <SpaceBetween size="l">
      {part('Metric and conditions', 0, [
        {
          label: 'About',
          value: dimensionsOf(draft)
            .map((d) => d.Value)
            .join(', '),
        },
        { label: 'Condition', value: conditionOf(inputOf(draft, topics) as Parameters<typeof conditionOf>[0]) },
        { label: 'Statistic', value: wordOf(draft.statistic) },
        { label: 'Missing data', value: missings.find((m) => m.value === draft.missing)?.label ?? '' },
      ])}
      {part('Actions', 1, [
        { label: 'In alarm', value: whom(draft.firing) },
        { label: 'OK again', value: whom(draft.fine) },
        { label: 'Insufficient data', value: whom(draft.lacking) },
        { label: 'Enabled', value: draft.enabled ? 'Yes' : 'No' },
      ])}
      {part('Name and description', 2, [
        { label: 'Name', value: draft.name },
        { label: 'Description', value: draft.description || '–' },
      ])}
      <Problem error={error} what="The alarm was not saved" />
    </SpaceBetween>
  )
}

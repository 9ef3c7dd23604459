import {
  DeleteAlarmsCommand,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  type DescribeAlarmsCommandInput,
  DisableAlarmActionsCommand,
  EnableAlarmActionsCommand,
  PutCompositeAlarmCommand,
  type PutCompositeAlarmCommandInput,
  PutMetricAlarmCommand,
  type PutMetricAlarmCommandInput,
  SetAlarmStateCommand,
  type StateValue,
} from '@aws-sdk/client-cloudwatch'
import { useQuery } from '@tanstack/react-query'
import { cloudwatch } from '../aws/cloudwatch'
import { useRefresh } from '../frame/preferences'
import { type AnyAlarm, allTypes, isComposite } from './alarm'
import { keys } from './keys'
import { type Measure, moreQueueMeasures, queueMeasures, topicMeasures } from './metrics'

/** describe returns the requested alarms, in order of their names. */
export async function describe(input: DescribeAlarmsCommandInput, signal: AbortSignal): Promise<AnyAlarm[]> {
  const alarms: AnyAlarm[] = []
  let token: string | undefined
  do {
    const page = await cloudwatch().send(new DescribeAlarmsCommand({ ...input, MaxRecords: 100, NextToken: token }), {
      abortSignal: signal,
    })
    alarms.push(...(page.MetricAlarms ?? []), ...(page.CompositeAlarms ?? []))
    token = page.NextToken
  } while (token)
  return alarms.sort((a, b) => (a.AlarmName ?? '').localeCompare(b.AlarmName ?? ''))
}

/** useAlarms returns all alarms of the account, or the one with a name. It asks again no sooner than after least milliseconds. */
export function useAlarms(name?: string, least = 0) {
  const interval = useRefresh()
  return useQuery({
    queryKey: [...keys.alarms, name ?? ''],
    refetchInterval: interval && Math.max(interval, least),
    queryFn: ({ signal }) => describe({ AlarmTypes: allTypes, ...(name && { AlarmNames: [name] }) }, signal),
  })
}

/** useRelatives returns the alarms that an alarm's rule names, or those whose rules name it. They have little but names. */
export function useRelatives(name: string, which: 'children' | 'parents') {
  const interval = useRefresh()
  return useQuery({
    queryKey: [...keys.alarms, name, which],
    refetchInterval: interval,
    queryFn: ({ signal }) =>
      describe(which === 'children' ? { ChildrenOfAlarmName: name } : { ParentsOfAlarmName: name }, signal),
  })
}

/** putAlarm creates an alarm, or changes the one of that name. */
export const putAlarm = (input: PutMetricAlarmCommandInput) => cloudwatch().send(new PutMetricAlarmCommand(input))

/** putComposite creates a composite alarm, or changes the one of that name. */
export const putComposite = (input: PutCompositeAlarmCommandInput) =>
  cloudwatch().send(new PutCompositeAlarmCommand(input))

/** dependsOn reports whether an alarm names another one. */
const dependsOn = (alarm: AnyAlarm, on: AnyAlarm) =>
  alarm !== on && `${alarm.AlarmRule} ${alarm.ActionsSuppressor}`.includes(on.AlarmName ?? '')

/**
 * deleteAlarms deletes alarms: up to 100 in a call, and before them composite alarms, of which a call takes one. Each goes
 * before those that it depends on.
 */
export async function deleteAlarms(alarms: readonly AnyAlarm[]) {
  const remove = (some: AnyAlarm[]) =>
    cloudwatch().send(new DeleteAlarmsCommand({ AlarmNames: some.map((a) => a.AlarmName ?? '') }))
  const composite = alarms.filter(isComposite)
  while (composite.length > 0) {
    const free = composite.findIndex((a) => !composite.some((b) => dependsOn(b, a)))
    await remove(composite.splice(Math.max(free, 0), 1))
  }
  const metric = alarms.filter((a) => !isComposite(a))
  for (let i = 0; i < metric.length; i += 100) {
    await remove(metric.slice(i, i + 100))
  }
}

/** setAlarmState sets the state of an alarm, until it is evaluated again. */
export const setAlarmState = (name: string, state: string) =>
  cloudwatch().send(
    new SetAlarmStateCommand({ AlarmName: name, StateValue: state as StateValue, StateReason: 'Set in the console' }),
  )

/** alarmHistory returns the recent history of an alarm, the newest first. */
export async function alarmHistory(name: string, signal: AbortSignal) {
  const command = new DescribeAlarmHistoryCommand({ AlarmName: name, AlarmTypes: allTypes, MaxRecords: 100 })
  return (await cloudwatch().send(command, { abortSignal: signal })).AlarmHistoryItems ?? []
}

/** enableActions reports whether alarms notify anyone. */
export async function enableActions(names: string[], on: boolean) {
  for (let i = 0; i < names.length; i += 100) {
    const input = { AlarmNames: names.slice(i, i + 100) }
    await cloudwatch().send(on ? new EnableAlarmActionsCommand(input) : new DisableAlarmActionsCommand(input))
  }
}

/** measureOf returns the known properties of an alarm's metric. */
export function measureOf(alarm: {
  Namespace?: string | undefined
  MetricName?: string | undefined
}): Measure | undefined {
  return [...queueMeasures, ...moreQueueMeasures, ...topicMeasures].find(
    (m) => m.namespace === alarm.Namespace && m.name === alarm.MetricName,
  )
}

/** missings are what points that are not there mean. */
export const missings = [
  { value: 'missing', label: 'Missing: without any point the state is INSUFFICIENT_DATA' },
  { value: 'notBreaching', label: 'Good: as if they were within the threshold' },
  { value: 'breaching', label: 'Bad: as if they breached the threshold' },
  { value: 'ignore', label: 'Ignored: the alarm stays as it is' },
]

/** Preset is an alarm that people want on nearly every queue. */
export interface Preset {
  id: string
  title: string
  says: string
  metric: string
  statistic: 'Maximum' | 'Sum'
  comparison: string
  threshold: number
  /** unit of the threshold, as a person types it; seconds are a unit of its own. */
  unit: string
  period: number
  points: number
  missing: string
}

const over = {
  statistic: 'Maximum' as const,
  comparison: 'GreaterThanThreshold',
  period: 60,
  points: 1,
  missing: 'notBreaching',
}

/** presets are what to watch first. */
export const presets: Preset[] = [
  {
    ...over,
    id: 'letters',
    title: 'A message arrives in it',
    says: 'For a dead-letter queue: a message could not be processed.',
    metric: 'ApproximateNumberOfMessagesVisible',
    threshold: 0,
    unit: 'messages',
  },
  {
    ...over,
    id: 'age',
    title: 'Messages wait too long',
    says: 'Consumers are too slow or have stopped.',
    metric: 'ApproximateAgeOfOldestMessage',
    threshold: 300,
    unit: 'seconds',
    points: 2,
  },
  {
    ...over,
    id: 'backlog',
    title: 'Too many messages wait',
    says: 'Messages arrive faster than consumers process them.',
    metric: 'ApproximateNumberOfMessagesVisible',
    threshold: 1000,
    unit: 'messages',
    points: 5,
  },
  {
    ...over,
    id: 'flight',
    title: 'Too many messages are in flight',
    says: 'Consumers receive messages and do not delete them. At 120,000, a queue delivers no more.',
    metric: 'ApproximateNumberOfMessagesNotVisible',
    threshold: 100_000,
    unit: 'messages',
  },
  {
    ...over,
    id: 'silent',
    title: 'Nothing is sent any more',
    says: 'The senders are down or cannot reach the queue.',
    metric: 'NumberOfMessagesSent',
    statistic: 'Sum',
    comparison: 'LessThanThreshold',
    threshold: 1,
    unit: 'messages',
    period: 300,
    points: 3,
    missing: 'breaching',
  },
]

/** alarmOf turns a preset into an alarm on a queue. */
export function alarmOf(preset: Preset, queue: string, threshold: number, topic: string): PutMetricAlarmCommandInput {
  return {
    AlarmName: `${queue}-${preset.id}`,
    AlarmDescription: `${preset.title}: ${queue}`,
    Namespace: 'AWS/SQS',
    MetricName: preset.metric,
    Dimensions: [{ Name: 'QueueName', Value: queue }],
    Statistic: preset.statistic,
    Period: preset.period,
    EvaluationPeriods: preset.points,
    Threshold: threshold,
    ComparisonOperator: preset.comparison as PutMetricAlarmCommandInput['ComparisonOperator'],
    TreatMissingData: preset.missing,
    ActionsEnabled: true,
    AlarmActions: topic ? [topic] : [],
    OKActions: topic ? [topic] : [],
  }
}

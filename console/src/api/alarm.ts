import type { AlarmType, CompositeAlarm, MetricAlarm } from '@aws-sdk/client-cloudwatch'

/** AnyAlarm is an alarm of either type: a composite alarm has a rule, and nothing of a metric. */
export type AnyAlarm = MetricAlarm & CompositeAlarm

/** allTypes asks for alarms of both types. */
export const allTypes: AlarmType[] = ['MetricAlarm', 'CompositeAlarm']

/** isComposite says whether an alarm combines the states of others. */
export const isComposite = (alarm: AnyAlarm) => alarm.AlarmRule !== undefined

/** queuesOf returns the names of the queues that an alarm's metrics are about. */
export function queuesOf(alarm: AnyAlarm): string[] {
  const metrics = (alarm.Metrics ?? []).map((m) => m.MetricStat?.Metric?.Dimensions ?? [])
  const names = [alarm.Dimensions ?? [], ...metrics].flat().filter((d) => d.Name === 'QueueName')
  return [...new Set(names.map((d) => d.Value ?? ''))]
}

/** comparisons are how a value is compared with the threshold. */
export const comparisons = [
  { value: 'GreaterThanThreshold', label: 'Greater than (>)', sign: '>' },
  { value: 'GreaterThanOrEqualToThreshold', label: 'Greater than or equal (≥)', sign: '≥' },
  { value: 'LessThanThreshold', label: 'Less than (<)', sign: '<' },
  { value: 'LessThanOrEqualToThreshold', label: 'Less than or equal (≤)', sign: '≤' },
]

/** timeOf says for how long a condition holds: for 3 minutes, 2 of 3 minutes, 2 of 3 periods of 5 minutes. */
function timeOf(points: number, of: number, minutes: number): string {
  const length = (n: number) => (n < 1 ? `${n * 60} s` : `${n} ${n === 1 ? 'minute' : 'minutes'}`)
  if (points === of) {
    return length(of * minutes)
  }
  return minutes === 1 ? `${points} of ${length(of)}` : `${points} of ${of} periods of ${length(minutes)}`
}

/** conditionOf says in words when an alarm fires. */
export function conditionOf(alarm: AnyAlarm): string {
  if (alarm.AlarmRule !== undefined) {
    return alarm.AlarmRule
  }
  const sign = comparisons.find((c) => c.value === alarm.ComparisonOperator)?.sign ?? alarm.ComparisonOperator
  const what = alarm.MetricName ?? (alarm.Metrics?.some((m) => m.Expression) ? 'an expression' : 'a metric')
  const of = alarm.EvaluationPeriods ?? 1
  const points = alarm.DatapointsToAlarm ?? of
  const minutes = (alarm.Period ?? alarm.Metrics?.[0]?.Period ?? 60) / 60
  return `${what} ${sign} ${alarm.Threshold} for ${timeOf(points, of, minutes)}`
}

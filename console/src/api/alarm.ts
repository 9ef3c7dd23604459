import type { AlarmType, CompositeAlarm, MetricAlarm } from '@aws-sdk/client-cloudwatch'

/** AnyAlarm is an alarm of either type: a composite alarm has a rule, but no metric. */
export type AnyAlarm = MetricAlarm & CompositeAlarm

/** allTypes asks for alarms of both types. */
export const allTypes: AlarmType[] = ['MetricAlarm', 'CompositeAlarm']

/** isComposite reports whether an alarm combines the states of others. */
export const isComposite = (alarm: AnyAlarm) => alarm.AlarmRule !== undefined

/** queuesOf returns the names of the queues whose metrics an alarm watches. */
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

/** bands are how a value is compared with the band of what is expected of it. */
export const bands = [
  { value: 'GreaterThanUpperThreshold', label: 'Above the band' },
  { value: 'LessThanLowerThreshold', label: 'Below the band' },
  { value: 'LessThanLowerOrGreaterThanUpperThreshold', label: 'Outside the band' },
]

/** comparisonOf says how an alarm compares values. */
export function comparisonOf(alarm: AnyAlarm): string | undefined {
  const known = [...comparisons, ...bands].find((c) => c.value === alarm.ComparisonOperator)
  return known?.label ?? alarm.ComparisonOperator
}

/** limitOf describes the limit of an alarm: > 5, above the band. */
function limitOf(alarm: AnyAlarm): string {
  if (alarm.ThresholdMetricId !== undefined) {
    return comparisonOf(alarm)?.toLowerCase() ?? ''
  }
  const sign = comparisons.find((c) => c.value === alarm.ComparisonOperator)?.sign ?? alarm.ComparisonOperator
  return `${sign} ${alarm.Threshold}`
}

/** timeOf describes how long a condition must hold: for 3 minutes, 2 of 3 minutes, 2 of 3 periods of 5 minutes. */
function timeOf(points: number, of: number, minutes: number): string {
  const length = (n: number) => (n < 1 ? `${n * 60} s` : `${n} ${n === 1 ? 'minute' : 'minutes'}`)
  if (points === of) {
    return length(of * minutes)
  }
  return minutes === 1 ? `${points} of ${length(of)}` : `${points} of ${of} periods of ${length(minutes)}`
}

/** conditionOf describes when an alarm fires. */
export function conditionOf(alarm: AnyAlarm): string {
  if (alarm.AlarmRule !== undefined) {
    return alarm.AlarmRule
  }
  const watched = alarm.Metrics?.find((m) => m.Id !== alarm.ThresholdMetricId && m.ReturnData !== false)
  const metric = alarm.MetricName ?? watched?.MetricStat?.Metric?.MetricName
  const what = metric ?? (watched?.Expression ? 'an expression' : 'a metric')
  const of = alarm.EvaluationPeriods ?? 1
  const points = alarm.DatapointsToAlarm ?? of
  const minutes = (alarm.Period ?? watched?.MetricStat?.Period ?? watched?.Period ?? 60) / 60
  return `${what} ${limitOf(alarm)} for ${timeOf(points, of, minutes)}`
}

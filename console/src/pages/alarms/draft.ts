import type { ComparisonOperator, MetricAlarm, PutMetricAlarmCommandInput, Statistic } from '@aws-sdk/client-cloudwatch'
import { isExtended } from '../../api/metrics'
import { noTopic, topicChoice } from '../../parts/topicchoice'

/** Draft is an alarm as it is typed. */
export interface Draft {
  namespace: string
  metric: string
  queue: string
  /** dimensions of a metric that is not a queue's stay as they are. */
  dimensions: { Name: string; Value: string }[]
  statistic: string
  period: string
  comparison: string
  threshold: string
  points: string
  of: string
  missing: string
  firing: typeof noTopic
  fine: typeof noTopic
  lacking: typeof noTopic
  enabled: boolean
  name: string
  description: string
  /** others are actions beyond the first of each kind, which the form leaves alone. */
  others: { firing: string[]; fine: string[]; lacking: string[] }
  /** kept is the rest of the alarm, which the form leaves alone: a save replaces all that an alarm has. */
  kept: Kept
}

type Kept = Pick<
  PutMetricAlarmCommandInput,
  'Unit' | 'EvaluateLowSampleCountPercentile' | 'EvaluationWindow' | 'WarmUpConfiguration' | 'ActionConfiguration'
>

export const blank: Draft = {
  namespace: 'AWS/SQS',
  metric: 'ApproximateNumberOfMessagesVisible',
  queue: '',
  dimensions: [],
  statistic: 'Maximum',
  period: '60',
  comparison: 'GreaterThanThreshold',
  threshold: '0',
  points: '1',
  of: '1',
  missing: 'missing',
  firing: noTopic,
  fine: noTopic,
  lacking: noTopic,
  enabled: true,
  name: '',
  description: '',
  others: { firing: [], fine: [], lacking: [] },
  kept: {},
}

/** draftOf returns the draft of an alarm on one metric; others have none. */
export function draftOf(alarm: MetricAlarm): Draft | undefined {
  if (!alarm.MetricName) {
    return undefined
  }
  const queue = alarm.Dimensions?.find((d) => d.Name === 'QueueName')?.Value
  return {
    namespace: alarm.Namespace ?? '',
    metric: alarm.MetricName,
    queue: queue ?? '',
    dimensions: (alarm.Dimensions ?? []).map((d) => ({ Name: d.Name ?? '', Value: d.Value ?? '' })),
    statistic: alarm.Statistic ?? alarm.ExtendedStatistic ?? 'Average',
    period: String(alarm.Period ?? 60),
    comparison: alarm.ComparisonOperator ?? blank.comparison,
    threshold: String(alarm.Threshold ?? 0),
    points: String(alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods ?? 1),
    of: String(alarm.EvaluationPeriods ?? 1),
    missing: alarm.TreatMissingData ?? 'missing',
    firing: topicChoice(alarm.AlarmActions?.[0]),
    fine: topicChoice(alarm.OKActions?.[0]),
    lacking: topicChoice(alarm.InsufficientDataActions?.[0]),
    enabled: alarm.ActionsEnabled !== false,
    name: alarm.AlarmName ?? '',
    description: alarm.AlarmDescription ?? '',
    others: {
      firing: alarm.AlarmActions?.slice(1) ?? [],
      fine: alarm.OKActions?.slice(1) ?? [],
      lacking: alarm.InsufficientDataActions?.slice(1) ?? [],
    },
    kept: {
      Unit: alarm.Unit,
      EvaluateLowSampleCountPercentile: alarm.EvaluateLowSampleCountPercentile,
      EvaluationWindow: alarm.EvaluationWindow,
      WarmUpConfiguration: alarm.WarmUpConfiguration,
      ActionConfiguration: alarm.ActionConfiguration,
    },
  }
}

/** isQueues reports whether the draft is about a queue. */
export function isQueues(draft: Draft): boolean {
  return draft.namespace === 'AWS/SQS' || draft.namespace === 'Sluice/SQS'
}

/** dimensionsOf returns the dimensions of the draft's metric. */
export function dimensionsOf(draft: Draft) {
  return isQueues(draft) ? [{ Name: 'QueueName', Value: draft.queue }] : draft.dimensions
}

/** inputOf makes a draft into what the server takes. */
export function inputOf(
  draft: Draft,
  topics: { firing: string; fine: string; lacking: string },
): PutMetricAlarmCommandInput {
  const actions = (topic: string, others: string[]) => (topic ? [topic, ...others] : others)
  return {
    ...draft.kept,
    AlarmName: draft.name,
    AlarmDescription: draft.description || undefined,
    Namespace: draft.namespace,
    MetricName: draft.metric,
    Dimensions: dimensionsOf(draft),
    ...(isExtended(draft.statistic)
      ? { ExtendedStatistic: draft.statistic }
      : { Statistic: draft.statistic as Statistic }),
    Period: Number(draft.period),
    EvaluationPeriods: Number(draft.of),
    DatapointsToAlarm: Number(draft.points),
    Threshold: Number(draft.threshold),
    ComparisonOperator: draft.comparison as ComparisonOperator,
    TreatMissingData: draft.missing,
    ActionsEnabled: draft.enabled,
    AlarmActions: actions(topics.firing, draft.others.firing),
    OKActions: actions(topics.fine, draft.others.fine),
    InsufficientDataActions: actions(topics.lacking, draft.others.lacking),
  }
}

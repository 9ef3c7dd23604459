import type { Metric, MetricDataQuery } from '@aws-sdk/client-cloudwatch'
import { monitoring } from '../aws/monitoring'

export type Statistic = 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount' | 'p50' | 'p90' | 'p99'

export const statistics: Statistic[] = ['Average', 'Minimum', 'Maximum', 'Sum', 'SampleCount', 'p50', 'p90', 'p99']

/** isExtended reports whether CloudWatch has the statistic as an extended one, such as p99 or TM(10%:90%). */
export const isExtended = (statistic: string) => !/^(Average|Minimum|Maximum|Sum|SampleCount)$/.test(statistic)

/** Measure is a metric as people look at it. */
export interface Measure {
  namespace: string
  name: string
  title: string
  /** statistic is the default one. */
  statistic: Statistic
  unit: 'messages' | 'bytes' | 'seconds' | 'receives' | 'groups' | ''
  says: string
}

const sqs = (name: string, title: string, statistic: Statistic, unit: Measure['unit'], says: string): Measure => ({
  namespace: 'AWS/SQS',
  name,
  title,
  statistic,
  unit,
  says,
})

/** queueMeasures are the metrics of queues, the most asked for first. */
export const queueMeasures: Measure[] = [
  sqs('ApproximateNumberOfMessagesVisible', 'Messages available', 'Maximum', 'messages', 'can be received now'),
  sqs('ApproximateAgeOfOldestMessage', 'Age of the oldest message', 'Maximum', 'seconds', 'since it was sent'),
  sqs(
    'ApproximateNumberOfMessagesNotVisible',
    'Messages in flight',
    'Maximum',
    'messages',
    'received, not deleted yet',
  ),
  sqs(
    'ApproximateNumberOfMessagesDelayed',
    'Messages delayed',
    'Maximum',
    'messages',
    'waiting for their delay to end',
  ),
  sqs('NumberOfMessagesSent', 'Messages sent', 'Sum', 'messages', 'added to the queue'),
  sqs('NumberOfMessagesReceived', 'Messages received', 'Sum', 'messages', 'handed to consumers'),
  sqs('NumberOfMessagesDeleted', 'Messages deleted', 'Sum', 'messages', 'done with'),
  sqs('NumberOfEmptyReceives', 'Empty receives', 'Sum', 'receives', 'returned no message'),
  sqs('SentMessageSize', 'Sent message size', 'Average', 'bytes', 'of one message'),
]

const own = (name: string, title: string, says: string): Measure => ({
  ...sqs(name, title, 'Sum', 'messages', says),
  namespace: 'Sluice/SQS',
})

/** moreQueueMeasures are those that AWS does not have. */
export const moreQueueMeasures: Measure[] = [
  own('NumberOfMessagesDeadLettered', 'Messages dead-lettered', 'went to the dead-letter queue'),
  own('NumberOfMessagesExpired', 'Messages expired', 'outlived the retention period'),
  own('NumberOfMessagesMoved', 'Messages moved', 'by a redrive'),
]

const sns = (
  name: string,
  title: string,
  says: string,
  statistic: Statistic = 'Sum',
  unit: Measure['unit'] = 'messages',
) => ({
  ...sqs(name, title, statistic, unit, says),
  namespace: 'AWS/SNS',
})

/** topicMeasures are the metrics of topics. */
export const topicMeasures: Measure[] = [
  sns('NumberOfMessagesPublished', 'Messages published', 'to the topic'),
  sns('NumberOfNotificationsDelivered', 'Notifications delivered', 'to subscriptions'),
  sns('NumberOfNotificationsFailed', 'Notifications failed', 'after the last retry'),
  sns('NumberOfNotificationsFilteredOut', 'Notifications filtered out', 'by filter policies'),
  sns('NumberOfNotificationsRedrivenToDlq', 'Notifications dead-lettered', 'went to a dead-letter queue'),
  sns('PublishSize', 'Published message size', 'of one message', 'Average', 'bytes'),
]

/** Span is a time from when to when. */
export interface Span {
  start: Date
  end: Date
}

/** spans are the times that can be chosen, in hours. */
export const spans = [
  { hours: 1, text: '1 h' },
  { hours: 3, text: '3 h' },
  { hours: 12, text: '12 h' },
  { hours: 24, text: '1 d' },
  { hours: 168, text: '1 w' },
  { hours: 720, text: '30 d' },
]

/** periods are the lengths that points can have, in seconds. */
export const periods = [
  { seconds: 60, text: '1 minute' },
  { seconds: 300, text: '5 minutes' },
  { seconds: 900, text: '15 minutes' },
  { seconds: 3600, text: '1 hour' },
  { seconds: 21_600, text: '6 hours' },
  { seconds: 86_400, text: '1 day' },
]

const day = 24 * 3600_000

/** periodFor returns the shortest period whose points are still kept that far back, and fit a graph. */
export function periodFor({ start, end }: Span, now = Date.now()): number {
  const kept = now - start.getTime() > 63 * day ? 3600 : now - start.getTime() > 15 * day ? 300 : 60
  const seconds = (end.getTime() - start.getTime()) / 1000
  return periods.find((p) => p.seconds >= kept && seconds / p.seconds <= 400)?.seconds ?? 86_400
}

/** lastHours returns the span that ends with the last whole minute. */
export function lastHours(hours: number, now = Date.now()): Span {
  const end = Math.floor(now / 60_000) * 60_000
  return { start: new Date(end - hours * 3600_000), end: new Date(end) }
}

/** Wanted is a line of a graph. */
export interface Wanted {
  title: string
  metric: Metric
  statistic: string
}

export interface Line {
  title: string
  points: { x: Date; y: number }[]
}

/** about returns the metric of one queue or topic. */
export function about(measure: Measure, name: string): Metric {
  return {
    Namespace: measure.namespace,
    MetricName: measure.name,
    Dimensions: [{ Name: measure.namespace.endsWith('SNS') ? 'TopicName' : 'QueueName', Value: name }],
  }
}

/** mostQueries is how many lines one call of GetMetricData may ask for. */
const mostQueries = 500

/** Page is what GetMetricData answers. Times are numbers of seconds. */
interface Page {
  MetricDataResults?: { Id?: string; Timestamps?: number[]; Values?: number[] }[]
  NextToken?: string
}

/** fetchLines asks for the points of all lines in as few calls as it takes. */
export async function fetchLines(wanted: Wanted[], span: Span, period: number, signal?: AbortSignal): Promise<Line[]> {
  const queries: MetricDataQuery[] = wanted.map((w, i) => ({
    Id: `m${i}`,
    MetricStat: { Metric: w.metric, Period: period, Stat: w.statistic },
  }))
  const lines: Line[] = wanted.map((w) => ({ title: w.title, points: [] }))
  for (let first = 0; first < queries.length; first += mostQueries) {
    let token: string | undefined
    do {
      const input = {
        StartTime: span.start.getTime() / 1000,
        EndTime: span.end.getTime() / 1000,
        ScanBy: 'TimestampAscending',
        MetricDataQueries: queries.slice(first, first + mostQueries),
        ...(token && { NextToken: token }),
      }
      const answer = await monitoring<Page>('GetMetricData', input, signal)
      for (const result of answer.MetricDataResults ?? []) {
        const line = lines[Number(result.Id?.slice(1))]
        result.Timestamps?.forEach((x, i) => {
          line?.points.push({ x: new Date(x * 1000), y: result.Values?.[i] ?? 0 })
        })
      }
      token = answer.NextToken
    } while (token)
  }
  return lines
}

/** ownMetrics returns the metrics that programs have sent with PutMetricData. */
export async function ownMetrics(signal: AbortSignal): Promise<Metric[]> {
  const found: Metric[] = []
  let token: string | undefined
  do {
    const input = token ? { NextToken: token } : {}
    const page = await monitoring<{ Metrics?: Metric[]; NextToken?: string }>('ListMetrics', input, signal)
    found.push(...(page.Metrics ?? []).filter((m) => !/^(AWS|Sluice)\//.test(m.Namespace ?? '')))
    token = page.NextToken
  } while (token)
  return found
}

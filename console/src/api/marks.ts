import { type LookupAttribute, LookupEventsCommand } from '@aws-sdk/client-cloudtrail'
import { DescribeAlarmHistoryCommand } from '@aws-sdk/client-cloudwatch'
import { useQuery } from '@tanstack/react-query'
import { cloudtrail } from '../aws/cloudtrail'
import { cloudwatch } from '../aws/cloudwatch'
import { isDenied } from '../aws/failure'
import { object } from '../data/json'
import { isFixed, type Range, spanOf } from '../data/range'
import { useRefresh } from '../frame/preferences'
import { queuesOf } from './alarm'
import { useAlarms } from './alarms'
import { keys } from './keys'

/** Mark is something that happened at a time, drawn in graphs: an alarm that fired or recovered, a deployment, an edit. */
export interface Mark {
  at: number
  text: string
  kind: 'alarm' | 'ok' | 'deployment' | 'edit'
}

/** mostMarks bounds the marks of a graph: the newest are drawn. */
const mostMarks = 20

/** useMarks returns the marks of a time that are about queues, the oldest first. To a user who may not see them there are none. */
export function useMarks(range: Range, queues: string[]): Mark[] {
  const refresh = useRefresh()
  const alarms = useAlarms(undefined, 60_000)
  const names = (alarms.data ?? [])
    .filter((a) => queuesOf(a).some((q) => queues.includes(q)))
    .map((a) => a.AlarmName ?? '')
  const found = useQuery({
    queryKey: [...keys.marks, range, queues, names],
    enabled: alarms.data !== undefined || isDenied(alarms.error),
    refetchInterval: !isFixed(range) && refresh && Math.max(refresh, 30_000),
    retry: false,
    queryFn: async ({ signal }) => {
      const [only, ...others] = queues
      const lists = await Promise.all(
        [
          changesOf(names, range, signal),
          deploymentsIn(range, signal),
          ...(only && others.length === 0 ? [editsOf(only, range, signal)] : []),
        ].map(orNone),
      )
      return lists
        .flat()
        .sort((a, b) => a.at - b.at)
        .slice(-mostMarks)
    },
  })
  return found.data ?? []
}

/** orNone leaves out what a user may not see. */
const orNone = (marks: Promise<Mark[]>) =>
  marks.catch((error: unknown) => {
    if (isDenied(error)) {
      return []
    }
    throw error
  })

/** changesOf returns when alarms fired and recovered: the last hundred changes of the account's alarms are looked at. */
async function changesOf(names: string[], range: Range, signal: AbortSignal): Promise<Mark[]> {
  if (names.length === 0) {
    return []
  }
  const { start, end } = spanOf(range)
  const { AlarmHistoryItems = [] } = await cloudwatch().send(
    new DescribeAlarmHistoryCommand({
      HistoryItemType: 'StateUpdate',
      StartDate: start,
      EndDate: end,
      MaxRecords: 100,
      ...(names.length === 1 && names[0] && { AlarmName: names[0] }),
    }),
    { abortSignal: signal },
  )
  return AlarmHistoryItems.flatMap(({ AlarmName = '', Timestamp, HistorySummary = '' }): Mark[] => {
    const [, to] = /from \w+ to (\w+)/.exec(HistorySummary) ?? []
    if (!Timestamp || !names.includes(AlarmName) || (to !== 'ALARM' && to !== 'OK')) {
      return []
    }
    const fired = to === 'ALARM'
    return [
      { at: Timestamp.getTime(), text: `${AlarmName} ${fired ? 'fired' : 'recovered'}`, kind: fired ? 'alarm' : 'ok' },
    ]
  })
}

/** eventsIn returns the newest events of the trail in a time that have an attribute. */
async function eventsIn(attribute: LookupAttribute, range: Range, signal: AbortSignal) {
  const { start, end } = spanOf(range)
  const { Events = [] } = await cloudtrail().send(
    new LookupEventsCommand({ StartTime: start, EndTime: end, MaxResults: 50, LookupAttributes: [attribute] }),
    { abortSignal: signal },
  )
  return Events.map((e) => ({ ...e, record: object(e.CloudTrailEvent) ?? {} })).filter((e) => !e.record.errorCode)
}

/** deploymentsIn returns what programs have marked, with sluice mark. */
async function deploymentsIn(range: Range, signal: AbortSignal): Promise<Mark[]> {
  const events = await eventsIn({ AttributeKey: 'EventName', AttributeValue: 'PutMark' }, range, signal)
  return events.flatMap(({ EventTime, record }) => {
    const parameters = record.requestParameters as Record<string, unknown> | null
    const text = parameters?.text ?? parameters?.Text
    return EventTime && text ? [{ at: EventTime.getTime(), text: String(text), kind: 'deployment' as const }] : []
  })
}

/** changed are the calls that change how a queue works, in words. */
const changed: Record<string, string> = {
  SetQueueAttributes: 'edited',
  PurgeQueue: 'purged',
  UndoPurge: 'purge undone',
  UndoDelete: 'deletion undone',
  StartMessageMoveTask: 'redriven',
  RedriveMessages: 'redriven',
  DeleteMessages: 'messages deleted',
  PauseMessageGroups: 'message groups paused',
  ResumeMessageGroups: 'message groups resumed',
}

/** editsOf returns when people and programs have changed a queue. */
async function editsOf(queue: string, range: Range, signal: AbortSignal): Promise<Mark[]> {
  const events = await eventsIn({ AttributeKey: 'ResourceName', AttributeValue: queue }, range, signal)
  return events.flatMap(({ EventName = '', EventTime, Username }) => {
    const what = changed[EventName]
    return what && EventTime
      ? [{ at: EventTime.getTime(), text: `${queue} ${what} by ${Username ?? 'another'}`, kind: 'edit' as const }]
      : []
  })
}

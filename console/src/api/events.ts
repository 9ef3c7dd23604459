import { type LookupAttribute, LookupEventsCommand } from '@aws-sdk/client-cloudtrail'
import { useInfiniteQuery } from '@tanstack/react-query'
import { cloudtrail } from '../aws/cloudtrail'

/** Filter selects events. Empty parts match everything. */
export interface Filter {
  user: string
  event: string
  resource: string
  service: string
  key: string
  /** only is changes, reads, refused or all. */
  only: string
  hours: number
}

/** Entry is an event of the trail. */
export interface Entry {
  id: string
  time: number
  name: string
  user: string
  source: string
  resources: string[]
  from: string
  readOnly: boolean
  error: string
  record: Record<string, unknown>
  text: string
}

interface Found {
  entries: Entry[]
  looked: number
  next: string | undefined
}

/** pagesOfLook is how many answers of 50 events one look goes through before it says how far it has come. */
const pagesOfLook = 20

/** attributeOf returns the part of a filter that the server goes by: it takes one. The rest is compared here. */
function attributeOf(f: Filter): LookupAttribute | undefined {
  if (f.resource) {
    return { AttributeKey: 'ResourceName', AttributeValue: f.resource }
  }
  if (f.key) {
    return { AttributeKey: 'AccessKeyId', AttributeValue: f.key }
  }
  if (f.event) {
    return { AttributeKey: 'EventName', AttributeValue: f.event }
  }
  if (f.user) {
    return { AttributeKey: 'Username', AttributeValue: f.user }
  }
  if (f.service) {
    return { AttributeKey: 'EventSource', AttributeValue: `${f.service}.amazonaws.com` }
  }
  if (f.only === 'changes' || f.only === 'reads') {
    return { AttributeKey: 'ReadOnly', AttributeValue: String(f.only === 'reads') }
  }
  return undefined
}

function holds(f: Filter, e: Entry): boolean {
  return (
    (!f.user || e.user === f.user) &&
    (!f.event || e.name === f.event) &&
    (!f.key || (e.record.userIdentity as { accessKeyId?: string } | undefined)?.accessKeyId === f.key) &&
    (!f.service || e.source === f.service) &&
    (f.only !== 'changes' || !e.readOnly) &&
    (f.only !== 'reads' || e.readOnly) &&
    (f.only !== 'refused' || e.error !== '')
  )
}

/** useEvents returns the newest events of a filter, page by page. */
export function useEvents(filter: Filter) {
  return useInfiniteQuery({
    queryKey: ['LookupEvents', filter],
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Found) => page.next,
    queryFn: async ({ pageParam, signal }): Promise<Found> => {
      const attribute = attributeOf(filter)
      const start = new Date(Date.now() - filter.hours * 3600_000)
      const entries: Entry[] = []
      let token = pageParam
      let looked = 0
      for (let i = 0; i < pagesOfLook && entries.length < 50; i++) {
        const answer = await cloudtrail().send(
          new LookupEventsCommand({
            StartTime: start,
            MaxResults: 50,
            NextToken: token,
            ...(attribute && { LookupAttributes: [attribute] }),
          }),
          { abortSignal: signal },
        )
        looked += answer.Events?.length ?? 0
        for (const event of answer.Events ?? []) {
          const text = event.CloudTrailEvent ?? '{}'
          const record = JSON.parse(text) as Record<string, unknown>
          const entry: Entry = {
            id: event.EventId ?? '',
            time: event.EventTime?.getTime() ?? 0,
            name: event.EventName ?? '',
            user: event.Username ?? '',
            source: (event.EventSource ?? '').replace('.amazonaws.com', ''),
            resources: (event.Resources ?? []).map((r) => r.ResourceName ?? ''),
            from: String(record.sourceIPAddress ?? ''),
            readOnly: event.ReadOnly === 'true',
            error: String(record.errorCode ?? ''),
            record,
            text,
          }
          if (holds(filter, entry)) {
            entries.push(entry)
          }
        }
        token = answer.NextToken
        if (!token) {
          break
        }
      }
      return { entries, looked, next: token }
    },
  })
}

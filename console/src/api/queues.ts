import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { isDenied } from '../aws/failure'
import { sluice } from '../aws/sluice'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'
import { type QueuePage, queuePage } from './queuepage'
import type { ListedQueue, Reason } from './queuestate'

/** useQueuePage returns a page of the caller's queues with what they are doing, and how many come before it, again and again. */
export function useQueuePage(input: { Contains?: string; Skip?: number; Max: number }, enabled: boolean) {
  const interval = useRefresh()
  return useQuery({
    queryKey: ['ListQueueStates', input],
    queryFn: async ({ signal, client, queryKey }) => ({
      ...(await queuePage(input, client.getQueryData<QueuePage>(queryKey), signal)),
      Skipped: input.Skip ?? 0,
    }),
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => !isDenied(state.error) && interval,
  })
}

/** most is how many queues the server shows in one answer. */
const most = 200

/** mostByNeed is how many queues are all looked at, again and again, to find the worst where nothing else was asked for. */
export const mostByNeed = 5 * most

/** EveryQueue is what several answers say of queues, or of the first of them by name. */
export interface EveryQueue {
  pages: QueuePage[]
  Queues: ListedQueue[]
  /** Total is how many there are. */
  Total: number
}

/** everyPages is how often so many answers are asked for again at most, in milliseconds. */
const everyPages = (pages: number) => (pages * most > mostByNeed ? 30_000 : pages > 1 ? 10_000 : 0)

interface EveryInput {
  find?: string
  enabled?: boolean
  /** atMost bounds how many queues are asked for. */
  atMost?: number
  /** once says that they are not asked for again and again. */
  once?: boolean
}

/** useEveryQueue returns every queue whose name contains a text, from as many answers as it takes. */
export function useEveryQueue(input: EveryInput) {
  const { find = '', enabled = true, atMost = Number.POSITIVE_INFINITY, once = false } = input
  const interval = useRefresh()
  return useQuery<EveryQueue>({
    queryKey: ['ListQueueStates', 'all', find, atMost],
    enabled,
    refetchInterval: ({ state }) =>
      !once && !isDenied(state.error) && interval && Math.max(interval, everyPages(state.data?.pages.length ?? 0)),
    retry: (n, error) => n < 2 && !isDenied(error),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, client, queryKey }) => {
      const before = client.getQueryData<EveryQueue>(queryKey)?.pages ?? []
      const pages: QueuePage[] = []
      let cursor: string | undefined
      do {
        const page: QueuePage = await queuePage(
          { Max: most, ...(find && { Contains: find }), ...(cursor && { Cursor: cursor }) },
          before[pages.length],
          signal,
        )
        pages.push(page)
        cursor = page.Cursor
      } while (cursor && pages.length * most < atMost)
      return { pages, Queues: pages.flatMap((page) => page.Queues), Total: pages[0]?.Total ?? 0 }
    },
  })
}

export interface ShardState {
  Shard: string
  Node?: string
  Visible: number
  InFlight: number
  Delayed: number
  WaitingReceives: number
  DiskBytes: number
}

export interface MessageGroup {
  MessageGroupId: string
  Paused?: boolean
  State: string
  Depth: number
  DepthIsMore?: boolean
  InFlight: number
  MessageId: string
  SentTimestamp?: number
  ReceiveCount?: number
  InvisibleUntil?: number
}

/** Undo is what the last purge of a queue deleted and can be brought back. */
export interface Undo {
  Messages: number
  PurgedTimestamp: number
  UntilTimestamp: number
  /** Running says that the messages are coming back. */
  Running?: boolean
}

/** QueueDetail is what DescribeQueueState says of one queue. */
export interface QueueDetail {
  QueueArn: string
  Receivable: boolean
  Reasons: Reason[]
  Visible: number
  InFlight: number
  Delayed: number
  Arriving: number
  OldestMessageTimestamp?: number
  NextVisibleTimestamp?: number
  NextDelayedTimestamp?: number
  LastSendTimestamp?: number
  LastReceiveTimestamp?: number
  WaitingReceives: number
  ReadyGroups: number
  BlockedGroups: number
  PausedGroups?: string[]
  Undo?: Undo
  LargestBlockedGroup?: MessageGroup
  DeadLetterQueueArn?: string
  DeadLetters?: number
  DiskBytes: number
  Shards: ShardState[]
}

/** useQueueDetail returns what one queue is doing, again and again. */
export function useQueueDetail(queue: string) {
  const interval = useRefresh()
  return useQuery({
    queryKey: keys.queueState(queue),
    queryFn: ({ signal }) => sluice<QueueDetail>('DescribeQueueState', { QueueUrl: queue }, signal),
    refetchInterval: interval,
  })
}

/** nameOf returns the name of a queue in its ARN or URL. */
export function nameOf(arn: string): string {
  return arn.replace(/^.*[:/]/, '')
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { isDenied } from '../aws/failure'
import { sluice } from '../aws/sluice'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'
import { most, type Order, type QueuePage, queuePage, worst } from './queuepage'
import type { ListedQueue, Reason } from './queuestate'

/** useQueuePage returns a page of the caller's queues with what they are doing, and how many come before it, again and again. */
export function useQueuePage(input: Order & { Contains?: string; Skip?: number; Max: number }, enabled: boolean) {
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

/** mostWhole is how many queues are all asked for, again and again. */
export const mostWhole = 5 * most

/** EveryQueue is what several answers say of queues, or of some of them. */
export interface EveryQueue {
  pages: QueuePage[]
  Queues: ListedQueue[]
  /** Total is how many there are. */
  Total: number
}

/** severalPages is how often more than one answer is asked for again at most, in milliseconds. */
const severalPages = 10_000

/** useEveryQueue returns all queues, from as many answers as it takes, or of more than a thousand the first by name. */
export function useEveryQueue() {
  return useSeveral('by name', async (page) => {
    const pages: QueuePage[] = []
    let cursor: string | undefined
    do {
      const next: QueuePage = await page({ Max: most, ...(cursor && { Cursor: cursor }) }, pages.length)
      pages.push(next)
      cursor = next.Cursor
    } while (cursor && pages.length * most < mostWhole)
    return pages
  })
}

/**
 * useWorstQueues returns all queues or, of more than a thousand, those that need attention most. If there are more than the server
 * orders, they are the first by name.
 */
export function useWorstQueues() {
  return useSeveral('by need', async (page) => {
    const pages: QueuePage[] = []
    let order: Order & { Max: number } = worst
    let cursor: string | undefined
    do {
      try {
        const next: QueuePage = await page({ ...order, ...(cursor && { Cursor: cursor }) }, pages.length)
        pages.push(next)
        cursor = next.Total > mostWhole ? undefined : next.Cursor
      } catch (error) {
        if (!tooMany(error) || !order.OrderBy) {
          throw error
        }
        order = { Max: most }
      }
    } while (pages.length === 0 || cursor)
    return pages
  })
}

type Page = (input: object, index: number) => Promise<QueuePage>

function useSeveral(which: string, ask: (page: Page) => Promise<QueuePage[]>) {
  const interval = useRefresh()
  return useQuery<EveryQueue>({
    queryKey: ['ListQueueStates', 'several', which],
    refetchInterval: ({ state }) =>
      !isDenied(state.error) && interval && Math.max(interval, (state.data?.pages.length ?? 0) > 1 ? severalPages : 0),
    retry: (n, error) => n < 2 && !isDenied(error),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, client, queryKey }) => {
      const before = client.getQueryData<EveryQueue>(queryKey)?.pages ?? []
      const pages = await ask((input, index) => queuePage(input, before[index], signal))
      return { pages, Queues: pages.flatMap((page) => page.Queues), Total: pages[0]?.Total ?? 0 }
    },
  })
}

/** tooMany says that there are more queues than the server orders. */
export function tooMany(error: unknown): boolean {
  return error instanceof Error && error.name === 'TooManyQueues'
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

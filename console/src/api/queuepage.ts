import { sluice } from '../aws/sluice'
import type { Activity, ListedQueue } from './queuestate'

/** Order is in which order the server lists queues, and which of them: without it all, by name. */
export interface Order {
  OrderBy?: string
  Descending?: boolean
  Only?: string
}

/** Sums are of all queues that are listed, on all pages. */
export interface Sums {
  Visible: number
  InFlight: number
  LastMinute: Activity
}

/** QueuePage is what ListQueueStates answers. */
export interface QueuePage {
  Queues: ListedQueue[]
  Cursor?: string
  Total: number
  /** Matches is how many queues Only selects, Sums are of these or of all. They come with an Order. */
  Matches?: number
  Sums?: Sums
  Timestamp: number
  /** Version stands for this page when it is asked for again. */
  Version?: string
}

/** Changes is an answer that may leave out queues which are as in the page that the caller has. */
export interface Changes extends QueuePage {
  Unchanged?: number
}

/** queuePage asks for a page of queues. Of a page that the caller has it asks only for what has changed. */
export async function queuePage(input: object, before: QueuePage | undefined, signal: AbortSignal): Promise<QueuePage> {
  const Since = before?.Version
  return completed(before, await sluice<Changes>('ListQueueStates', { ...input, ...(Since && { Since }) }, signal))
}

/** completed puts the queues into an answer that it leaves out. */
export function completed(before: QueuePage | undefined, { Unchanged = 0, ...page }: Changes): QueuePage {
  const Version = page.Version ?? before?.Version
  if (Unchanged === 0 || !before) {
    return { ...page, ...(Version && { Version }) }
  }
  const changed = new Map(page.Queues.map((q) => [q.QueueName, q]))
  return {
    ...page,
    Queues: before.Queues.map((q) => changed.get(q.QueueName) ?? q),
    ...(Version && { Version }),
  }
}

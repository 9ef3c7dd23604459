import { sessionNow, signIn } from '../aws/session'
import { sluice } from '../aws/sluice'
import { Early } from './early'
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

/** most is how many queues the server shows in one answer. */
export const most = 200

/** worst asks for the queues that need attention most. */
export const worst = { Max: most, OrderBy: 'Attention' }

const early = new Early<Changes>()

/** keyOf says what is asked for, and by whom. */
const keyOf = (input: object) => JSON.stringify([sessionNow().arn, input])

/** askForWorst asks for what the first view shows, before its code is there. */
export function askForWorst() {
  if (signIn.get().status === 'in') {
    early.keep(keyOf(worst), sluice<Changes>('ListQueueStates', worst))
  }
}

/** queuePage asks for a page of queues. Of a page that the caller has it asks only for what has changed. */
export async function queuePage(input: object, before: QueuePage | undefined, signal: AbortSignal): Promise<QueuePage> {
  const Since = before?.Version
  const asked = before ? undefined : early.take(keyOf(input))
  const answer = asked ?? sluice<Changes>('ListQueueStates', { ...input, ...(Since && { Since }) }, signal)
  return completed(before, await answer)
}

/** completed adds the queues that an answer omits. */
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

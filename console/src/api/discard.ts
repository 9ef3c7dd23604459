import { sluice } from '../aws/sluice'
import { type Peeked, peek } from './peek'

/** Deleting is the progress of a deletion. */
export interface Deleting {
  deleted: number
  /** missing are the messages that were not in the queue any more. */
  missing: number
  /** scanned is how many messages were looked at, total how many the queue had. */
  scanned: number
  total: number
}

/** DeletePage is what DeleteMessages answers. */
export interface DeletePage {
  Results: { MessageId: string; Outcome: 'Deleted' | 'NotFound' }[]
  Cursor?: string
  Scanned: number
  Total: number
}

/** idsAtOnce is how many ids one call takes. */
const idsAtOnce = 1000

type Ask = (input: { MessageIds: string[]; Cursor?: string }) => Promise<DeletePage>

/** deleteInSteps deletes messages by calls of ask, each of which looks for a bounded time, and tells how far it has come. */
export async function deleteInSteps(ids: string[], ask: Ask, tell: (now: Deleting) => void): Promise<Deleting> {
  const all: Deleting = { deleted: 0, missing: 0, scanned: 0, total: 0 }
  for (let i = 0; i < ids.length; i += idsAtOnce) {
    const left = new Set(ids.slice(i, i + idsAtOnce))
    let cursor: string | undefined
    do {
      const page = await ask({ MessageIds: [...left], ...(cursor && { Cursor: cursor }) })
      for (const { MessageId, Outcome } of page.Results) {
        left.delete(MessageId)
        all[Outcome === 'Deleted' ? 'deleted' : 'missing']++
      }
      all.scanned += page.Scanned
      all.total = Math.max(all.total, page.Total)
      cursor = page.Cursor
      tell({ ...all })
    } while (cursor)
  }
  return all
}

/** deleteFound deletes messages of a queue by their ids, in any state. */
export function deleteFound(
  queue: string,
  ids: string[],
  signal: AbortSignal,
  tell: (now: Deleting) => void,
): Promise<Deleting> {
  return deleteInSteps(
    ids,
    (input) => sluice<DeletePage>('DeleteMessages', { QueueUrl: queue, ...input }, signal),
    tell,
  )
}

/** foundAtOnce is how many messages one look finds. */
const foundAtOnce = 500

/**
 * deleteMatching deletes the messages of a queue that a filter finds: it looks for some, has them deleted, and goes on behind them. It
 * tells how far it has come. A stop brings nothing back.
 */
export async function deleteMatching(
  queue: string,
  filter: string,
  signal: AbortSignal,
  tell: (now: Deleting) => void,
): Promise<Deleting> {
  const all: Deleting = { deleted: 0, missing: 0, scanned: 0, total: 0 }
  let cursor: string | undefined
  do {
    const input = { QueueUrl: queue, Filter: filter, Max: foundAtOnce, ...(cursor && { Cursor: cursor }) }
    const page: Peeked = await peek(input, signal, false)
    if (page.Messages.length > 0) {
      const ids = page.Messages.map((m) => m.MessageId)
      const gone = await deleteFound(queue, ids, signal, () => {})
      all.deleted += gone.deleted
      all.missing += gone.missing
    }
    all.scanned += page.Scanned
    all.total = Math.max(all.total, page.Total, all.scanned)
    tell({ ...all })
    cursor = page.Cursor
  } while (cursor)
  return all
}

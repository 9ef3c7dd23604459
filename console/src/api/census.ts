import { sluice } from '../aws/sluice'

/** Share is how many of the messages have one value, as CountMessages has it. */
export interface Share {
  /** Value is missing if the messages have none. */
  Value?: string
  /** Cut says that Value is only its beginning, or an object or a list. */
  Cut?: boolean
  /** Unreadable says that the messages cannot be decrypted. */
  Unreadable?: boolean
  /** Filter selects the messages, if any filter can. */
  Filter?: string
  Messages: number
  NewestTimestamp: number
}

/** CountPage is what CountMessages answers. */
export interface CountPage {
  Groups: Share[]
  Cursor?: string
  Scanned: number
  Found: number
  Total: number
}

export interface Group extends Share {
  key: string
}

/** Groups is the count so far. */
export interface Groups {
  groups: Group[]
  /** others are the messages of values beyond mostGroups. */
  others: number
  /** scanned are the messages that were looked at, found those of them that the filter found. */
  scanned: number
  found: number
  total: number
  /** ended says that all messages were looked at. */
  ended: boolean
}

/** mostGroups bounds the groups. */
const mostGroups = 500

const keyOf = ({ Value, Cut, Unreadable }: Share) => JSON.stringify([Value ?? null, Cut ?? false, Unreadable ?? false])

type Ask = (cursor: string | undefined) => Promise<CountPage>

/** countInSteps adds up the answers of ask, each of which looks for a bounded time, and calls tell after each. */
export async function countInSteps(ask: Ask, tell: (groups: Groups) => void) {
  const counted = new Map<string, Group>()
  const now = { others: 0, scanned: 0, found: 0, total: 0 }
  let cursor: string | undefined
  do {
    const page = await ask(cursor)
    for (const share of page.Groups) {
      const key = keyOf(share)
      const group = counted.get(key)
      if (group) {
        group.Messages += share.Messages
        group.NewestTimestamp = Math.max(group.NewestTimestamp, share.NewestTimestamp)
      } else if (counted.size < mostGroups) {
        counted.set(key, { ...share, key })
      } else {
        now.others += share.Messages
      }
    }
    now.scanned += page.Scanned
    now.found += page.Found
    now.total = Math.max(now.total, page.Total, now.scanned)
    cursor = page.Cursor
    const groups = [...counted.values()].map((g) => ({ ...g })).sort((a, b) => b.Messages - a.Messages)
    tell({ ...now, groups, ended: !cursor })
  } while (cursor)
}

interface Counting {
  queue: string
  filter: string
  /** by is the key, as CountMessages takes it: attr.NAME, body.PATH, source, count, day. */
  by: string
}

/** countGroups counts all messages of a queue that a filter finds, by a value of theirs, until it is stopped by the signal. */
export function countGroups({ queue, filter, by }: Counting, signal: AbortSignal, tell: (groups: Groups) => void) {
  const input = { QueueUrl: queue, By: by, ...(filter && { Filter: filter }) }
  return countInSteps(
    (cursor) => sluice<CountPage>('CountMessages', { ...input, ...(cursor && { Cursor: cursor }) }, signal),
    tell,
  )
}

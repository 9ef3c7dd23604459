import { peek } from '../../../api/peek'
import { nameOf } from '../../../api/queues'
import { object } from '../../../parts/json'
import type { Message } from '../../../parts/message'

/** groupings are by what dead letters can be put together. */
export const groupings = [
  { value: 'none', label: 'Not grouped' },
  { value: 'source', label: 'By the queue they came from' },
  { value: 'attribute', label: 'By an attribute' },
  { value: 'body', label: 'By a value in the JSON' },
  { value: 'count', label: 'By receive count' },
  { value: 'day', label: 'By day' },
]

export interface Group {
  key: string
  label: string
  count: number
  newest: number
  /** term selects the messages of the group in a filter; a value that no filter can say has none. */
  term: string | undefined
}

/** Groups are what has been counted so far. */
export interface Groups {
  groups: Group[]
  /** scanned are the messages that were looked at, found those of them that the filter found. */
  scanned: number
  found: number
  total: number
  /** ended says that all messages were looked at. */
  ended: boolean
}

/** mostGroups bounds the groups: further values are counted as one. */
const mostGroups = 500

/** mostTerm is how long the value in a term may be, so that a filter has room for it. */
const mostTerm = 400

/** isGrouped says whether there is something to group by. */
export const isGrouped = (by: string, path: string) =>
  by !== 'none' && ((by !== 'attribute' && by !== 'body') || path !== '')

/** Tally counts messages by a value of theirs. */
export class Tally {
  private readonly counts = new Map<string, Group>()

  private readonly by: string
  private readonly path: string

  constructor(by: string, path: string) {
    this.by = by
    this.path = path
  }

  add(messages: Message[]) {
    for (const m of messages) {
      const key = keyOf(m, this.by, this.path)
      let group = this.counts.get(key)
      if (!group && this.counts.size >= mostGroups) {
        group = this.counts.get(others)
        group ??= { key: others, label: 'other values', count: 0, newest: 0, term: undefined }
      }
      group ??= { key, label: labelOf(key, this.by), count: 0, newest: 0, term: termOf(key, this.by, this.path) }
      group.count++
      group.newest = Math.max(group.newest, m.SentTimestamp ?? 0)
      this.counts.set(group.key, group)
    }
  }

  /** groups returns copies of the groups, the largest first. */
  groups(): Group[] {
    return [...this.counts.values()].map((g) => ({ ...g })).sort((a, b) => b.count - a.count)
  }
}

/** others is the key of all values beyond mostGroups; no message has it. */
const others = '\u0000'

/** countGroups counts all messages that a filter finds, and calls tell with what it knows after each answer. */
export async function countGroups(
  { queue, filter, by, path }: { queue: string; filter: string; by: string; path: string },
  signal: AbortSignal,
  tell: (groups: Groups) => void,
) {
  const tally = new Tally(by, path)
  const now = { scanned: 0, found: 0, total: 0 }
  let cursor: string | undefined
  do {
    const out = await peek(
      { QueueUrl: queue, Max: 500, ...(filter && { Filter: filter }), ...(cursor && { Cursor: cursor }) },
      signal,
      by === 'body',
    )
    tally.add(out.Messages)
    now.scanned += out.Scanned
    now.found += out.Messages.length
    now.total = Math.max(now.total, out.Total, now.scanned)
    cursor = out.Cursor
    tell({ ...now, groups: tally.groups(), ended: !cursor })
  } while (cursor && !signal.aborted)
}

function labelOf(key: string, by: string): string {
  return key === '' ? 'without it' : by === 'source' ? nameOf(key) : key
}

function keyOf(m: Message, by: string, path: string): string {
  switch (by) {
    case 'source':
      return m.DeadLetterQueueSourceArn ?? ''
    case 'attribute': {
      const a = Object.hasOwn(m.MessageAttributes ?? {}, path) ? m.MessageAttributes?.[path] : undefined
      return a?.StringValue ?? a?.BinaryValue ?? ''
    }
    case 'body': {
      let value: unknown = object(m.Body)
      for (const step of path.split('.')) {
        value =
          typeof value === 'object' && value !== null && Object.hasOwn(value, step)
            ? (value as Record<string, unknown>)[step]
            : undefined
      }
      return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
    }
    case 'count':
      return String(m.ReceiveCount ?? '')
    default:
      return m.SentTimestamp === undefined ? '' : new Date(m.SentTimestamp).toISOString().slice(0, 10)
  }
}

/** termOf writes a term of a filter that selects the messages of a group. */
function termOf(key: string, by: string, path: string): string | undefined {
  const quoted = `"${key.replace(/[\\"]/g, '\\$&')}"`
  if (key.length > mostTerm) {
    return undefined
  }
  switch (by) {
    case 'source':
      return key ? `source:${quoted}` : '-source:*'
    case 'attribute':
      // The value of a binary attribute is shown as base64, and a name with other letters takes quotes.
      return /^[\w.-]+$/.test(path) ? (key ? `attr.${path}:${quoted}` : `-attr.${path}:*`) : undefined
    case 'body':
      return !/^[\w.-]+$/.test(path) || /^[[{]/.test(key) || isRounded(key)
        ? undefined
        : key
          ? `body.${path}:${quoted}`
          : `-body.${path}:*`
    case 'count':
      return `count>=${key} count<=${key}`
    default:
      return key && `sent>=${key} sent<${new Date(Date.parse(key) + 86_400_000).toISOString().slice(0, 10)}`
  }
}

/** isRounded says whether a number may be written otherwise in the body: JavaScript has read it. */
const isRounded = (key: string) => /^-?\d/.test(key) && !/^-?(0|[1-9]\d{0,14})$/.test(key) && !Number.isNaN(Number(key))

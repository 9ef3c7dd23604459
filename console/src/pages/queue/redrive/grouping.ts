import { object } from '../../../parts/json'
import type { Message } from '../../../parts/message'
import { nameOf } from '../../../parts/queues'

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
  messages: Message[]
  newest: number
}

/** groupsOf puts the messages together that have the same value, the largest group first. */
export function groupsOf(messages: Message[], by: string, path: string): Group[] {
  if (by === 'none' || ((by === 'attribute' || by === 'body') && path === '')) {
    return []
  }
  const groups = new Map<string, Group>()
  for (const m of messages) {
    const key = keyOf(m, by, path)
    const group = groups.get(key) ?? { key, label: key || 'without it', messages: [], newest: 0 }
    group.messages.push(m)
    group.newest = Math.max(group.newest, m.SentTimestamp ?? 0)
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => b.messages.length - a.messages.length)
}

function keyOf(m: Message, by: string, path: string): string {
  switch (by) {
    case 'source':
      return nameOf(m.DeadLetterQueueSourceArn ?? '')
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

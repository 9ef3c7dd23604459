import type { Message } from '../../../api/message'
import { object } from '../../../data/json'

/** kinds are by what dead letters can be put together. Those that end with a dot need a name behind them. */
export const kinds = [
  { value: 'none', label: 'Not grouped' },
  { value: 'source', label: 'By the queue they came from' },
  { value: 'attr.', label: 'By an attribute' },
  { value: 'body.', label: 'By a value in the JSON' },
  { value: 'count', label: 'By receive count' },
  { value: 'day', label: 'By day' },
]

/** kindOf returns the kind of a key. */
export const kindOf = (key: string) =>
  kinds.find((k) => (k.value.endsWith('.') ? key.startsWith(k.value) : key === k.value))

/** isGrouped reports whether there is something to group by. */
export const isGrouped = (key: string) => key !== 'none' && !key.endsWith('.')

/** telling are names of values that say why a message failed. */
const telling = /error|exception|reason|cause|fail|fault|code|status|kind|type/i

/** deepest is how far values are looked for in a body, most how many keys of one message. */
const deepest = 3
const most = 200

/** suggestKey returns the key that says most about messages: few different values, in most of them. Nothing, if there is none. */
export function suggestKey(messages: Message[]): string | undefined {
  const values = new Map<string, Map<string, number>>()
  for (const m of messages) {
    for (const [key, value] of valuesOf(m).slice(0, most)) {
      const counts = values.get(key) ?? new Map<string, number>()
      counts.set(value, (counts.get(value) ?? 0) + 1)
      values.set(key, counts)
    }
  }
  const scored = [...values].map(([key, counts]) => ({ key, score: scoreOf(key, counts, messages.length) }))
  const best = scored.filter((s) => s.score > 0).sort((a, b) => b.score - a.score)[0]
  return best?.key
}

/** scoreOf is how much a key says: 0, if nothing. */
function scoreOf(key: string, counts: Map<string, number>, messages: number): number {
  const having = [...counts.values()].reduce((n, c) => n + c, 0)
  if (having * 2 < messages || counts.size < 2 || counts.size * 2 > having) {
    return 0
  }
  const name = key.slice(key.lastIndexOf('.') + 1)
  return (telling.test(name) ? 2 : 0) + having / messages + 1 / counts.size
}

/** valuesOf returns the values of a message by their keys. Keys that a filter takes in quotes only are left out. */
function valuesOf(m: Message): [string, string][] {
  const attributes = Object.entries(m.MessageAttributes ?? {}).map(([name, a]): [string, string] => [
    `attr.${name}`,
    a.StringValue ?? '',
  ])
  return [...attributes, ...inside('body', object(m.Body), 0)].filter(([key]) => /^[\w.-]+$/.test(key))
}

function inside(path: string, value: unknown, depth: number): [string, string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth >= deepest) {
    return []
  }
  return Object.entries(value).flatMap(([name, v]): [string, string][] => {
    const key = `${path}.${name}`
    return name.includes('.')
      ? []
      : typeof v === 'string' || typeof v === 'number' || typeof v === 'boolean'
        ? [[key, String(v)]]
        : inside(key, v, depth + 1)
  })
}

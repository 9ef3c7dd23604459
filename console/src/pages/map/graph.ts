import { nameOf } from '../../api/queues'
import type { ListedQueue, QueueState } from '../../api/queuestate'
import { compact, count, plural } from '../../data/format'
import { health, unknown } from '../../data/health'
import { address } from '../../frame/router'

/** Box is an element of the map: a topic, a queue, or the consumers of a queue. */
export interface Box {
  id: string
  kind: 'topic' | 'queue' | 'consumers'
  name: string
  /** note is what to know of it, in a few words. */
  note: string
  href: string
  /** bad says that it needs attention. */
  bad: boolean
}

/** Way is a connection on which messages move from one box to another. */
export interface Way {
  from: string
  to: string
  kind: 'feeds' | 'taken' | 'fails'
  /** rate is how many messages took it in the last minute, as far as that is known. */
  rate: number
  /** bad says that messages are held up or have failed there. */
  bad: boolean
}

/** Island is boxes that messages connect, and no others. */
export interface Island {
  boxes: Box[]
  ways: Way[]
  /** rank is higher the more one of its queues needs attention. */
  rank: number
}

/** Feed is a subscription of a queue to a topic. */
export interface Feed {
  TopicArn?: string | undefined
  Endpoint?: string | undefined
}

/** islandsOf returns what is connected, the worst first, then the largest, then in the order of names. */
export function islandsOf(queues: ListedQueue[], feeds: Feed[]): Island[] {
  const boxes = new Map<string, Box>()
  const ways: Way[] = []
  const ranks = new Map<string, number>()
  for (const q of queues) {
    const how = q.State && health(q.State)
    ranks.set(q.QueueArn, q.Unavailable ? unknown : (how?.rank ?? 0))
    boxes.set(q.QueueArn, {
      id: q.QueueArn,
      kind: 'queue',
      name: q.QueueName,
      note: q.State ? noteOf(q.State) : q.Unavailable ? 'State not known' : '',
      href: address(['queues', q.QueueName]),
      bad: q.Unavailable === true || how?.type === 'warning',
    })
  }
  const fed = new Map(queues.map((q) => [q.QueueArn, q]))
  const known = new Set<string>()
  for (const { TopicArn = '', Endpoint = '' } of feeds) {
    const to = fed.get(Endpoint)
    if (!to || TopicArn === '') {
      continue
    }
    const name = nameOf(TopicArn)
    boxes.set(TopicArn, {
      id: TopicArn,
      kind: 'topic',
      name,
      note: 'Topic',
      href: address(['topics', name]),
      bad: false,
    })
    const pair = `${TopicArn} ${Endpoint}`
    if (!known.has(pair)) {
      known.add(pair)
      ways.push({ from: TopicArn, to: Endpoint, kind: 'feeds', rate: to.State?.LastMinute?.Sent ?? 0, bad: false })
    }
  }
  for (const q of queues) {
    addEnds(q, boxes, ways)
  }
  return divide(boxes, ways, ranks)
}

/** noteOf returns the note on a queue. */
function noteOf(state: QueueState): string {
  const { type, text } = health(state)
  const available = `${compact(state.Visible)} available`
  if (text.startsWith('Has ')) {
    return text // it counts the same messages
  }
  return type === 'warning' || type === 'stopped' ? `${text}, ${available}` : available
}

/** addEnds adds where the messages of a queue go: to its consumers, and to its dead-letter queue. */
function addEnds(q: ListedQueue, boxes: Map<string, Box>, ways: Way[]) {
  const state = q.State
  if (!state) {
    return
  }
  const { LastMinute: minute, DeadLetterQueueArn: dead } = state
  const consumed = state.WaitingReceives > 0 || Boolean(minute && (minute.Received > 0 || minute.EmptyReceives > 0))
  const missed = !consumed && !state.Paused && state.Visible > 0 && state.DeadLetterSources === 0
  if (consumed || missed) {
    const id = `${q.QueueArn}/consumers`
    boxes.set(id, {
      id,
      kind: 'consumers',
      name: consumed ? 'Consumers' : 'No consumer',
      note: consumed ? `${count(minute?.Received ?? 0)} received in a minute` : 'Nothing receives',
      href: address(['queues', q.QueueName, 'consumers']),
      bad: missed,
    })
    ways.push({ from: q.QueueArn, to: id, kind: 'taken', rate: minute?.Received ?? 0, bad: missed })
  }
  if (dead) {
    if (!boxes.has(dead)) {
      const name = nameOf(dead)
      const href = address(['queues', name])
      boxes.set(dead, { id: dead, kind: 'queue', name, note: 'Not in this list', href, bad: false })
    }
    ways.push({
      from: q.QueueArn,
      to: dead,
      kind: 'fails',
      rate: minute?.DeadLettered ?? 0,
      bad: Boolean(state.DeadLetters),
    })
  }
}

/** divide separates boxes that are not connected. */
function divide(boxes: Map<string, Box>, ways: Way[], ranks: Map<string, number>): Island[] {
  const leader = new Map<string, string>()
  const find = (id: string): string => {
    let at = id
    for (let up = leader.get(at); up !== undefined; up = leader.get(at)) {
      at = up
    }
    return at
  }
  for (const { from, to } of ways) {
    const [a, b] = [find(from), find(to)]
    if (a !== b) {
      leader.set(b, a)
    }
  }
  const islands = new Map<string, Island>()
  const islandOf = (id: string) => {
    const first = find(id)
    const island = islands.get(first) ?? { boxes: [], ways: [], rank: 0 }
    islands.set(first, island)
    return island
  }
  for (const box of boxes.values()) {
    const island = islandOf(box.id)
    island.boxes.push(box)
    island.rank = Math.max(island.rank, ranks.get(box.id) ?? 0)
  }
  for (const way of ways) {
    islandOf(way.from).ways.push(way)
  }
  const nameOfFirst = (i: Island) => i.boxes[0]?.name ?? ''
  return [...islands.values()].sort(
    (a, b) => b.rank - a.rank || b.boxes.length - a.boxes.length || (nameOfFirst(a) < nameOfFirst(b) ? -1 : 1),
  )
}

/** widthOf returns how wide a way is drawn: ten times as many messages make it a step wider. */
export function widthOf(rate: number): number {
  return Math.min(12, 1.5 + 2.5 * Math.log10(1 + rate))
}

const verbs = { feeds: 'gets messages of', taken: 'is received by', fails: 'moves failed messages to' } as const

/** linesOf says how a queue is connected, a line for each way. */
export function linesOf(island: Island, queue: Box): { verb: string; box: Box; rate: string; bad: boolean }[] {
  const at = new Map(island.boxes.map((b) => [b.id, b]))
  return island.ways.flatMap((way) => {
    const other = at.get(way.kind === 'feeds' ? way.from : way.to)
    const own = way.kind === 'feeds' ? way.to : way.from
    if (own !== queue.id || !other) {
      return []
    }
    return [
      {
        verb: way.kind === 'taken' && way.bad ? 'has' : verbs[way.kind],
        box: other,
        rate: way.rate > 0 ? `${plural(way.rate, 'message')} in a minute` : '',
        bad: way.bad,
      },
    ]
  })
}

import type { Firing } from '../../api/firing'
import { nameOf } from '../../api/queues'
import type { ListedQueue, QueueState } from '../../api/queuestate'
import { count, duration, plural } from '../../data/format'
import { behind } from '../../data/growth'
import { address } from '../../frame/router'

/** Concern is a queue that needs attention, or an alarm on no queue of the list. */
export interface Concern {
  /** name is of the queue or of the alarm, and href where it is shown. */
  name: string
  href: string
  /** queue is undefined if it is an alarm. */
  queue?: ListedQueue
  type: 'error' | 'warning' | 'stopped'
  /** why says what is wrong, in a sentence or two. */
  why: string
  /** alarms are the names of those about the queue that fire. */
  alarms: string[]
  /** action is what to do next. Without a href it is to resume delivery. */
  action: { text: string; href?: string }
}

/** Ranked is a concern with how bad it is, and how many messages it is about. */
type Ranked = Concern & { rank: number; many: number }

/** firingRank is added where an alarm fires: a person has said that this must not be. */
const firingRank = 10

/** concernsOf returns what needs attention, the worst first: what is in alarm, then by the state, then by how many messages. */
export function concernsOf(queues: ListedQueue[], firing: Firing[], now: number): Concern[] {
  const sources = sourcesOf(queues)
  const shown = new Set(queues.filter((q) => q.State).map((q) => q.QueueArn))
  const list = queues.flatMap((queue): Ranked[] => {
    const alarms = firing.filter((a) => a.queues.includes(queue.QueueName))
    const [first] = alarms
    const found = withAlarm(findingOf({ queue, sources, shown, now }), first)
    if (!found) {
      return []
    }
    const { rank, many = 0, tab, action, ...rest } = found
    const href = address(['queues', queue.QueueName])
    const next = tab === undefined ? action : { ...action, href: address(['queues', queue.QueueName, tab]) }
    const names = alarms.map((a) => a.name)
    return [
      {
        ...rest,
        name: queue.QueueName,
        href,
        queue,
        many,
        action: next,
        alarms: names,
        rank: rank + (first ? firingRank : 0),
      },
    ]
  })
  const names = new Set(queues.map((q) => q.QueueName))
  const others = firing.filter((a) => !a.queues.some((name) => names.has(name)))
  const alone = others.map((a) => ({
    ...inAlarm(a),
    name: a.name,
    href: address(['alarms', a.name]),
    alarms: [],
    rank: firingRank,
    many: 0,
  }))
  return [...list, ...alone].sort((a, b) => b.rank - a.rank || b.many - a.many || (a.name < b.name ? -1 : 1))
}

/** Source is a queue with a dead-letter queue, and how many messages it has moved there since the server started. */
interface Source {
  name: string
  failed: number
}

/** sourcesOf returns the queues that have each queue as their dead-letter queue, by its ARN, those first that failed most. */
function sourcesOf(queues: ListedQueue[]): Map<string, Source[]> {
  const sources = new Map<string, Source[]>()
  for (const { QueueName: name, State } of queues) {
    const to = State?.DeadLetterQueueArn
    if (to) {
      sources.set(to, [...(sources.get(to) ?? []), { name, failed: State.Totals.DeadLettered }])
    }
  }
  for (const list of sources.values()) {
    list.sort((a, b) => b.failed - a.failed || (a.name < b.name ? -1 : 1))
  }
  return sources
}

/** whereFailed names the queues in which so many messages failed: only those with failures, if these account for all. */
function whereFailed(sources: Source[], messages: number): string {
  const known = sources.reduce((n, s) => n + s.failed, 0) >= messages
  const [first, ...more] = sources.filter((s) => !known || s.failed > 0)
  return first ? ` in ${first.name}${more.length > 0 ? ` and ${plural(more.length, 'other queue')}` : ''}` : ''
}

/** Finding is what is wrong with a queue; tab is the part of its page that the action opens. */
interface Finding extends Pick<Concern, 'type' | 'why' | 'action'> {
  rank: number
  many?: number
  tab?: string
}

function inAlarm(alarm: Firing): Finding {
  const action = { text: 'See alarm', href: address(['alarms', alarm.name]) }
  return { type: 'error', why: `In alarm: ${alarm.condition}.`, action, rank: 0 }
}

/** withAlarm adds to what is wrong with a queue what the first of its alarms says. */
function withAlarm(found: Finding | undefined, alarm: Firing | undefined): Finding | undefined {
  if (!alarm) {
    return found
  }
  const fires = inAlarm(alarm)
  return found ? { ...found, why: `${found.why} ${fires.why}` } : fires
}

interface Asked {
  queue: ListedQueue
  sources: Map<string, Source[]>
  /** shown are the ARNs of the queues whose states are known. */
  shown: ReadonlySet<string>
  now: number
}

/** Seen is a queue whose state is known, with what follows from it. */
interface Seen extends Asked {
  state: QueueState
  /** waiting is how many messages are in the queue and not delayed, old how old the oldest message is. */
  waiting: number
  old: number
}

/** findingOf says what is wrong with a queue, if anything is: the first that holds. */
function findingOf(asked: Asked): Finding | undefined {
  const { State: state, Unavailable } = asked.queue
  if (!state) {
    const action = { text: 'See cluster', href: address(['cluster']) }
    const why = 'The state is unknown: a shard does not answer.'
    return Unavailable ? { type: 'error', why, action, rank: 7 } : undefined
  }
  const at = state.OldestMessageTimestamp
  const seen = { ...asked, state, waiting: state.Visible + state.InFlight, old: at === undefined ? 0 : asked.now - at }
  const failures = hasFailures(seen)
  const found = firstOf(
    seen,
    failures ? [paused, unconsumed, full, slow] : [paused, holdsFailures, unconsumed, full, slow],
  )
  if (!failures || !found) {
    return failures ?? found
  }
  const [worst, other] = found.rank > failures.rank ? [found, failures] : [failures, found]
  return { ...worst, why: `${worst.why} ${other.why}` }
}

function firstOf(seen: Seen, checks: ((q: Seen) => Finding | undefined)[]): Finding | undefined {
  for (const check of checks) {
    const found = check(seen)
    if (found) {
      return found
    }
  }
  return undefined
}

/** age writes the age of a message: below a second it is unknown, because clocks differ. */
const age = (ms: number) => duration(Math.max(1000, ms))

const lie = ({ waiting, old }: Seen) =>
  `${plural(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}, the oldest for ${age(old)}.`

function paused(q: Seen): Finding | undefined {
  const why = `Delivery is paused. ${q.waiting > 0 ? lie(q) : 'No messages wait.'}`
  return q.state.Paused
    ? { type: 'stopped', why, action: { text: 'Resume delivery' }, rank: 3, many: q.waiting }
    : undefined
}

/** holdsFailures is of a dead-letter queue. */
function holdsFailures(q: Seen): Finding | undefined {
  if (q.state.DeadLetterSources === 0 || q.waiting === 0) {
    return undefined
  }
  const where = whereFailed(q.sources.get(q.queue.QueueArn) ?? [], q.waiting)
  const why = `${plural(q.waiting, 'message')} failed${where}. The oldest is ${age(q.old)} old.`
  return { type: 'warning', why, action: { text: 'Redrive' }, tab: 'redrive', rank: 6, many: q.waiting }
}

/**
 * hasFailures is of a queue whose dead-letter queue is not in the list, or is not known. If several queues share it, it is of the
 * first of them.
 */
function hasFailures(q: Seen): Finding | undefined {
  const { DeadLetters: n = 0, DeadLetterQueueArn = '' } = q.state
  const sources = q.sources.get(DeadLetterQueueArn) ?? []
  if (n === 0 || q.shown.has(DeadLetterQueueArn) || sources[0]?.name !== q.queue.QueueName) {
    return undefined
  }
  const letters = nameOf(DeadLetterQueueArn)
  const where = sources.length > 1 ? whereFailed(sources, n) : ''
  const why = `${plural(n, 'message')} failed${where} and moved to ${letters}.`
  const action = { text: 'Redrive', href: address(['queues', letters, 'redrive']) }
  return { type: 'warning', why, action, rank: 6, many: n }
}

function unconsumed(q: Seen): Finding | undefined {
  const { Visible, WaitingReceives, LastReceiveTimestamp: last } = q.state
  if (Visible === 0 || WaitingReceives > 0 || q.now - (last ?? 0) < 60_000) {
    return undefined
  }
  const since = last ? `for ${duration(q.now - last)}` : 'since the server started'
  const why = `No consumer has received ${since}. ${lie(q)}`
  return { type: 'warning', why, action: consumers, tab: 'consumers', rank: 5, many: q.waiting }
}

/** full is of a queue that hands out nothing because too many messages are in flight. */
function full(q: Seen): Finding | undefined {
  const reason = q.state.Reasons.find((r) => r.Code === 'TooManyInFlight')
  return reason && { type: 'warning', why: reason.Text, action: consumers, tab: 'consumers', rank: 4, many: q.waiting }
}

const consumers = { text: 'See consumers' }

function slow(q: Seen): Finding | undefined {
  const by = behind(q.state, q.now)
  if (by === undefined) {
    return undefined
  }
  const how = by > 0 ? `Fell behind by ${count(by)} in the last minute.` : 'Consumers are behind.'
  return { type: 'warning', why: `${how} ${lie(q)}`, action: consumers, tab: 'consumers', rank: 2, many: q.waiting }
}

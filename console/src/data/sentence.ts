import { nameOf, type QueueDetail } from '../api/queues'
import type { Trend } from './flow'
import { ago, duration, perMinute, plural } from './format'

export interface Sentence {
  type: 'success' | 'info' | 'warning' | 'error'
  text: string
  /** advice is a suggestion, if there is one. */
  advice: string[]
  /** tabs are the parts of the queue's page where something can be done about it. */
  tabs: ('browse' | 'redrive' | 'consumers')[]
  /** failures are messages that this queue has moved to its dead-letter queue: they wait there, however well this one is. */
  failures?: { text: string; queue: string }
}

/** Known is what the sentence takes beside the state of the queue, as far as it is known. */
export interface Known {
  /** sources are the queues whose dead letters come here. */
  sources?: { names: string[]; more: boolean } | undefined
  /** trend is how fast messages come and go. */
  trend?: Trend | undefined
  /** retention is for how long messages are kept, in milliseconds. */
  retention?: number | undefined
}

/** sentence says how a queue is, in one sentence, as a colleague would who has looked at all its numbers. */
export function sentence(q: QueueDetail, now: number, known: Known = {}): Sentence {
  const all = q.Visible + q.InFlight + q.Delayed
  const advice: string[] = []
  const old = q.OldestMessageTimestamp === undefined ? 0 : now - q.OldestMessageTimestamp
  const listening = q.WaitingReceives > 0 || now - (q.LastReceiveTimestamp ?? 0) < 60_000
  const has = (code: string) => q.Reasons.some((r) => r.Code === code)
  const failures = failuresOf(q)
  const say = (type: Sentence['type'], text: string, tabs: Sentence['tabs'] = []) => ({
    ...{ type, text, advice, tabs },
    ...(failures && { failures }),
  })
  if (all === 0) {
    const sent = q.LastSendTimestamp ? ` The last message was sent ${ago(q.LastSendTimestamp, now)}.` : ''
    return say('success', `The queue is empty.${sent}`)
  }
  const lies = `${all === 1 ? 'There is' : 'There are'} ${plural(all, 'message')}, the oldest ${duration(old)} old`
  if (has('Paused')) {
    return say('info', `Delivery is paused. ${lies}.`)
  }
  const sources = known.sources?.names ?? []
  if (sources.length > 0) {
    const where = failedIn(sources, known.sources?.more === true)
    advice.push('Browse them for the cause, then redrive them.')
    return say('warning', `${plural(all, 'message')} failed in ${where}. The oldest is ${duration(old)} old.`, [
      'browse',
      'redrive',
    ])
  }
  if (q.Visible > 0 && !listening) {
    const last = q.LastReceiveTimestamp ? `for ${duration(now - q.LastReceiveTimestamp)}` : 'since the server started'
    advice.push('Check that a consumer runs and polls this queue in this region.')
    return say('warning', `No consumer has received ${last}. ${lies}.`, ['browse', 'consumers'])
  }
  // Consumers that work on all messages leave none to receive, and are well.
  if (!q.Receivable && !(listening && q.Reasons.every((r) => r.Code === 'AllInFlight'))) {
    const when =
      q.NextVisibleTimestamp && !has('AllInFlight')
        ? ` The next becomes visible ${ago(q.NextVisibleTimestamp, now)}.`
        : ''
    return say('info', `Nothing can be received at the moment: ${reasons(q)}.${when}`)
  }
  if (q.PausedGroups?.length) {
    advice.push(`Nothing is received from ${plural(q.PausedGroups.length, 'paused message group')}.`)
  }
  const moving = known.trend && course(q, known.trend, old, known.retention)
  if (moving?.behind) {
    advice.push('More consumers, or receives of ten messages at a time, would catch up.')
    return say('warning', `${moving.text} ${lies}.`, ['consumers'])
  }
  if (moving) {
    return say('success', `${moving.text} ${lies}.`)
  }
  if (old > 3_600_000) {
    advice.push('More consumers, or receives of ten messages at a time, would catch up.')
    return say('warning', `Consumers are behind: ${lies.charAt(0).toLowerCase()}${lies.slice(1)}.`, ['consumers'])
  }
  return say('success', `Keeping up. ${lies}.`)
}

function failuresOf(q: QueueDetail): Sentence['failures'] {
  const queue = nameOf(q.DeadLetterQueueArn ?? '')
  return q.DeadLetters
    ? { text: `${plural(q.DeadLetters, 'message')} failed and moved to ${queue}.`, queue }
    : undefined
}

/** course describes where a queue is going, or nothing if as many messages come as go, or less than a minute's work waits. */
function course(q: QueueDetail, { incoming, outgoing }: Trend, old: number, retention: number | undefined) {
  const grows = incoming - outgoing
  const least = Math.max(1, 0.05 * Math.max(incoming, outgoing))
  if (Math.abs(grows) < least || q.Visible <= Math.max(incoming, outgoing)) {
    return undefined
  }
  const rates = `${perMinute(incoming)} in, ${perMinute(outgoing)} out`
  if (grows < 0) {
    const left = about((q.Visible / -grows) * 60_000)
    return { behind: false, text: `Catching up (${rates}): at this rate empty in about ${left}.` }
  }
  // Consumers take a minute's messages in incoming/outgoing minutes, so the oldest one ages by the rest of each minute.
  const aging = 1 - outgoing / incoming
  const reached = retention !== undefined ? about((retention - old) / aging) : undefined
  const then = reached && `: at this rate the retention period is reached in about ${reached}`
  return { behind: true, text: `Falling behind by ${perMinute(grows)} a minute (${rates})${then ?? ''}.` }
}

/** about writes a time to come, in whole minutes: a rate does not say more. */
const about = (ms: number) => duration(Math.max(1, Math.round(ms / 60_000)) * 60_000)

function failedIn(names: string[], more: boolean): string {
  const [first = '', second] = names
  if (names.length > 2 || more) {
    return `${first} and other queues`
  }
  return second ? `${first} and ${second}` : first
}

function reasons(q: QueueDetail): string {
  return q.Reasons.map((r) => r.Text.replace(/\.$/, '')).join('; ') || 'all messages are in flight or delayed'
}

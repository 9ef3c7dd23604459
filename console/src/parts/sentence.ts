import { ago, duration, plural } from './format'
import { nameOf, type QueueDetail } from './queues'

export interface Sentence {
  type: 'success' | 'info' | 'warning' | 'error'
  text: string
  /** advice is what would help, if anything. */
  advice: string[]
}

/** sentence says how a queue is, in one sentence, as a colleague would who has looked at all its numbers. */
export function sentence(q: QueueDetail, now: number): Sentence {
  const all = q.Visible + q.InFlight + q.Delayed
  const advice: string[] = []
  const old = q.OldestMessageTimestamp === undefined ? 0 : now - q.OldestMessageTimestamp
  const listening = q.WaitingReceives > 0 || now - (q.LastReceiveTimestamp ?? 0) < 60_000
  const has = (code: string) => q.Reasons.some((r) => r.Code === code)
  if (q.DeadLetters) {
    advice.push(
      `${plural(q.DeadLetters, 'message')} could not be processed and lie in ${nameOf(q.DeadLetterQueueArn ?? '')}.`,
    )
  }
  if (all === 0) {
    const sent = q.LastSendTimestamp ? ` The last message was sent ${ago(q.LastSendTimestamp, now)}.` : ''
    return {
      type: q.DeadLetters ? 'warning' : 'success',
      text: `The queue is empty: exactly no messages.${sent}`,
      advice,
    }
  }
  const lies = `${plural(all, 'message')}, the oldest ${duration(old)} old`
  if (has('Paused')) {
    return { type: 'info', text: `Delivery is paused. There are ${lies}.`, advice }
  }
  if (q.Visible > 0 && !listening) {
    const last = q.LastReceiveTimestamp
      ? `for ${duration(now - q.LastReceiveTimestamp)}`
      : 'since the server was started'
    advice.push('See that a consumer runs, and that it polls this queue in this region.')
    return { type: 'warning', text: `Nobody has received from this queue ${last}. There are ${lies}.`, advice }
  }
  if (!q.Receivable) {
    const when = q.NextVisibleTimestamp ? ` The next becomes visible ${ago(q.NextVisibleTimestamp, now)}.` : ''
    return { type: 'info', text: `Nothing can be received at the moment: ${reasons(q)}.${when}`, advice }
  }
  if (old > 3_600_000) {
    advice.push('More consumers, or receives of ten messages at a time, would catch up.')
    return { type: 'warning', text: `Consumers are behind: there are ${lies}.`, advice }
  }
  return {
    type: q.DeadLetters ? 'warning' : 'success',
    text: `Messages come and are taken. There are ${lies}.`,
    advice,
  }
}

function reasons(q: QueueDetail): string {
  return q.Reasons.map((r) => r.Text.replace(/\.$/, '')).join('; ') || 'all messages are in flight or delayed'
}

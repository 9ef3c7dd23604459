import type { ListedQueue, QueueState } from '../api/queuestate'
import { plural } from './format'
import { behind } from './growth'

/** Health is what a person should know of a queue, in a few words. */
export interface Health {
  type: 'success' | 'warning' | 'stopped' | 'pending' | 'empty'
  text: string
  /** rank is higher the more the queue needs attention. */
  rank: number
  /** many is how many messages it is about. */
  many: number
}

/** unknown is the rank of a queue whose state is not known now, unseen that of one whose state the caller may not see. */
export const unknown = 8
const unseen = -1

/** health says how a queue is. */
export function health(state: QueueState): Health {
  const waiting = state.Visible + state.InFlight
  const consumed = state.WaitingReceives > 0 || (state.LastReceiveTimestamp ?? 0) > Date.now() - 60_000
  if (state.Paused) {
    return { type: 'stopped', text: 'Paused', rank: 4, many: waiting }
  }
  if (state.DeadLetters) {
    return { type: 'warning', text: plural(state.DeadLetters, 'dead letter'), rank: 7, many: state.DeadLetters }
  }
  if (state.DeadLetterSources > 0 && waiting > 0) {
    return { type: 'warning', text: `Has ${plural(waiting, 'dead letter')}`, rank: 6, many: waiting }
  }
  if (state.Visible > 0 && !consumed) {
    return { type: 'warning', text: 'No consumer', rank: 5, many: waiting }
  }
  if (behind(state, Date.now()) !== undefined) {
    return { type: 'warning', text: 'Falling behind', rank: 3, many: waiting }
  }
  if (state.Visible > 0 && !state.Receivable) {
    return { type: 'pending', text: 'Waiting', rank: 2, many: waiting }
  }
  if (waiting + state.Delayed === 0) {
    return { type: 'empty', text: 'Empty', rank: 0, many: 0 }
  }
  return { type: 'success', text: 'Working', rank: 1, many: waiting }
}

/** worstFirst orders queues by how much they need attention, then by how many messages that is about. */
export function worstFirst(a: ListedQueue, b: ListedQueue): number {
  const [x, y] = [need(a), need(b)]
  return y.rank - x.rank || y.many - x.many
}

function need(q: ListedQueue): Pick<Health, 'rank' | 'many'> {
  return q.State ? health(q.State) : { rank: q.Unavailable ? unknown : unseen, many: 0 }
}

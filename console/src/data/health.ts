import type { Condition, QueueState } from '../api/queuestate'
import { plural } from './format'

/** Health is the state of a queue for people, in a few words. */
export interface Health {
  type: 'success' | 'warning' | 'stopped' | 'pending' | 'empty'
  text: string
  /** rank is higher the more the queue needs attention. */
  rank: number
}

/** unknown is the rank of a queue whose state is not known now. */
export const unknown = 8

const healths: Record<Condition, Health> = {
  DeadLetters: { type: 'warning', text: 'Dead letters', rank: 7 },
  HoldsDeadLetters: { type: 'warning', text: 'Holds dead letters', rank: 6 },
  NoConsumer: { type: 'warning', text: 'No consumer', rank: 5 },
  Paused: { type: 'stopped', text: 'Paused', rank: 4 },
  FallingBehind: { type: 'warning', text: 'Falling behind', rank: 3 },
  Waiting: { type: 'pending', text: 'Waiting', rank: 2 },
  Working: { type: 'success', text: 'Working', rank: 1 },
  Empty: { type: 'empty', text: 'Empty', rank: 0 },
}

/** health describes the state of a queue. The server decides it, and orders queues by it. */
export function health(state: QueueState): Health {
  const how = healths[state.Condition]
  switch (state.Condition) {
    case 'DeadLetters':
      return { ...how, text: plural(state.DeadLetters ?? 0, 'dead letter') }
    case 'HoldsDeadLetters':
      return { ...how, text: `Has ${plural(state.Visible + state.InFlight, 'dead letter')}` }
    default:
      return how
  }
}

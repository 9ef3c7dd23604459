import type { Activity, ListedQueue, QueueState } from '../api/queuestate'

// Queues for tests.

/** nothing has the counters of a queue that no program uses. */
export const nothing: Activity = {
  Sent: 0,
  Received: 0,
  EmptyReceives: 0,
  Deleted: 0,
  Expired: 0,
  DeadLettered: 0,
  Moved: 0,
}

/** stateWith is the state of an empty queue, but for some of it. */
export function stateWith(some: Partial<QueueState>): QueueState {
  return {
    CreatedTimestamp: 0,
    Encryption: 'Disabled',
    ContentBasedDeduplication: false,
    Visible: 0,
    InFlight: 0,
    Delayed: 0,
    Arriving: 0,
    WaitingReceives: 0,
    Receivable: true,
    Paused: false,
    Condition: 'Empty',
    Reasons: [],
    DeadLetterSources: 0,
    Totals: nothing,
    ...some,
  }
}

/** queueWith is a standard queue of a list, but for some of it. */
export function queueWith(QueueName: string, some: Partial<ListedQueue>): ListedQueue {
  return { QueueName, QueueUrl: '', QueueArn: '', Fifo: false, ...some }
}

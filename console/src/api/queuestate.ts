/** Reason explains why nothing is received, for programs and people. */
export interface Reason {
  Code: string
  Text: string
}

export interface Activity {
  Sent: number
  Received: number
  EmptyReceives: number
  Deleted: number
  Expired: number
  DeadLettered: number
  Moved: number
}

/** Condition is how a queue is; of several that apply, it is the one that needs attention most. */
export type Condition =
  | 'DeadLetters'
  | 'HoldsDeadLetters'
  | 'NoConsumer'
  | 'Paused'
  | 'FallingBehind'
  | 'Waiting'
  | 'Working'
  | 'Empty'

/** QueueState is what a list shows of a queue. */
export interface QueueState {
  CreatedTimestamp: number
  Encryption: string
  ContentBasedDeduplication: boolean
  Visible: number
  InFlight: number
  Delayed: number
  Arriving: number
  OldestMessageTimestamp?: number
  LastSendTimestamp?: number
  LastReceiveTimestamp?: number
  WaitingReceives: number
  Receivable: boolean
  Paused: boolean
  /** Condition says in a word how the queue is: see Condition. */
  Condition: Condition
  Reasons: Reason[]
  DeadLetterQueueArn?: string
  DeadLetters?: number
  DeadLetterSources: number
  LastMinute?: Activity
  Totals: Activity
}

/** Counted has SQS's own counts of a queue. */
export type Counted = Pick<
  QueueState,
  | 'Visible'
  | 'InFlight'
  | 'Delayed'
  | 'CreatedTimestamp'
  | 'Encryption'
  | 'ContentBasedDeduplication'
  | 'DeadLetterQueueArn'
>

export interface ListedQueue {
  QueueName: string
  QueueUrl: string
  QueueArn: string
  Fifo: boolean
  /** State is absent if the caller may not see it. */
  State?: QueueState
  /** Counted stands for it where the caller may ask for the queue's attributes. */
  Counted?: Counted
  Unavailable?: boolean
}

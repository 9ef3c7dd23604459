import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedQueue, QueueState } from '../api/queues'
import { health, worstFirst } from './health'

const nothing = { Sent: 0, Received: 0, EmptyReceives: 0, Deleted: 0, Expired: 0, DeadLettered: 0, Moved: 0 }

function state(some: Partial<QueueState>): QueueState {
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
    Reasons: [],
    DeadLetterSources: 0,
    Totals: nothing,
    ...some,
  }
}

function queue(QueueName: string, some: Partial<ListedQueue>): ListedQueue {
  return { QueueName, QueueUrl: '', QueueArn: '', Fifo: false, ...some }
}

test('the queues that need attention come first, those with more messages before the others', () => {
  const list = [
    queue('unseen', {}),
    queue('empty', { State: state({}) }),
    queue('working', { State: state({ Visible: 9000, WaitingReceives: 1 }) }),
    queue('paused', { State: state({ Visible: 2, Paused: true }) }),
    queue('few-unconsumed', { State: state({ Visible: 1 }) }),
    queue('unconsumed', { State: state({ Visible: 5 }) }),
    queue('dead', { State: state({ Visible: 3, DeadLetterSources: 1 }) }),
    queue('source', { State: state({ DeadLetters: 3 }) }),
    queue('unavailable', { Unavailable: true }),
  ]
  assert.deepEqual(
    list.toSorted(worstFirst).map((q) => q.QueueName),
    ['unavailable', 'source', 'dead', 'unconsumed', 'few-unconsumed', 'paused', 'working', 'empty', 'unseen'],
  )
})

test('a queue in words', () => {
  assert.equal(health(state({ DeadLetters: 1 })).text, '1 dead letter')
  assert.equal(health(state({ Visible: 2, InFlight: 1, DeadLetterSources: 2 })).text, 'Has 3 dead letters')
  assert.equal(health(state({ Visible: 2, LastReceiveTimestamp: Date.now() })).text, 'Working')
  assert.equal(health(state({ Delayed: 1 })).text, 'Working')
  assert.equal(health(state({})).text, 'Empty')
})

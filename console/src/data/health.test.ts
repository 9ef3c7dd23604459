import assert from 'node:assert/strict'
import { test } from 'node:test'
import { health, worstFirst } from './health'
import { nothing, queueWith as queue, stateWith as state } from './samples'

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
  const late = { Visible: 2, LastReceiveTimestamp: Date.now(), OldestMessageTimestamp: Date.now() - 360_000 }
  assert.equal(health(state(late)).text, 'Working')
  assert.equal(health(state({ ...late, LastMinute: { ...nothing, Sent: 9 } })).text, 'Falling behind')
  assert.equal(health(state({ Delayed: 1 })).text, 'Working')
  assert.equal(health(state({})).text, 'Empty')
})

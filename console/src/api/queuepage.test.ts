import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueWith, stateWith } from '../data/samples'
import { completed } from './queuepage'

const before = {
  Queues: [queueWith('a', {}), queueWith('b', {}), queueWith('c', {})],
  Total: 3,
  Timestamp: 1,
  Version: 'v1',
}

test('queues that an answer leaves out are as before, and in their places', () => {
  const b = queueWith('b', { State: stateWith({ Visible: 1 }) })
  const page = completed(before, { Queues: [b], Unchanged: 2, Total: 3, Timestamp: 2, Version: 'v2' })
  assert.deepEqual(page, { Queues: [before.Queues[0], b, before.Queues[2]], Total: 3, Timestamp: 2, Version: 'v2' })
})

test('an answer without a version is of the version before', () => {
  const page = completed(before, { Queues: [], Unchanged: 3, Total: 3, Timestamp: 2 })
  assert.deepEqual(page, { ...before, Timestamp: 2 })
})

test('an answer that leaves out nothing takes the place of the page before', () => {
  const list = [queueWith('d', {})]
  const page = completed(before, { Queues: list, Total: 1, Timestamp: 2, Version: 'v2' })
  assert.deepEqual(page, { Queues: list, Total: 1, Timestamp: 2, Version: 'v2' })
  assert.deepEqual(completed(undefined, { Queues: list, Total: 1, Timestamp: 2 }), {
    Queues: list,
    Total: 1,
    Timestamp: 2,
  })
})

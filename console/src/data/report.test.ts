import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report } from './report'

test('a report says how the queue is, and where', () => {
  const counted = { Visible: 1200, InFlight: 0, Delayed: 0, DeadLetters: 3 }
  assert.equal(
    report('orders', ['No consumer.', '3 messages failed.'], counted, 'http://s/console/#/queues/orders'),
    'orders: No consumer. 3 messages failed.\n1,200 available, 0 in flight, 3 dead letters\nhttp://s/console/#/queues/orders',
  )
})

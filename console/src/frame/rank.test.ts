import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rankedNames } from './rank'

const order = (text: string, ...names: string[]) => rankedNames(names, text)

test('a beginning is better than a part, and a part than letters with gaps', () => {
  assert.deepEqual(order('ord', 'olive-road', 'reorder', 'orders', 'payments'), ['orders', 'reorder', 'olive-road'])
  assert.deepEqual(order('ordful', 'payments', 'order-fulfilment'), ['order-fulfilment'])
})

test('a queue stands before its dead-letter queue', () => {
  assert.deepEqual(order('orders', 'orders-dlq', 'orders'), ['orders', 'orders-dlq'])
})

test('without a text all stay in their order', () => {
  assert.deepEqual(order('', 'b', 'a'), ['b', 'a'])
})

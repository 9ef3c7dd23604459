import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  amount,
  attributesOf,
  check,
  creation,
  deadLetterName,
  difference,
  type Form,
  formOf,
  fresh,
  times,
} from './form'

const form = (some: Partial<Form>): Form => ({ ...fresh(), name: 'orders', ...some })
const wrongFields = (some: Partial<Form>) => Object.keys(check(form(some)))

test('a fresh form with a name is right', () => {
  assert.deepEqual(check(form({})), {})
  assert.deepEqual(wrongFields({ name: ' ' }), ['name'])
})

test('names end in .fifo where the queue is one', () => {
  assert.equal(creation(form({ fifo: true }), '').name, 'orders.fifo')
  assert.deepEqual(wrongFields({ name: 'orders.fifo' }), ['name'])
  assert.deepEqual(wrongFields({ name: 'or ders' }), ['name'])
  assert.deepEqual(wrongFields({ name: 'x'.repeat(76), fifo: true }), ['name'])
  assert.deepEqual(wrongFields({ name: 'x'.repeat(75), fifo: true }), [])
})

test('numbers keep their bounds, in the unit that was chosen', () => {
  assert.deepEqual(wrongFields({ visibility: { value: '12', unit: 'hours' } }), [])
  assert.deepEqual(wrongFields({ visibility: { value: '13', unit: 'hours' } }), ['visibility'])
  assert.deepEqual(wrongFields({ delay: { value: '', unit: 'seconds' }, wait: { value: '0.5', unit: 'seconds' } }), [
    'delay',
    'wait',
  ])
  assert.deepEqual(amount(5400, times), { value: '90', unit: 'minutes' })
  assert.deepEqual(amount(0, times), { value: '0', unit: 'seconds' })
})

test('a dead-letter queue that is made is called after the queue', () => {
  assert.equal(deadLetterName(form({ fifo: true })), 'orders-dead.fifo')
  assert.equal(deadLetterName(form({ createDeadLetterQueue: false, deadLetterQueue: 'dlq' })), 'dlq')
  assert.deepEqual(wrongFields({ redrive: true, name: 'x'.repeat(75) }), [])
  assert.deepEqual(wrongFields({ redrive: true, name: 'x'.repeat(76) }), ['name'])
  assert.deepEqual(wrongFields({ redrive: true, maxReceives: '0' }), ['maxReceives'])
  assert.deepEqual(wrongFields({ redrive: true, createDeadLetterQueue: false }), ['deadLetterQueue'])
})

test('what an existing queue has comes back as it was', () => {
  const arn = 'arn:aws:sqs:us-east-1:000000000000:dlq'
  const wanted = attributesOf(form({ fifo: true, redrive: true, policy: '{"Version": "2012-10-17"}' }), arn)
  const again = formOf('orders.fifo', wanted, { b: '2', a: '1' })
  assert.deepEqual(difference(wanted, attributesOf(again, arn)), {})
  assert.deepEqual(
    again.tags.map((t) => t.key),
    ['a', 'b'],
  )
  assert.equal(again.deadLetterQueue, 'dlq')
})

test('only what has changed is set, and a part that was emptied is removed', () => {
  const before = attributesOf(form({ policy: '{}' }), '')
  const after = attributesOf(form({ visibility: { value: '1', unit: 'minutes' } }), '')
  assert.deepEqual(difference(before, after), { VisibilityTimeout: '60', Policy: '' })
})

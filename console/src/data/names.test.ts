import assert from 'node:assert/strict'
import { test } from 'node:test'
import { named, withSuffix, wrongAlarmName, wrongIdentityName, wrongQueueName, wrongTopicName } from './names'

test('names of queues', () => {
  for (const name of ['orders', 'a', 'A_b-9', 'x'.repeat(80)]) {
    assert.equal(wrongQueueName(name, false), undefined, name)
  }
  for (const name of ['orders', 'orders.fifo', 'x'.repeat(75), `${'x'.repeat(75)}.fifo`]) {
    assert.equal(wrongQueueName(name, true), undefined, name)
  }
  assert.match(wrongQueueName('', false) ?? '', /needs a name/)
  assert.match(wrongQueueName('orders.fifo', false) ?? '', /Only the names of FIFO queues/)
  for (const name of ['or ders', 'é', 'a.b', 'x'.repeat(81)]) {
    assert.match(wrongQueueName(name, false) ?? '', /^Can only include alphanumeric characters/, name)
  }
  for (const name of ['or ders', 'a.b', '.fifo', 'a.fifo.fifo', 'x'.repeat(76)]) {
    assert.match(wrongQueueName(name, true) ?? '', /^The name of a FIFO queue can only/, name)
  }
  assert.equal(withSuffix('orders', true), 'orders.fifo')
  assert.equal(withSuffix('orders.fifo', true), 'orders.fifo')
  assert.equal(withSuffix('orders', false), 'orders')
})

test('names of topics', () => {
  assert.equal(wrongTopicName('x'.repeat(256)), undefined)
  assert.equal(wrongTopicName('x'.repeat(251), true), undefined)
  assert.match(wrongTopicName('a b') ?? '', /^Names must be made up of/)
  assert.match(wrongTopicName('x'.repeat(257)) ?? '', /^Names must be made up of/)
  assert.match(wrongTopicName('x'.repeat(252), true) ?? '', /^Fifo Topic names must end with/)
  assert.match(wrongTopicName('a.fifo') ?? '', /Only the names of FIFO topics/)
})

test('names of alarms, users and their like', () => {
  assert.equal(wrongAlarmName('any thing: é'), undefined)
  assert.match(wrongAlarmName('x'.repeat(256)) ?? '', /255/)
  assert.equal(wrongIdentityName('ann@example.com', named.user), undefined)
  assert.match(wrongIdentityName('a b', named.role) ?? '', /^The specified value for roleName is invalid/)
  assert.match(wrongIdentityName('x'.repeat(65), named.user) ?? '', /at most 64/)
  assert.equal(wrongIdentityName('x'.repeat(128), named.policy), undefined)
})

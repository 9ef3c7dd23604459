import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../aws/failure'
import { tooMany } from './queues'

test('a code says that there are too many queues to order', () => {
  assert.ok(tooMany(new Failure('TooManyQueues', 'any words', 400)))
  assert.ok(!tooMany(new Failure('ValidationException', 'OrderBy and Only look at up to 20000 queues', 400)))
})

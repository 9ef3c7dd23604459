import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure, isLost, isUnanswered } from './failure'

test('what is between here and a server that is down, or one that is starting, gives no answer', () => {
  const unanswered = [
    new TypeError('Failed to fetch'),
    new Failure('NoAnswer', 'The server answered 502.', 502),
    new Failure('NoAnswer', 'The server answered 503.', 503),
    new Failure('ServiceUnavailableException', 'The request has failed', 503),
    Object.assign(new SyntaxError('Unexpected token <'), { $metadata: { httpStatusCode: 503 } }),
  ]
  for (const error of unanswered) {
    assert.equal(isUnanswered(error), true, error.message)
    assert.equal(isLost(error, 'data'), false)
    assert.equal(isLost(error, undefined), true)
  }
  for (const error of [
    new Failure('Busy', 'Too many people are signing in', 503),
    new Failure('AccessDenied', 'not yours', 403),
    new Failure('InternalError', 'The server has failed at this.', 500),
    new Error('There is no session.'),
    'text',
  ]) {
    assert.equal(isUnanswered(error), false)
  }
})

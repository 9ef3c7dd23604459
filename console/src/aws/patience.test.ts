import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { isUnanswered, perhapsDone, wordsOf } from './failure'
import { patience, patient, within } from './patience'

/** never is asked and does not answer, until it is stopped. */
const never = (signal: AbortSignal) =>
  new Promise<never>((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)))

/** outcome passes the time and returns how a request has ended, or that it has not. */
async function outcome(request: Promise<unknown>, after: number): Promise<unknown> {
  let ended: unknown = 'waits'
  request.then(
    (answer) => {
      ended = answer
    },
    (error) => {
      ended = error
    },
  )
  mock.timers.tick(after)
  for (let i = 0; i < 10; i++) {
    await Promise.resolve()
  }
  return ended
}

test('a server that does not answer keeps a page waiting for half a minute, and no longer', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const request = within(patience, never)
    assert.equal(await outcome(request, patience - 1), 'waits')
    const error = await outcome(request, 1)
    assert.equal(isUnanswered(error), true)
    assert.deepEqual(wordsOf(error), {
      title: 'The server does not answer',
      text: 'No answer came within 30 seconds.',
    })
    assert.match(
      wordsOf(perhapsDone(error)).text,
      /30 seconds\. The change may have been made: check before you repeat it\.$/,
    )
    assert.equal(
      await outcome(
        within(patience, async () => 'the answer'),
        patience,
      ),
      'the answer',
    )
  } finally {
    mock.timers.reset()
  }
})

test('a request that its page does not want any more ends at once, as before', async () => {
  const page = new AbortController()
  const request = within(patience, never, page.signal)
  page.abort(new Error('gone'))
  await assert.rejects(request, { message: 'gone' })
  await assert.rejects(
    within(patience, async (signal) => signal.throwIfAborted(), page.signal),
    { message: 'gone' },
  )
})

test('a long poll has its wait, too', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const client = patient({
      send: (_: object, o: { abortSignal?: AbortSignal } = {}) => never(o.abortSignal as AbortSignal),
    })
    const poll = client.send({ input: { WaitTimeSeconds: 20 } })
    assert.equal(await outcome(poll, patience + 19_999), 'waits')
    assert.equal(isUnanswered(await outcome(poll, 1)), true)
  } finally {
    mock.timers.reset()
  }
})

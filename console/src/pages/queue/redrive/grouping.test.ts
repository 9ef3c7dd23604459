import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../parts/message'
import { Tally } from './grouping'

const message = (i: number, some: Partial<Message>): Message => ({ MessageId: `m${i}`, SentTimestamp: i, ...some })

/** groups puts messages together, in two answers as a queue gives them. */
function groups(by: string, path: string, messages: Message[]) {
  const tally = new Tally(by, path)
  tally.add(messages.slice(0, 1))
  tally.add(messages.slice(1))
  return tally.groups().map((g) => [g.label, g.count, g.term])
}

const errored = (i: number, StringValue: string) =>
  message(i, { MessageAttributes: { error: { DataType: 'String', StringValue } } })

test('groups by an attribute, the largest first, each with the term that selects it', () => {
  const list = [errored(1, 'a "b" \\'), errored(2, 'timeout'), message(3, {}), errored(4, 'timeout')]
  assert.deepEqual(groups('attribute', 'error', list), [
    ['timeout', 2, 'attr.error:"timeout"'],
    ['a "b" \\', 1, 'attr.error:"a \\"b\\" \\\\"'],
    ['without it', 1, '-attr.error:*'],
  ])
})

test('groups by a value in the body', () => {
  const bodies = ['{"a":{"b":"x"}}', '{"a":{"b":17}}', '{"a":{"b":12345678901234567890}}', '{"a":{"b":[1]}}', 'none']
  const list = bodies.map((Body, i) => message(i, { Body }))
  assert.deepEqual(
    groups('body', 'a.b', list).map(([, , term]) => term),
    ['body.a.b:"x"', 'body.a.b:"17"', undefined, undefined, '-body.a.b:*'],
  )
})

test('groups by source, receive count and day', () => {
  const arn = 'arn:aws:sqs:us-east-1:111122223333:shop'
  const sent = Date.parse('2026-11-30T23:59:59Z')
  const m = message(1, { DeadLetterQueueSourceArn: arn, ReceiveCount: 3, SentTimestamp: sent })
  assert.deepEqual(groups('source', '', [m]), [['shop', 1, `source:"${arn}"`]])
  assert.deepEqual(groups('count', '', [m]), [['3', 1, 'count>=3 count<=3']])
  assert.deepEqual(groups('day', '', [m]), [['2026-11-30', 1, 'sent>=2026-11-30 sent<2026-12-01']])
})

test('values beyond the most are one group without a term', () => {
  const tally = new Tally('attribute', 'error')
  tally.add(Array.from({ length: 600 }, (_, i) => errored(i, `e${i}`)))
  const found = tally.groups()
  assert.equal(found.length, 501)
  assert.deepEqual([found[0]?.label, found[0]?.count, found[0]?.term], ['other values', 100, undefined])
})

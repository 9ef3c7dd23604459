import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueueDetail } from '../api/queues'
import { courseOf, lastOf, trendOf } from './flow'
import { sentence } from './sentence'

const now = Date.parse('2026-11-22T12:00:00Z')
const minute = 60_000

const busy: QueueDetail = {
  QueueArn: 'arn:aws:sqs:us-east-1:111122223333:orders',
  Receivable: true,
  Reasons: [],
  Visible: 988,
  InFlight: 10,
  Delayed: 0,
  Arriving: 0,
  OldestMessageTimestamp: now - 20 * minute,
  LastReceiveTimestamp: now - 1000,
  WaitingReceives: 0,
  ReadyGroups: 0,
  BlockedGroups: 0,
  DiskBytes: 0,
  Shards: [],
}

test('paused message groups explain old messages', () => {
  const said = sentence({ ...busy, PausedGroups: ['a', 'b'], OldestMessageTimestamp: now - 120 * minute }, now)
  assert.match(said.text, /^Consumers are behind/)
  assert.equal(said.advice[0], 'Nothing is received from 2 paused message groups.')
})

test('a consumer that is slower than the producer falls behind', () => {
  const said = sentence(busy, now, { trend: { incoming: 150, outgoing: 97 }, retention: 4 * 24 * 60 * minute })
  assert.equal(said.type, 'warning')
  // The oldest message ages by 53/150 of each minute, from 20 minutes to four days.
  assert.match(
    said.text,
    /^Falling behind by 53 a minute \(150 in, 97 out\): .* is reached in about 11 d 6 h\. There are 998 /,
  )
})

test('without a consumer the retention period is reached in real time', () => {
  const said = sentence(busy, now, { trend: { incoming: 10, outgoing: 0 }, retention: 60 * minute })
  assert.match(said.text, /is reached in about 40 min\./)
})

test('a consumer that is faster catches up', () => {
  const said = sentence(busy, now, { trend: { incoming: 100, outgoing: 198.8 } })
  assert.equal(said.type, 'success')
  assert.match(said.text, /^Catching up \(100 in, 199 out\): at this rate empty in about 10 min\./)
})

test('less than a minute of work is no trend, nor is a small difference', () => {
  for (const trend of [
    { incoming: 2000, outgoing: 1500 },
    { incoming: 500, outgoing: 480 },
    { incoming: 0, outgoing: 0 },
  ]) {
    assert.match(sentence(busy, now, { trend }).text, /^Keeping up\. There are 998 messages/)
  }
})

test('consumers that work on all messages keep up, and stopped ones do not', () => {
  const Reasons = [{ Code: 'AllInFlight', Text: '1 message is in flight; it becomes visible at 12:00:30.' }]
  const taken = { ...busy, Receivable: false, Visible: 0, InFlight: 1, NextVisibleTimestamp: now + 30_000, Reasons }
  assert.match(sentence({ ...taken, OldestMessageTimestamp: now - 1000 }, now).text, /^Keeping up\. There is 1 message/)
  const left = sentence({ ...taken, LastReceiveTimestamp: now - 5 * minute }, now)
  assert.equal(left.type, 'info')
  // When it becomes visible is said once.
  assert.match(left.text, /^Nothing can be received at the moment: 1 message is in flight; [^.]* 12:00:30\.$/)
})

test('dead letters failed somewhere, and nothing is wrong with consumers', () => {
  const dead = { ...busy, Visible: 120, InFlight: 0, LastReceiveTimestamp: 0 }
  const said = sentence(dead, now, { sources: { names: ['shop'], more: false } })
  assert.match(said.text, /^120 messages failed in shop\. The oldest is 20 min old\./)
  assert.deepEqual(said.tabs, ['browse', 'redrive'])
  const some = sentence(dead, now, { sources: { names: ['a', 'b', 'c'], more: false } })
  assert.match(some.text, /failed in a and other queues\./)
  assert.match(sentence(dead, now).text, /^No consumer has received since the server started\./)
})

test('a course has a number for each minute, oldest first', () => {
  const at = (ago: number) => new Date(now - ago * minute)
  const points = (...of: [number, number][]) => ({ title: '', points: of.map(([ago, y]) => ({ x: at(ago), y })) })
  const { incoming, outgoing } = courseOf([points([31, 9], [30, 1], [1, 5]), points([2, 20]), points([2, 3])], now)
  assert.deepEqual(incoming, [1, ...new Array(28).fill(0), 5])
  assert.deepEqual(outgoing, [...new Array(28).fill(0), 23, 0])
  assert.deepEqual(courseOf([], now).incoming, new Array(30).fill(0))
})

test('a trend averages the minutes since the first point', () => {
  const at = (ago: number) => new Date(now - ago * minute)
  const points = (...of: [number, number][]) => ({ title: '', points: of.map(([ago, y]) => ({ x: at(ago), y })) })
  const lines = [points([30, 1000], [4, 40], [2, 80], [1, 0]), points([2, 20]), points([3, 8])]
  assert.deepEqual(trendOf(lines, now), { incoming: 30, outgoing: 7 })
  assert.equal(trendOf([points([1, 5])], now), undefined)
  assert.equal(lastOf(lines[0]), now - 2 * minute)
  assert.equal(lastOf(points([2, 0])), undefined)
})

test('a queue that is well stays well beside its failures', () => {
  const DeadLetterQueueArn = 'arn:aws:sqs:us-east-1:111122223333:orders-dlq'
  const said = sentence({ ...busy, DeadLetters: 3, DeadLetterQueueArn }, now)
  assert.equal(said.type, 'success')
  assert.match(said.text, /^Keeping up\./)
  assert.deepEqual(said.failures, { text: '3 messages failed and moved to orders-dlq.', queue: 'orders-dlq' })
  assert.equal(sentence(busy, now).failures, undefined)
})

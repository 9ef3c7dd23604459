import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Activity, ListedQueue, QueueState } from '../../api/queuestate'
import { nothing, queueWith, stateWith } from '../../data/samples'
import { concernsOf } from './concerns'

const now = 1_800_000_000_000
const minute = 60_000
const arn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`
const happened = (some: Partial<Activity>): Activity => ({ ...nothing, ...some })

function queue(QueueName: string, some: Partial<QueueState> | undefined, more: Partial<ListedQueue> = {}): ListedQueue {
  return queueWith(QueueName, { QueueArn: arn(QueueName), ...(some && { State: stateWith(some) }), ...more })
}

const busy = { WaitingReceives: 1, LastReceiveTimestamp: now }

test('the worst come first, each with its reason and what to do', () => {
  const list = concernsOf(
    [
      queue('empty', {}),
      queue('unseen', undefined),
      queue('works', { ...busy, Visible: 7, OldestMessageTimestamp: now - minute }),
      queue('paused', { Paused: true }),
      queue('slow', { ...busy, Visible: 9, OldestMessageTimestamp: now - 90 * minute }),
      queue('idle', { Visible: 4, OldestMessageTimestamp: now - minute, LastReceiveTimestamp: now - 12 * minute }),
      queue('dead', { DeadLetterSources: 2, Visible: 120, OldestMessageTimestamp: now - minute }),
      queue('a', { ...busy, DeadLetters: 120, DeadLetterQueueArn: arn('dead') }),
      queue('b', { ...busy, DeadLetterQueueArn: arn('dead') }),
      queue('lost', undefined, { Unavailable: true }),
    ],
    [],
    now,
  )
  assert.deepEqual(
    list.map((c) => [c.name, c.why, c.action.text]),
    [
      ['lost', 'The state is unknown: a shard does not answer.', 'See cluster'],
      ['dead', '120 messages failed in a and 1 other queue. The oldest is 1 min old.', 'Redrive'],
      ['idle', 'No consumer has received for 12 min. 4 messages wait, the oldest for 1 min.', 'See consumers'],
      ['paused', 'Delivery is paused. No messages wait.', 'Resume delivery'],
      ['slow', 'Consumers are behind. 9 messages wait, the oldest for 1 h 30 min.', 'See consumers'],
    ],
  )
  assert.equal(list[1]?.action.href, '#/queues/dead/redrive')
})

test('the queues are named in which messages failed, if they account for all', () => {
  const why = (failed: number) =>
    concernsOf(
      [
        queue('dead', { DeadLetterSources: 3, Visible: 5, OldestMessageTimestamp: now }),
        queue('a', { DeadLetterQueueArn: arn('dead') }),
        queue('b', { DeadLetterQueueArn: arn('dead'), Totals: happened({ DeadLettered: failed }) }),
        queue('c', { DeadLetterQueueArn: arn('dead') }),
      ],
      [],
      now,
    )[0]?.why
  assert.equal(why(5), '5 messages failed in b. The oldest is 1 s old.')
  assert.equal(why(4), '5 messages failed in b and 2 other queues. The oldest is 1 s old.')
})

test('a queue whose dead-letter queue is not in the list says where its messages are', () => {
  const [found] = concernsOf([queue('a', { DeadLetters: 1, DeadLetterQueueArn: arn('hidden') })], [], now)
  assert.equal(found?.why, '1 message failed and moved to hidden.')
  assert.equal(found?.action.href, '#/queues/hidden/redrive')
})

test('queues that share a dead-letter queue which is not in the list are one row, with what else is wrong', () => {
  const source = (name: string, some: Partial<QueueState> = {}) =>
    queue(name, { ...some, DeadLetters: 3, DeadLetterQueueArn: arn('hidden') })
  const waiting = { Visible: 2, OldestMessageTimestamp: now - minute, LastReceiveTimestamp: now - 5 * minute }
  const list = concernsOf([source('a', waiting), source('b'), source('c', { Paused: true })], [], now)
  assert.deepEqual(
    list.map((c) => [c.name, c.why, c.action.text]),
    [
      [
        'a',
        '3 messages failed in a and 2 other queues and moved to hidden. No consumer has received for 5 min. 2 messages wait, the oldest for 1 min.',
        'Redrive',
      ],
      ['c', 'Delivery is paused. No messages wait.', 'Resume delivery'],
    ],
  )
})

test('a queue that is in alarm and has messages without a consumer is one row with both reasons', () => {
  const idle = queue('idle', { Visible: 1, OldestMessageTimestamp: now })
  const alarms = [{ name: 'too-many', condition: 'X > 0 for 1 minute', queues: ['idle'] }]
  assert.deepEqual(
    concernsOf([idle], alarms, now).map((c) => [c.name, c.why]),
    [
      [
        'idle',
        'No consumer has received since the server started. 1 message waits, the oldest for 1 s. In alarm: X > 0 for 1 minute.',
      ],
    ],
  )
})

test('a queue falls behind if more comes than goes and its messages are old', () => {
  const old = { ...busy, Visible: 900, OldestMessageTimestamp: now - 6 * minute }
  const why = (some: Partial<Activity>) =>
    concernsOf([queue('q', { ...old, LastMinute: happened(some) })], [], now)[0]?.why
  assert.equal(
    why({ Sent: 150, Deleted: 90, DeadLettered: 7 }),
    'Fell behind by 53 in the last minute. 900 messages wait, the oldest for 6 min.',
  )
  assert.equal(why({ Sent: 150, Deleted: 149 }), undefined)
})

test('queues in alarm come before all others, and alarms about no queue of the list stand alone', () => {
  const list = concernsOf(
    [queue('fine', busy), queue('idle', { Visible: 1, OldestMessageTimestamp: now })],
    [
      { name: 'too-old', condition: 'X > 1 for 1 minute', queues: ['fine'] },
      { name: 'any', condition: 'ALARM("too-old")', queues: [] },
    ],
    now,
  )
  assert.deepEqual(
    list.map((c) => [c.name, c.why, c.alarms]),
    [
      ['any', 'In alarm: ALARM("too-old").', []],
      ['fine', 'In alarm: X > 1 for 1 minute.', ['too-old']],
      ['idle', 'No consumer has received since the server started. 1 message waits, the oldest for 1 s.', []],
    ],
  )
})

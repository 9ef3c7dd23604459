import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueueState } from '../../api/queuestate'
import { nothing, queueWith, stateWith } from '../../data/samples'
import { islandsOf, linesOf, widthOf } from './graph'
import { boxWidth, lay, pathOf, shapeOf } from './layout'

const arn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`
const topic = 'arn:aws:sns:us-east-1:000000000000:events'
const queue = (name: string, some: Partial<QueueState>) =>
  queueWith(name, { QueueArn: arn(name), State: stateWith(some) })

test('topics, queues, consumers and dead letters are connected, the worst first', () => {
  const islands = islandsOf(
    [
      queue('alone', {}),
      queue('bills', { WaitingReceives: 2, LastMinute: { ...nothing, Sent: 9, Received: 8 } }),
      queue('dead', { Condition: 'HoldsDeadLetters', Visible: 3, DeadLetterSources: 1 }),
      queue('idle', { Condition: 'NoConsumer', Visible: 1 }),
      queue('orders', {
        Condition: 'DeadLetters',
        DeadLetters: 3,
        DeadLetterQueueArn: arn('dead'),
        LastMinute: { ...nothing, DeadLettered: 1 },
      }),
    ],
    [
      { TopicArn: topic, Endpoint: arn('bills') },
      { TopicArn: topic, Endpoint: arn('orders') },
      { TopicArn: topic, Endpoint: arn('elsewhere') },
    ],
  )
  assert.deepEqual(
    islands.map((i) => i.boxes.map((b) => b.name)),
    [['bills', 'dead', 'orders', 'events', 'Consumers'], ['idle', 'No consumer'], ['alone']],
  )
  const [all, idle] = islands
  assert.deepEqual(
    all?.ways.map((w) => [w.kind, w.rate, w.bad]),
    [
      ['feeds', 9, false],
      ['feeds', 0, false],
      ['taken', 8, false],
      ['fails', 1, true],
    ],
  )
  assert.equal(idle?.ways[0]?.bad, true)
  const orders = all?.boxes.find((b) => b.name === 'orders')
  assert(all && orders)
  assert.deepEqual(
    linesOf(all, orders).map(({ verb, box, rate }) => `${verb} ${box.name} ${rate}`),
    ['gets messages of events ', 'moves failed messages to dead 1 message in a minute'],
  )
})

test('a dead-letter queue that is not in the list is on the map, and a queue may be its own', () => {
  const [island] = islandsOf([queue('a', { DeadLetterQueueArn: arn('hidden') })], [])
  assert.deepEqual(
    island?.boxes.map((b) => [b.name, b.note]),
    [
      ['a', '0 available'],
      ['hidden', 'Not in this list'],
    ],
  )
})

test('three hundred queues: no two boxes overlap, and messages go from left to right', () => {
  const names = Array.from({ length: 300 }, (_, i) => `q${i}`)
  const list = names.map((n) =>
    queue(n, { WaitingReceives: 1, DeadLetterQueueArn: arn(`dead${Number(n.slice(1)) % 10}`) }),
  )
  const feeds = names.map((n, i) => ({ TopicArn: `${topic}${i % 15}`, Endpoint: arn(n) }))
  for (const island of islandsOf(list, feeds)) {
    const laid = lay(island)
    const places = [...laid.boxes.values()].sort((a, b) => a.x - b.x || a.y - b.y)
    for (const [i, p] of places.entries()) {
      const next = places[i + 1]
      assert(!next || next.x > p.x || next.y - p.y >= 48, `${JSON.stringify(p)} overlaps ${JSON.stringify(next)}`)
    }
    for (const w of island.ways) {
      const [from, to] = [laid.boxes.get(w.from), laid.boxes.get(w.to)]
      assert(from && to && from.x < to.x)
    }
    assert.equal(laid.ways.length, island.ways.length)
    const columns = new Set(places.map((p) => p.x))
    for (const points of laid.ways) {
      for (const [i, p] of points.entries()) {
        const next = points[i + 1]
        if (next && next.y !== p.y) {
          const through = [...columns].find((x) => x < next.x && x + boxWidth > p.x)
          assert.equal(through, undefined, `${JSON.stringify([p, next])} passes through boxes at ${through}`)
        }
      }
    }
    assert(laid.ways.every((points) => pathOf(points).startsWith('M')))
  }
})

test('rates change no layout', () => {
  const of = (Sent: number) =>
    islandsOf([queue('a', { LastMinute: { ...nothing, Sent } })], [{ TopicArn: topic, Endpoint: arn('a') }])[0]
  const [slow, fast] = [of(1), of(1000)]
  assert(slow && fast)
  assert.equal(shapeOf(slow), shapeOf(fast))
  assert(widthOf(1) < widthOf(1000) && widthOf(1e12) <= 12)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { axisOf } from './axis'

test('an axis of seconds has the unit in which ticks are round', () => {
  for (const [top, divisor, tick] of [
    [0.4, 1, '5 s'],
    [100, 1, '5 s'],
    [1200, 60, '5 min'],
    [9000, 3600, '5 h'],
    [400_000, 86_400, '5 d'],
  ] as const) {
    const axis = axisOf('seconds', top)
    assert.equal(axis.divisor, divisor)
    assert.equal(axis.tick(5), tick)
  }
})

test('what is whole has no ticks between whole numbers', () => {
  const { tick } = axisOf('messages', 1)
  assert.deepEqual([0, 0.2, 1, 2000].map(tick), ['0', '', '1', '2,000'])
  assert.equal(axisOf('', 1).tick(0.2), '0.2')
  assert.equal(axisOf('bytes', 300_000).tick(200), '200 KiB')
})

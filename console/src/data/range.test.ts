import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime, rangeIn, rangeWords, spanOf, zoomed } from './range'

const at = (text: string) => Date.parse(text)

test('a range of hours ends with the last whole minute, and one that stays as it says', () => {
  const span = spanOf({ hours: 1 }, at('2026-11-27T02:30:59Z'))
  assert.deepEqual([span.start, span.end], [new Date('2026-11-27T01:30:00Z'), new Date('2026-11-27T02:30:00Z')])
  const fixed = { from: at('2026-11-27T01:00:00Z'), to: at('2026-11-27T02:00:00Z') }
  assert.deepEqual(spanOf(fixed).end, new Date(fixed.to))
})

test('what is drawn across becomes whole minutes, from either side, and at least five', () => {
  const wanted = { from: at('2026-11-27T01:00:00Z'), to: at('2026-11-27T01:31:00Z') }
  assert.deepEqual(zoomed(at('2026-11-27T01:00:20Z'), at('2026-11-27T01:30:01Z')), wanted)
  assert.deepEqual(zoomed(at('2026-11-27T01:30:01Z'), at('2026-11-27T01:00:20Z')), wanted)
  const short = zoomed(at('2026-11-27T01:00:10Z'), at('2026-11-27T01:00:20Z'))
  assert.deepEqual(short, { from: at('2026-11-27T00:58:00Z'), to: at('2026-11-27T01:03:00Z') })
})

test('an address keeps a range', () => {
  for (const range of [{ hours: 12 }, { from: at('2026-11-27T01:00:00Z'), to: at('2026-11-27T02:00:00Z') }]) {
    assert.deepEqual(rangeIn(new URLSearchParams(rangeWords(range))), range)
  }
  assert.deepEqual(rangeIn(new URLSearchParams('from=2026-11-27T02:00:00Z&to=2026-11-27T01:00:00Z&hours=x')), {
    hours: 3,
  })
})

test('a time as a person writes it', () => {
  assert.equal(parseTime('2026-11-27 02:30', 'utc'), at('2026-11-27T02:30:00Z'))
  assert.equal(parseTime(' 2026-11-27 02:30:00 UTC', 'utc'), at('2026-11-27T02:30:00Z'))
  assert.equal(parseTime('2026-11-27 02:30', 'local'), new Date(2026, 10, 27, 2, 30).getTime())
  for (const wrong of ['', '2026-11-27', '02:30', '2026-13-40 02:30', 'yesterday']) {
    assert.equal(parseTime(wrong, 'utc'), undefined)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ago, briefly, bytes, compact, duration, inSentence, instant, rate } from './format'

test('durations in their two largest units, or in one', () => {
  const written = [0, 59_000, 61_000, 3_600_000, 12_000_000, 90_061_000].map((ms) => [duration(ms), briefly(ms)])
  assert.deepEqual(written, [
    ['0 s', '0 s'],
    ['59 s', '59 s'],
    ['1 min 1 s', '1 min'],
    ['1 h', '1 h'],
    ['3 h 20 min', '3 h'],
    ['1 d 1 h', '1 d'],
  ])
  assert.deepEqual([ago(1000, 1500), ago(0, 61_000), ago(61_000, 0)], ['now', '1 min 1 s ago', 'in 1 min 1 s'])
})

test('numbers where there is little room', () => {
  assert.deepEqual([9999, 10_000, 200_000, 1_234_567].map(compact), ['9,999', '10K', '200K', '1.2M'])
})

test('sizes and rates', () => {
  assert.deepEqual([1, 1023, 1024, 10 * 1024 ** 2].map(bytes), ['1 byte', '1,023 bytes', '1.0 KiB', '10 MiB'])
  assert.deepEqual([0, 0.05, 1.25, 1234.4].map(rate), ['0/s', '3.0/min', '1.3/s', '1,234/s'])
})

test('times in the zone that was chosen', () => {
  assert.equal(instant(Date.UTC(2026, 10, 22, 13, 5, 9), 'utc'), '2026-11-22 13:05:09 UTC')
  assert.equal(instant(new Date(2026, 10, 22, 13, 5, 9).getTime(), 'local'), '2026-11-22 13:05:09')
})

test('a title after a colon begins small, but for the code of an error', () => {
  assert.equal(inSentence('The server does not answer'), 'the server does not answer')
  assert.equal(inSentence('Throttling'), 'throttling')
  assert.equal(inSentence('QueueDoesNotExist'), 'QueueDoesNotExist')
})

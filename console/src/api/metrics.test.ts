import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastHours, periodFor } from './metrics'

const now = Date.parse('2026-11-27T02:30:30Z')
const hour = 3_600_000

test('a graph has at most four hundred points', () => {
  const fitting = [1, 3, 12, 24, 168, 720].map((hours) => periodFor(lastHours(hours, now), now))
  assert.deepEqual(fitting, [60, 60, 300, 300, 3600, 21_600])
})

test('a time long ago has the points that are still kept of it', () => {
  const back = (days: number) => ({
    start: new Date(now - days * 24 * hour),
    end: new Date(now - days * 24 * hour + hour),
  })
  assert.deepEqual(
    [1, 16, 64].map((days) => periodFor(back(days), now)),
    [60, 300, 3600],
  )
})

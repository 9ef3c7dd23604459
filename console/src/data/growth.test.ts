import assert from 'node:assert/strict'
import { test } from 'node:test'
import { behind } from './growth'
import { nothing } from './samples'

const now = 1_800_000_000_000

/** fell is by how much a queue fell behind whose oldest message is some minutes old. */
const fell = (minutes: number, sent: number, deleted: number, Visible = 10) => {
  const LastMinute = { ...nothing, Sent: sent, Deleted: deleted }
  return behind({ Visible, OldestMessageTimestamp: now - minutes * 60_000, LastMinute }, now)
}

test('a queue falls behind if more comes than goes, and messages are late', () => {
  assert.equal(fell(6, 150, 97), 53)
  assert.equal(fell(4, 150, 97), undefined)
  assert.equal(fell(6, 150, 149), undefined)
  assert.equal(fell(6, 0, 0), undefined)
  assert.equal(fell(6, 150, 97, 0), undefined)
})

test('a message that waits for an hour says it alone', () => {
  assert.equal(fell(61, 10, 20), 0)
  assert.equal(behind({ Visible: 1, OldestMessageTimestamp: now - 3_600_000 }, now), 0)
  assert.equal(behind({ Visible: 1 }, now), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counterOf } from './counter'

const found = { shown: 50, chosen: 0, more: true, total: 200_000, filtered: false, waits: false }

test('the heading of messages says how many there are, where it is known', () => {
  for (const [changes, counter] of [
    [{}, '(50 of 200,000)'],
    [{ waits: true }, '(50 of 200,000)'],
    [{ filtered: true }, '(50+)'],
    [{ more: false, total: 50 }, '(50)'],
    [{ chosen: 2 }, '(2/50)'],
    [{ shown: 0, more: false, total: 0 }, '(0)'],
    [{ shown: 0, more: false, total: 0, waits: true }, undefined],
  ] as const) {
    assert.equal(counterOf({ ...found, ...changes }), counter)
  }
})

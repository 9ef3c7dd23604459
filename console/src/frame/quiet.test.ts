import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Quiet } from './quiet'

test('after two minutes without input it is quiet, until the next input', () => {
  const quiet = new Quiet(0)
  let changes = 0
  quiet.subscribe(() => changes++)
  quiet.look(119_999)
  assert.equal(quiet.get(), false)
  quiet.look(120_000)
  quiet.look(150_000)
  assert.equal(quiet.get(), true)
  assert.equal(changes, 1)
  quiet.touched(160_000)
  assert.equal(quiet.get(), false)
  quiet.touched(200_000)
  quiet.look(300_000)
  assert.equal(quiet.get(), false)
  assert.equal(changes, 2)
})

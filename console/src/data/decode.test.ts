import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readable, readings } from './decode'

test('escapes of letters and signs are resolved, others stay', () => {
  assert.equal(readable(String.raw`"Zo\u00eb \ud83d\ude00"`), '"Zoë 😀"')
  for (const kept of [
    String.raw`"Zo\\u00eb"`,
    String.raw`"\u202e"`,
    String.raw`"\u0022\u000a"`,
    String.raw`"\ud83d"`,
  ]) {
    assert.equal(readable(kept), kept)
  }
  assert.equal(readable(String.raw`"\\\u00eb"`), String.raw`"\\ë"`)
})

test('a body is read decoded first, and as it is', async () => {
  const body = String.raw`{"name":"Zo\u00eb"}`
  assert.deepEqual(
    (await readings(body)).map((r) => [r.id, r.text]),
    [
      ['JSON', '{\n  "name": "Zoë"\n}'],
      ['As it is', body],
    ],
  )
})

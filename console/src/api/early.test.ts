import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Early } from './early'

test('an early answer is taken once, soon, and for the same question', async () => {
  const early = new Early<string>()
  assert.equal(early.take('a', 0), undefined)
  early.keep('a', Promise.resolve('answer'), 0)
  assert.equal(early.take('b', 1), undefined)
  assert.equal(await early.take('a', 1), 'answer')
  assert.equal(early.take('a', 2), undefined)
  early.keep('a', Promise.resolve('old'), 0)
  assert.equal(early.take('a', 5001), undefined)
})

test('an early answer that fails is an error of the part that takes it', async () => {
  const early = new Early<string>()
  early.keep('unused', Promise.reject(new Error('x')))
  early.keep('a', Promise.reject(new Error('refused')))
  await assert.rejects(early.take('a') ?? Promise.resolve(), /refused/)
})

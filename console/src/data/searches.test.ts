import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSearches, withSearch } from './searches'

test('a search that is saved again comes first, and the oldest is given up', () => {
  assert.deepEqual(withSearch(['a', 'b'], 'b'), ['b', 'a'])
  const full = Array.from({ length: 12 }, (_, i) => `s${i}`)
  assert.deepEqual([withSearch(full, 'new').length, withSearch(full, 'new').at(-1)], [12, 's10'])
})

test('what is not a list of texts is nothing', () => {
  assert.deepEqual(readSearches('["a", 1, null, "b"]'), ['a', 'b'])
  for (const text of [null, '', '{', '{"a":1}', '"a"']) {
    assert.deepEqual(readSearches(text), [])
  }
})

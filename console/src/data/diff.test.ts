import assert from 'node:assert/strict'
import { test } from 'node:test'
import { difference } from './diff'

const shown = (before: string, after: string) => difference(before, after).map((l) => l.kind + l.text)

test('lines that are the same are kept', () => {
  assert.deepEqual(shown('a\nb\nc', 'a\nx\nc'), [' a', '-b', '+x', ' c'])
  assert.deepEqual(shown('a\nb', 'b\na'), ['-a', ' b', '+a'])
  assert.deepEqual(shown('same', 'same'), [' same'])
  assert.deepEqual(shown('', 'a'), ['-', '+a'])
})

test('a difference, undone, is the text before', () => {
  const [before, after] = ['1\n2\n3\n4\n5', '0\n2\n4\n4\n6']
  const lines = difference(before, after)
  const side = (without: string) => lines.filter((l) => l.kind !== without).map((l) => l.text)
  assert.equal(side('+').join('\n'), before)
  assert.equal(side('-').join('\n'), after)
})

test('long texts are compared as a whole', () => {
  const long = Array(1001).fill('x').join('\n')
  assert.equal(difference(long, 'x').length, 1002)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { piecesOf, previewOf, visible, wordsOf } from './filterwords'

test('the words of a filter are those that stand in the text', () => {
  assert.deepEqual(wordsOf('timeout "two words" -not body.order.id:17 attr.error:*late* count>=3 group:g'), [
    'timeout',
    'two words',
    '17',
    'late',
  ])
  assert.deepEqual(wordsOf(String.raw`"a \"b\""`), ['a "b"'])
  assert.deepEqual(wordsOf('attr.error:* age>2h'), [])
  assert.deepEqual(wordsOf(''), [])
})

test('a text is divided at its matches, whatever signs they have', () => {
  assert.deepEqual(piecesOf('x A+b y a+B', ['a+b']), [
    { text: 'x ', marked: false },
    { text: 'A+b', marked: true },
    { text: ' y ', marked: false },
    { text: 'a+B', marked: true },
  ])
  assert.deepEqual(piecesOf('x', []), [{ text: 'x', marked: false }])
})

test('a preview begins shortly before the first match', () => {
  const text = `${'-'.repeat(100)}needle`
  assert.equal(previewOf(text, ['needle']), `…${'-'.repeat(24)}needle`)
  assert.equal(previewOf(text, ['absent'], 10), '-'.repeat(10))
  assert.equal(previewOf('needle first', ['needle']), 'needle first')
})

test('characters that turn the direction are shown', () => {
  assert.equal(visible('a\u202eb\u2066'), 'a[U+202E]b[U+2066]')
})

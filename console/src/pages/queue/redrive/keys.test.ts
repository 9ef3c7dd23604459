import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../../api/message'
import { isGrouped, kindOf, suggestKey } from './keys'

const bodies = (...list: unknown[]): Message[] =>
  list.map((body, i) => ({ MessageId: `m${i}`, Body: typeof body === 'string' ? body : JSON.stringify(body) }))

test('a value that says why is better than one that only repeats', () => {
  const list = [1, 2, 3, 4].map((i) => ({
    order: { id: i },
    customer: i % 2,
    error: { code: i % 2 ? 'timeout' : 'refused' },
  }))
  assert.equal(suggestKey(bodies(...list)), 'body.error.code')
})

test('an attribute is a key, too', () => {
  const list = ['a', 'b', 'a', 'b'].map(
    (StringValue, i): Message => ({
      MessageId: `m${i}`,
      Body: 'x',
      MessageAttributes: { exception: { DataType: 'String', StringValue } },
    }),
  )
  assert.equal(suggestKey(list), 'attr.exception')
})

test('what is the same everywhere, or different everywhere, or rare, says nothing', () => {
  assert.equal(suggestKey(bodies({ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 3, b: 1 })), undefined)
  assert.equal(suggestKey(bodies({ e: 1 }, { e: 1 }, ...Array(10).fill('text'))), undefined)
  assert.equal(suggestKey([]), undefined)
})

test('names that a filter would have to quote are left out', () => {
  assert.equal(suggestKey(bodies(...['a', 'b', 'a', 'b'].map((v) => ({ 'the error': v, 'a.b': v })))), undefined)
})

test('kinds of keys', () => {
  assert.equal(kindOf('attr.error')?.value, 'attr.')
  assert.equal(kindOf('count')?.value, 'count')
  assert.equal(kindOf('other'), undefined)
  assert.deepEqual([isGrouped('none'), isGrouped('body.'), isGrouped('body.a')], [false, false, true])
})

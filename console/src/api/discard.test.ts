import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeletePage, deleteInSteps } from './discard'

test('a deletion goes on with the ids that have no result, and adds up', async () => {
  const asked: { MessageIds: string[]; Cursor?: string }[] = []
  const pages: DeletePage[] = [
    { Results: [{ MessageId: 'b', Outcome: 'Deleted' }], Cursor: 'next', Scanned: 5, Total: 9 },
    { Results: [], Cursor: 'last', Scanned: 2, Total: 8 },
    {
      Results: [
        { MessageId: 'a', Outcome: 'NotFound' },
        { MessageId: 'c', Outcome: 'Deleted' },
      ],
      Scanned: 1,
      Total: 8,
    },
  ]
  const told: number[] = []
  const all = await deleteInSteps(
    ['a', 'b', 'c'],
    async (input) => {
      asked.push(input)
      return pages.shift() as DeletePage
    },
    (now) => told.push(now.deleted),
  )
  assert.deepEqual(asked, [
    { MessageIds: ['a', 'b', 'c'] },
    { MessageIds: ['a', 'c'], Cursor: 'next' },
    { MessageIds: ['a', 'c'], Cursor: 'last' },
  ])
  assert.deepEqual(all, { deleted: 2, missing: 1, scanned: 8, total: 9 })
  assert.deepEqual(told, [1, 1, 2])
})

test('more ids than a call takes are deleted in several, each from the beginning', async () => {
  const sizes: number[] = []
  const ids = Array.from({ length: 1001 }, (_, i) => `${i}`)
  const all = await deleteInSteps(
    ids,
    async ({ MessageIds, Cursor }) => {
      sizes.push(MessageIds.length)
      assert.equal(Cursor, undefined)
      return { Results: MessageIds.map((MessageId) => ({ MessageId, Outcome: 'Deleted' })), Scanned: 0, Total: 0 }
    },
    () => undefined,
  )
  assert.deepEqual(sizes, [1000, 1])
  assert.equal(all.deleted, 1001)
})

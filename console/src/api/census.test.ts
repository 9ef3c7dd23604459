import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CountPage, countInSteps, type Groups, type Share } from './census'

/** counted runs through pages and returns what was known after each. */
async function counted(...pages: Partial<CountPage>[]): Promise<Groups[]> {
  const told: Groups[] = []
  const asked: (string | undefined)[] = []
  await countInSteps(
    async (cursor) => {
      asked.push(cursor)
      const page = pages[asked.length - 1]
      return { Groups: [], Scanned: 0, Found: 0, Total: 0, ...page }
    },
    (now) => told.push(now),
  )
  assert.deepEqual(asked, [undefined, ...pages.slice(0, -1).map((p) => p.Cursor)])
  return told
}

const share = (Value: string | undefined, Messages: number, NewestTimestamp = 1): Share => ({
  ...(Value !== undefined && { Value }),
  Messages,
  NewestTimestamp,
})

test('groups of several answers add up, the largest first', async () => {
  const told = await counted(
    { Groups: [share('a', 1, 5), share('b', 2)], Cursor: 'x', Scanned: 3, Found: 3, Total: 6 },
    { Groups: [share('a', 2, 3), share(undefined, 1)], Scanned: 4, Found: 3, Total: 6 },
  )
  assert.deepEqual(
    told.map((now) => [now.groups.map((g) => [g.Value, g.Messages, g.NewestTimestamp]), now.ended]),
    [
      [
        [
          ['b', 2, 1],
          ['a', 1, 5],
        ],
        false,
      ],
      [
        [
          ['a', 3, 5],
          ['b', 2, 1],
          [undefined, 1, 1],
        ],
        true,
      ],
    ],
  )
  assert.deepEqual([told[1]?.scanned, told[1]?.found, told[1]?.total], [7, 6, 7])
})

test('a value, its absence and one that was cut are different groups', async () => {
  const [now] = await counted({ Groups: [share('', 1), share(undefined, 1), { ...share('', 1), Cut: true }] })
  assert.equal(now?.groups.length, 3)
})

test('values beyond the most are counted together', async () => {
  const [now] = await counted({ Groups: Array.from({ length: 600 }, (_, i) => share(`v${i}`, 2)) })
  assert.deepEqual([now?.groups.length, now?.others], [500, 200])
})

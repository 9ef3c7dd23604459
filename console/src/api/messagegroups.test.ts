import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPaused } from './messagegroups'

test('paused groups without messages are behind the others', () => {
  const group = { MessageGroupId: 'a', State: 'Visible', Depth: 2, InFlight: 0, MessageId: '1' }
  const all = withPaused([group], ['a', 'b'])
  assert.deepEqual(
    all.map((g) => [g.MessageGroupId, g.Depth, g.MessageId]),
    [
      ['a', 2, '1'],
      ['b', 0, ''],
    ],
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { health } from './health'
import { stateWith as state } from './samples'

test('a queue in words', () => {
  assert.equal(health(state({ Condition: 'DeadLetters', DeadLetters: 1 })).text, '1 dead letter')
  const dead = state({ Condition: 'HoldsDeadLetters', Visible: 2, InFlight: 1 })
  assert.equal(health(dead).text, 'Has 3 dead letters')
  assert.equal(health(state({ Condition: 'FallingBehind' })).text, 'Falling behind')
  assert.equal(health(state({})).text, 'Empty')
})

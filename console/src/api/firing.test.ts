import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyAlarm } from './alarm'
import { queuesBehind } from './firing'

const about = (AlarmName: string, queue: string): AnyAlarm => ({
  AlarmName,
  Dimensions: [{ Name: 'QueueName', Value: queue }],
})

test('a composite alarm is about the queues of the alarms in its rule that fire', () => {
  const rule = 'ALARM("too old") OR ALARM(many) AND NOT ALARM("arn:aws:cloudwatch:us-east-1:000000000000:alarm:third")'
  const any: AnyAlarm = { AlarmName: 'any', AlarmRule: rule }
  const firing = [any, about('too old', 'a'), about('many', 'b'), about('third', 'a'), about('other', 'c')]
  assert.deepEqual(queuesBehind(any, firing), ['a', 'b'])
  assert.deepEqual(queuesBehind(about('many', 'b'), firing), ['b'])
  assert.deepEqual(queuesBehind(any, [any]), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AnyAlarm, conditionOf } from './alarm'

const one: AnyAlarm = { MetricName: 'Errors', ComparisonOperator: 'GreaterThanThreshold', Threshold: 5, Period: 60 }
const stat = { Metric: { MetricName: 'Sent' }, Period: 300, Stat: 'Sum' }
const band = { Id: 'e', Expression: 'ANOMALY_DETECTION_BAND(m)' }

test('a condition names its metric and its limit', () => {
  const of = (alarm: AnyAlarm) => conditionOf({ EvaluationPeriods: 2, ...alarm })
  assert.equal(of(one), 'Errors > 5 for 2 minutes')
  assert.equal(of({ ...one, DatapointsToAlarm: 1, Period: 300 }), 'Errors > 5 for 1 of 2 periods of 5 minutes')
  assert.equal(
    of({
      ComparisonOperator: 'LessThanLowerOrGreaterThanUpperThreshold',
      ThresholdMetricId: 'e',
      Metrics: [band, { Id: 'm', MetricStat: stat }],
    }),
    'Sent outside the band for 10 minutes',
  )
  assert.equal(
    of({
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      Metrics: [
        { Id: 'm', MetricStat: stat, ReturnData: false },
        { Id: 'x', Expression: 'm / 2', Period: 60 },
      ],
    }),
    'an expression < 1 for 2 minutes',
  )
})

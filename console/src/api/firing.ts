import { monitoring } from '../aws/monitoring'
import { type AnyAlarm, allTypes, conditionOf, queuesOf } from './alarm'

/** Firing is an alarm whose state is ALARM, with the queues that its metrics are about. */
export interface Firing {
  name: string
  /** condition says in words when it fires. */
  condition: string
  queues: string[]
}

interface Page {
  MetricAlarms?: AnyAlarm[]
  CompositeAlarms?: AnyAlarm[]
  NextToken?: string
}

/** firing returns the alarms that fire. */
export async function firing(signal: AbortSignal): Promise<Firing[]> {
  const alarms: AnyAlarm[] = []
  let token: string | undefined
  do {
    const input = { AlarmTypes: allTypes, StateValue: 'ALARM', MaxRecords: 100, ...(token && { NextToken: token }) }
    const page = await monitoring<Page>('DescribeAlarms', input, signal)
    alarms.push(...(page.MetricAlarms ?? []), ...(page.CompositeAlarms ?? []))
    token = page.NextToken
  } while (token)
  return alarms
    .sort((a, b) => (a.AlarmName ?? '').localeCompare(b.AlarmName ?? ''))
    .map((a) => ({ name: a.AlarmName ?? '', condition: conditionOf(a), queues: queuesOf(a) }))
}

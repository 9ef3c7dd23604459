import { monitoring } from '../aws/monitoring'
import { type AnyAlarm, allTypes, conditionOf, isComposite, queuesOf } from './alarm'

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
    .sort((a, b) => compositesLast(a, b) || (a.AlarmName ?? '').localeCompare(b.AlarmName ?? ''))
    .map((a) => ({ name: a.AlarmName ?? '', condition: conditionOf(a), queues: queuesBehind(a, alarms) }))
}

/** compositesLast puts the alarms first that say most: a rule is no more than the names of others. */
const compositesLast = (a: AnyAlarm, b: AnyAlarm) => Number(isComposite(a)) - Number(isComposite(b))

/** queuesBehind returns the queues that an alarm is about: a composite alarm those of the alarms in its rule that fire. */
export function queuesBehind(alarm: AnyAlarm, firing: AnyAlarm[]): string[] {
  const inRule = firing.filter((a) => a !== alarm && a.AlarmName && namesIn(alarm.AlarmRule).has(a.AlarmName))
  return [...new Set([alarm, ...inRule].flatMap(queuesOf))]
}

/** namesIn returns the names of the alarms in a rule. Those of ARNs are at their ends. */
function namesIn(rule = ''): Set<string> {
  const quoted = rule.matchAll(/\(\s*(?:"((?:[^"\\]|\\.)*)"|([^"\s()]+))\s*\)/g)
  return new Set([...quoted].map(([, a, b]) => (a ?? b ?? '').replace(/\\(.)/g, '$1').replace(/^arn:.*:alarm:/, '')))
}

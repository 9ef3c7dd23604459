import { allTypes, conditionOf, describe, queuesOf } from './alarms'

/** Firing is an alarm whose state is ALARM, with the queues that its metrics are about. */
export interface Firing {
  name: string
  /** condition says in words when it fires. */
  condition: string
  queues: string[]
}

/** firing returns the alarms that fire. */
export async function firing(signal: AbortSignal): Promise<Firing[]> {
  const alarms = await describe({ AlarmTypes: allTypes, StateValue: 'ALARM' }, signal)
  return alarms.map((a) => ({ name: a.AlarmName ?? '', condition: conditionOf(a), queues: queuesOf(a) }))
}

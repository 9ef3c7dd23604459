import Button from '@cloudscape-design/components/button'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { queuesOf, useAlarms } from '../../../api/alarms'
import { moreQueueMeasures, queueMeasures } from '../../../api/metrics'
import { address } from '../../../frame/router'
import { AlarmMe } from '../../../parts/alarmme'
import { plural } from '../../../parts/format'
import { Graphs, RangeField } from '../../../parts/graphs'
import type { TabProps } from '../tabs'

/** Monitoring draws the metrics of one queue. */
export default function Monitoring({ queue }: TabProps) {
  const [hours, setHours] = useState(3)
  const [alarming, setAlarming] = useState(false)
  const alarms = useAlarms()
  const mine = (alarms.data ?? []).filter((a) => queuesOf(a).includes(queue))
  return (
    <SpaceBetween size="m">
      <div className="choices">
        <RangeField hours={hours} choose={setHours} />
        <Button onClick={() => setAlarming(true)}>Quick alarm</Button>
        {mine.length > 0 && <Button href={address(['alarms'], { queue })}>{plural(mine.length, 'alarm')}</Button>}
        <Button href={address(['monitoring'], { queues: queue })}>Compare with other queues</Button>
      </div>
      <Graphs measures={[...queueMeasures, ...moreQueueMeasures]} names={[queue]} hours={hours} />
      {alarming && <AlarmMe queue={queue} close={() => setAlarming(false)} />}
    </SpaceBetween>
  )
}

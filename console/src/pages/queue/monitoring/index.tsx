import Button from '@cloudscape-design/components/button'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { queuesOf } from '../../../api/alarm'
import { useAlarms } from '../../../api/alarms'
import { moreQueueMeasures, queueMeasures } from '../../../api/metrics'
import { plural } from '../../../data/format'
import { type Range, rangeIn, rangeWords } from '../../../data/range'
import { useNarrow } from '../../../frame/narrow'
import { address, go, usePlace } from '../../../frame/router'
import { AlarmMe } from '../../../parts/alarmme'
import { Graphs } from '../../../parts/graphs'
import { SpanField } from '../../../parts/spanfield'
import type { TabProps } from '../tab'

/** Monitoring draws the metrics of one queue. */
export default function Monitoring({ queue }: TabProps) {
  const { query } = usePlace()
  const range = rangeIn(query)
  const show = (chosen: Range) => go(address(['queues', queue, 'monitoring'], rangeWords(chosen)), { replace: true })
  const narrow = useNarrow()
  const [alarming, setAlarming] = useState(false)
  const alarms = useAlarms()
  const mine = (alarms.data ?? []).filter((a) => queuesOf(a).includes(queue))
  return (
    <SpaceBetween size="m">
      <div className="choices">
        <SpanField range={range} choose={show} />
        <Button onClick={() => setAlarming(true)}>Quick alarm</Button>
        {mine.length > 0 && <Button href={address(['alarms'], { queue })}>{plural(mine.length, 'alarm')}</Button>}
        <Button href={address(['monitoring'], { queues: queue, ...rangeWords(range) })}>
          {narrow ? 'Compare' : 'Compare with other queues'}
        </Button>
      </div>
      <Graphs measures={[...queueMeasures, ...moreQueueMeasures]} names={[queue]} range={range} zoom={show} />
      {alarming && <AlarmMe queue={queue} close={() => setAlarming(false)} />}
    </SpaceBetween>
  )
}

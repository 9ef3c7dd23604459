import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useMemo, useState } from 'react'
import type { ListedQueue } from '../../api/queuestate'
import { isDenied, isLost } from '../../aws/failure'
import { count, plural } from '../../data/format'
import { later } from '../../frame/later'
import { Empty } from '../../parts/empty'
import { NoQueues } from '../../parts/noqueues'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { Time } from '../../parts/values'
import { concernsOf } from './concerns'
import { useCourses, useLook } from './look'
import { ConcernTable } from './table'
import { Totals } from './totals'

// With the SDK's client, which looking does not need.
const Dialog = later(async () => ({ default: (await import('../queues/dialogs')).Dialog }))

/** pageSize is how many rows are added at a time. */
const pageSize = 20

const noQueues: ListedQueue[] = []

/** Home is the first page: what needs attention, the worst first, or that all is well and when that was seen. */
export default function Home() {
  const [rows, setRows] = useState(pageSize)
  const [resumed, resume] = useState<ListedQueue>()
  const { queues, firing } = useLook()
  const data = queues.data
  const at = data?.pages.at(-1)?.Timestamp
  const list = useMemo(
    () => concernsOf(data?.Queues ?? noQueues, firing.data ?? [], at ?? Date.now()),
    [data, firing.data, at],
  )
  const shown = useMemo(() => list.slice(0, rows), [list, rows])
  const names = useMemo(() => shown.flatMap((c) => (c.queue?.State ? [c.name] : [])).sort(), [shown])
  const courses = useCourses(names)
  const pending = queues.isPending || firing.isPending
  const part = data && data.Queues.length < data.Total
  const sums = data?.pages.at(-1)?.Sums
  // Of more queues those that need attention most were looked at closely: if all of these do, others may.
  const open = part && sums && list.length >= data.Queues.length

  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        counter={list.length > 0 ? `(${count(list.length)}${open ? '+' : ''})` : ''}
        actions={<Refresh />}
        description={
          data && (
            <>
              {part && !sums
                ? `${count(data.Queues.length)} of ${count(data.Total)} queues`
                : plural(data.Total, 'queue')}{' '}
              checked at <Time at={at} />.{part && !sums && ' They are the first by name.'}
            </>
          )
        }
      >
        What needs attention
      </Header>
      {isLost(queues.error, data) && (
        <Problem error={queues.error} what="The queues cannot be shown" retry={() => void queues.refetch()} />
      )}
      {isDenied(queues.error) && <Button href="#/queues">See the list of queues</Button>}
      {isLost(firing.error, firing.data) && (
        <Problem error={firing.error} what="The alarms cannot be shown" retry={() => void firing.refetch()} />
      )}
      {sums && data.Total > 0 && <Totals sums={sums} />}
      {data?.Total === 0 && list.length === 0 && <NoQueues />}
      {(pending || list.length > 0) && (
        <ConcernTable concerns={shown} courses={courses} loading={pending && list.length === 0} resume={resume} />
      )}
      {!pending && data && data.Total > 0 && list.length === 0 && <Well firing={firing.data !== undefined} at={at} />}
      {list.length > rows && (
        <Box textAlign="center">
          <Button
            onClick={() => setRows(rows + pageSize)}
          >{`Show ${Math.min(pageSize, list.length - rows)} more`}</Button>
        </Box>
      )}
      {resumed && <Dialog action="resume" queues={[resumed]} close={() => resume(undefined)} />}
    </SpaceBetween>
  )
}

/** Well says that nothing needs attention, and when that was so. */
function Well({ firing, at }: { firing: boolean; at: number | undefined }) {
  return (
    <Empty title="All is well">
      <StatusIndicator type="success">
        No queue needs attention{firing && ' and no alarm fires'}, as of <Time at={at} />.
      </StatusIndicator>
    </Empty>
  )
}

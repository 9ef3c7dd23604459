import Button from '@cloudscape-design/components/button'
import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import Table, { type TableProps } from '@cloudscape-design/components/table'
import { memo, useMemo } from 'react'
import type { ListedQueue } from '../../api/queuestate'
import { count } from '../../data/format'
import { left } from '../../data/growth'
import { useCards, useWide } from '../../frame/narrow'
import { address } from '../../frame/router'
import { Sparkline } from '../../parts/sparkline'
import { Absent, Said, Words } from '../../parts/values'
import type { Concern } from './concerns'

interface ConcernTableProps {
  concerns: Concern[]
  /** courses are how many messages were in the queues, by their names. */
  courses: Map<string, number[]> | undefined
  loading: boolean
  resume: (queue: ListedQueue) => void
}

/** ConcernTable lists what needs attention. */
export const ConcernTable = memo(function ConcernTable({ concerns, courses, loading, resume }: ConcernTableProps) {
  const narrow = useCards()
  const wide = useWide()
  const alarms = wide && concerns.some((c) => c.alarms.length > 0)
  const columns = useMemo(() => columnsOf(courses, alarms, resume), [courses, alarms, resume])
  const cards = useMemo(() => cardsOf(resume), [resume])
  return (
    <Table
      variant="container"
      wrapLines
      items={concerns}
      trackBy="href"
      loading={loading}
      loadingText="Checking queues and alarms"
      columnDefinitions={narrow ? cards : columns}
      ariaLabels={{ tableLabel: 'What needs attention' }}
      empty=""
    />
  )
})

type Column = TableProps.ColumnDefinition<Concern>

function columnsOf(
  courses: Map<string, number[]> | undefined,
  alarms: boolean,
  resume: (queue: ListedQueue) => void,
): Column[] {
  const alarm: Column = { id: 'alarms', header: 'Alarm', minWidth: 140, cell: (c) => <Alarms concern={c} /> }
  return [
    { id: 'name', header: 'Queue or alarm', isRowHeader: true, minWidth: 150, cell: (c) => <Name concern={c} /> },
    { id: 'why', header: 'Why', cell: (c) => <Why concern={c} more={!alarms} />, minWidth: 260 },
    { id: 'trend', header: 'Trend', minWidth: 120, cell: (c) => <Trend concern={c} course={courses?.get(c.name)} /> },
    ...(alarms ? [alarm] : []),
    { id: 'action', header: 'Next', minWidth: 170, cell: (c) => <Action concern={c} resume={resume} /> },
  ]
}

/** cardsOf are the columns on a phone. */
const cardsOf = (resume: (queue: ListedQueue) => void): Column[] => [
  {
    id: 'name',
    header: 'Queue or alarm',
    isRowHeader: true,
    cell: (c) => (
      <div className="queue-card">
        <Name concern={c} />
        <Why concern={c} more />
        <div>
          <Action concern={c} resume={resume} />
        </div>
      </div>
    ),
  },
]

function Name({ concern }: { concern: Concern }) {
  return (
    <Link href={concern.href}>
      <Words text={concern.name} />
    </Link>
  )
}

/** Why says what is wrong, and more the names of its alarms, where they have no column. */
function Why({ concern, more }: { concern: Concern; more: boolean }) {
  return (
    <div className="why">
      <StatusIndicator type={concern.type} iconAriaLabel={kinds[concern.type]} />
      <div className="queue-card">
        <Said text={concern.why} />
        {more && concern.alarms.length > 0 && <Alarms concern={concern} />}
      </div>
    </div>
  )
}

/** kinds are the names of the icons, for screen readers. */
const kinds: Record<Concern['type'], string> = { error: 'Error', warning: 'Warning', stopped: 'Paused' }

/** Trend is what came and went in the last minute, below how many messages there were in the last hours. */
function Trend({ concern, course }: { concern: Concern; course: number[] | undefined }) {
  const minute = concern.queue?.State?.LastMinute
  const drawn = course && course.length > 1
  if (!minute && !drawn) {
    return <Absent />
  }
  return (
    <div className="queue-card">
      {drawn && <Sparkline values={course} length={course.length} label="Messages available in the last 3 hours" />}
      {minute && (
        <span className="quiet">
          {count(minute.Sent)} in, {count(left(minute))} out a minute
        </span>
      )}
    </div>
  )
}

function Alarms({ concern }: { concern: Concern }) {
  if (concern.alarms.length === 0) {
    return <Absent />
  }
  return (
    <div className="alarms">
      {concern.alarms.slice(0, 3).map((name) => (
        <div key={name} className="why">
          <StatusIndicator type="error" iconAriaLabel="In alarm" />
          <Link href={address(['alarms', name])}>
            <Words text={name} />
          </Link>
        </div>
      ))}
      {concern.alarms.length > 3 && <span className="quiet">and {count(concern.alarms.length - 3)} more</span>}
    </div>
  )
}

function Action({ concern, resume }: { concern: Concern; resume: (queue: ListedQueue) => void }) {
  const { queue } = concern
  const { text, href } = concern.action
  const label = `${text}: ${concern.name}`
  return href ? (
    <Button href={href} ariaLabel={label} wrapText={false}>
      {text}
    </Button>
  ) : (
    <Button ariaLabel={label} wrapText={false} onClick={() => queue && resume(queue)}>
      {text}
    </Button>
  )
}

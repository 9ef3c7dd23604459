import Badge from '@cloudscape-design/components/badge'
import Link from '@cloudscape-design/components/link'
import Popover from '@cloudscape-design/components/popover'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import type { TableProps } from '@cloudscape-design/components/table'
import { address } from '../../frame/router'
import { plural, rate } from '../../parts/format'
import { type ListedQueue, nameOf, type QueueState } from '../../parts/queues'
import { Sparkline } from '../../parts/sparkline'
import { Absent, Ago, Num, Said, Time } from '../../parts/values'
import type { RateOf } from './rates'

/** health says in a few words what a person should know of a queue. */
export function health(state: QueueState): {
  type: 'success' | 'warning' | 'info' | 'stopped' | 'pending'
  text: string
} {
  if (state.Paused) {
    return { type: 'stopped', text: 'Paused' }
  }
  if (state.DeadLetters) {
    return { type: 'warning', text: plural(state.DeadLetters, 'dead letter') }
  }
  if (state.DeadLetterSources > 0 && state.Visible + state.InFlight > 0) {
    return { type: 'warning', text: `Has ${plural(state.Visible + state.InFlight, 'dead letter')}` }
  }
  const recent = Date.now() - 60_000
  const consumed = state.WaitingReceives > 0 || (state.LastReceiveTimestamp ?? 0) > recent
  if (state.Visible > 0 && !consumed) {
    return { type: 'warning', text: 'No consumer' }
  }
  if (state.Visible > 0 && !state.Receivable) {
    return { type: 'pending', text: 'Waiting' }
  }
  if (state.Visible + state.InFlight + state.Delayed === 0) {
    return { type: 'info', text: 'Empty' }
  }
  return { type: 'success', text: 'Working' }
}

function Health({ state }: { state: QueueState }) {
  const { type, text } = health(state)
  const indicator = <StatusIndicator type={type}>{text}</StatusIndicator>
  const reasons = state.Reasons.filter((r) => r.Code !== 'Empty')
  if (reasons.length === 0) {
    return indicator
  }
  return (
    <Popover
      header="Why nothing more is received"
      content={reasons.map((r) => (
        <div key={r.Code}>
          <Said text={r.Text} />
        </div>
      ))}
      triggerType="text"
      dismissButton={false}
    >
      {indicator}
    </Popover>
  )
}

/** seen is what is known of a queue: all, or what SQS tells. */
const seen = (q: ListedQueue): Partial<QueueState> | undefined => q.State ?? q.Counted

type Column = TableProps.ColumnDefinition<ListedQueue> & { name: string }

/** columns are those that the table of queues can show. Sorting is the page's: it knows whether it has all queues. */
export function columns(rates: RateOf): Column[] {
  type Value = (s: Partial<QueueState>) => number | undefined
  const valueIn = (q: ListedQueue, of: Value) => {
    const s = seen(q)
    return s && of(s)
  }
  const number = (id: string, name: string, of: Value): Column => ({
    id,
    name,
    header: name.replace(/^Messages (.)/, (_, c: string) => c.toUpperCase()),
    cell: (q) => <Num value={valueIn(q, of)} />,
    sortingComparator: (a, b) => (valueIn(a, of) ?? -1) - (valueIn(b, of) ?? -1),
    width: 130,
    minWidth: 90,
  })
  const moment = (id: string, name: string, of: Value, past: boolean): Column => ({
    id,
    name,
    header: name,
    cell: (q) => (past ? <Ago at={valueIn(q, of)} /> : <Time at={valueIn(q, of)} />),
    sortingComparator: (a, b) => (valueIn(a, of) ?? 0) - (valueIn(b, of) ?? 0),
    width: past ? 150 : 190,
  })
  const flow = (id: 'in' | 'out', name: string): Column => ({
    id,
    name,
    header: name,
    cell: (q) => {
      const values = rates(q.QueueName, id)
      const now = values.at(-1)
      return now === undefined ? (
        <Absent />
      ) : (
        <span className="flow">
          <Sparkline values={values} label={`${name}, lately`} />
          <span className="number">{rate(now)}</span>
        </span>
      )
    },
    width: 170,
  })
  return [
    {
      id: 'name',
      name: 'Name',
      header: 'Name',
      cell: (q) => (
        <Link href={address(['queues', q.QueueName])}>
          <span className="break">{q.QueueName}</span>
        </Link>
      ),
      sortingField: 'QueueName',
      isRowHeader: true,
      minWidth: 200,
      width: 240,
    },
    {
      id: 'type',
      name: 'Type',
      header: 'Type',
      cell: (q) => (q.Fifo ? <Badge color="blue">FIFO</Badge> : 'Standard'),
      sortingComparator: (a, b) => Number(a.Fifo) - Number(b.Fifo),
      width: 110,
    },
    {
      id: 'health',
      name: 'State',
      header: 'State',
      cell: (q) =>
        q.State ? (
          <Health state={q.State} />
        ) : q.Unavailable ? (
          <StatusIndicator type="error">Not known now</StatusIndicator>
        ) : (
          <Absent />
        ),
      width: 195,
    },
    number('visible', 'Messages available', (s) => s.Visible),
    number('inflight', 'Messages in flight', (s) => s.InFlight),
    number('delayed', 'Messages delayed', (s) => s.Delayed),
    moment('oldest', 'Oldest message', (s) => s.OldestMessageTimestamp, true),
    flow('in', 'Sent'),
    flow('out', 'Deleted'),
    {
      id: 'dlq',
      name: 'Dead-letter queue',
      header: 'Dead-letter queue',
      cell: (q) => {
        const letters = seen(q)?.DeadLetterQueueArn
        return letters ? (
          <Link href={address(['queues', nameOf(letters)])}>
            <span className="break">{nameOf(letters)}</span>
          </Link>
        ) : (
          <Absent />
        )
      },
      width: 200,
    },
    number('deadletters', 'Dead letters', (s) => s.DeadLetters),
    moment('lastsend', 'Last send', (s) => s.LastSendTimestamp, true),
    moment('lastreceive', 'Last receive', (s) => s.LastReceiveTimestamp, true),
    number('waiting', 'Waiting receives', (s) => s.WaitingReceives),
    moment('created', 'Created', (s) => s.CreatedTimestamp, false),
    {
      id: 'encryption',
      name: 'Encryption',
      header: 'Encryption',
      cell: (q) => seen(q)?.Encryption ?? <Absent />,
      width: 130,
    },
    {
      id: 'dedup',
      name: 'Content-based deduplication',
      header: 'Content-based deduplication',
      cell: (q) => (seen(q) && q.Fifo ? seen(q)?.ContentBasedDeduplication ? 'Enabled' : 'Disabled' : <Absent />),
      width: 170,
    },
  ]
}

/** comparators order queues by a column. */
export const comparators = new Map(columns(() => []).map((c) => [c.id, c.sortingComparator]))

/** firstColumns are shown until a person chooses others. */
export const firstColumns = ['name', 'type', 'health', 'visible', 'inflight', 'delayed', 'oldest', 'in', 'out', 'dlq']

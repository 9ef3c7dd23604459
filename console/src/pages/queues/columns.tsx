import Badge from '@cloudscape-design/components/badge'
import Link from '@cloudscape-design/components/link'
import Popover from '@cloudscape-design/components/popover'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import type { TableProps } from '@cloudscape-design/components/table'
import { nameOf } from '../../api/queues'
import type { ListedQueue, QueueState } from '../../api/queuestate'
import { count, rate } from '../../data/format'
import { health } from '../../data/health'
import { address } from '../../frame/router'
import { Sparkline } from '../../parts/sparkline'
import { Absent, Ago, Num, Said, Time, Words } from '../../parts/values'
import type { RateOf } from './rates'

/** HealthOf shows the state of a queue, with the reason if nothing more is received. */
function HealthOf({ state }: { state: QueueState }) {
  const { type, text } = health(state)
  if (type === 'empty') {
    return <span className="quiet">{text}</span>
  }
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

function StateOf({ queue: q }: { queue: ListedQueue }) {
  if (q.State) {
    return <HealthOf state={q.State} />
  }
  return q.Unavailable ? <StatusIndicator type="error">Not known now</StatusIndicator> : <Absent />
}

/** seen is the known part of a queue's state: all of it, or SQS's counts. */
const seen = (q: ListedQueue): Partial<QueueState> | undefined => q.State ?? q.Counted

/** Column is a column that the table of queues can show; orderBy is what the server calls its order. */
type Column = TableProps.ColumnDefinition<ListedQueue> & { name: string; orderBy?: string }

/** columns are those that the table of queues can show. */
export function columns(rates: RateOf): Column[] {
  type Value = (s: Partial<QueueState>) => number | undefined
  const valueIn = (q: ListedQueue, of: Value) => {
    const s = seen(q)
    return s && of(s)
  }
  const number = (id: string, name: string, orderBy: string, of: Value): Column => ({
    id,
    name,
    header: name.replace(/^Messages (.)/, (_, c: string) => c.toUpperCase()),
    cell: (q) => <Num value={valueIn(q, of)} />,
    orderBy,
    width: id === 'visible' ? 140 : 125,
    minWidth: 90,
  })
  const moment = (id: string, name: string, orderBy: string, of: Value, past: boolean): Column => ({
    id,
    name,
    header: name.replace(/ message$/, ''),
    cell: (q) => (past ? <Ago at={valueIn(q, of)} brief /> : <Time at={valueIn(q, of)} />),
    orderBy,
    width: past ? 115 : 190,
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
    width: 112,
  })
  return [
    {
      id: 'name',
      name: 'Name',
      header: 'Name',
      cell: (q) => (
        <Link href={address(['queues', q.QueueName])}>
          <span className="whole-name">
            <Words text={q.QueueName} />
          </span>
        </Link>
      ),
      orderBy: 'QueueName',
      isRowHeader: true,
      minWidth: 160,
      width: 200,
    },
    {
      id: 'type',
      name: 'Type',
      header: 'Type',
      cell: (q) => (q.Fifo ? <Badge color="blue">FIFO</Badge> : 'Standard'),
      orderBy: 'Fifo',
      width: 110,
    },
    {
      id: 'health',
      name: 'State',
      header: 'State',
      cell: (q) => <StateOf queue={q} />,
      orderBy: 'Attention',
      width: 225,
    },
    number('visible', 'Messages available', 'Visible', (s) => s.Visible),
    number('inflight', 'Messages in flight', 'InFlight', (s) => s.InFlight),
    number('delayed', 'Messages delayed', 'Delayed', (s) => s.Delayed),
    moment('oldest', 'Oldest message', 'OldestMessageTimestamp', (s) => s.OldestMessageTimestamp, true),
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
            <Words text={nameOf(letters)} />
          </Link>
        ) : (
          <Absent />
        )
      },
      width: 200,
    },
    number('deadletters', 'Dead letters', 'DeadLetters', (s) => s.DeadLetters),
    moment('lastsend', 'Last send', 'LastSendTimestamp', (s) => s.LastSendTimestamp, true),
    moment('lastreceive', 'Last receive', 'LastReceiveTimestamp', (s) => s.LastReceiveTimestamp, true),
    number('waiting', 'Waiting receives', 'WaitingReceives', (s) => s.WaitingReceives),
    moment('created', 'Created', 'CreatedTimestamp', (s) => s.CreatedTimestamp, false),
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

/** card is the only column on a phone: the queue with its state and its most important numbers. */
export const card: Column = {
  id: 'name',
  name: 'Name',
  header: 'Queue',
  isRowHeader: true,
  cell: (q) => {
    const s = seen(q)
    return (
      <div className="queue-card">
        <Link href={address(['queues', q.QueueName])}>
          <Words text={q.QueueName} />
        </Link>
        <StateOf queue={q} />
        {s?.Visible !== undefined && (
          <span className="quiet">
            {count(s.Visible)} available, {count(s.InFlight ?? 0)} in flight
            {s.OldestMessageTimestamp !== undefined && (
              <>
                , oldest <Ago at={s.OldestMessageTimestamp} />
              </>
            )}
          </span>
        )}
      </div>
    )
  },
}

/** orders are what the server calls the orders by each column. */
export const orders = new Map(columns(() => []).flatMap((c) => (c.orderBy ? [[c.id ?? '', c.orderBy]] : [])))

/** firstColumns are shown until a person chooses others, fewFirst where the window has no room for more. */
export const fewFirst = ['name', 'health', 'visible', 'oldest', 'in', 'out']
export const firstColumns = ['name', 'health', 'visible', 'oldest', 'inflight', 'in', 'out', 'dlq', 'delayed', 'type']

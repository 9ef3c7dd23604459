import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import type { TableProps } from '@cloudscape-design/components/table'
import { bytes } from './format'
import { type Message, stateWords } from './message'
import { nameOf } from './queues'
import { Ago, Num, Time } from './values'

type Column = TableProps.ColumnDefinition<Message>

const stateTypes = { Visible: 'success', InFlight: 'in-progress', Delayed: 'pending' } as const

const columns = {
  body: {
    id: 'body',
    header: 'Body',
    width: 380,
    cell: (m) => <span className="code preview">{m.Body?.slice(0, 300)}</span>,
  },
  state: {
    id: 'state',
    header: 'State',
    width: 130,
    cell: (m) => m.State && <StatusIndicator type={stateTypes[m.State]}>{stateWords[m.State]}</StatusIndicator>,
  },
  source: {
    id: 'source',
    header: 'Came from',
    width: 180,
    cell: (m) => m.DeadLetterQueueSourceArn && nameOf(m.DeadLetterQueueSourceArn),
  },
  sent: { id: 'sent', header: 'Sent', width: 210, cell: (m) => <Time at={m.SentTimestamp} /> },
  until: { id: 'until', header: 'Available', width: 145, cell: (m) => <Ago at={m.InvisibleUntil} /> },
  count: { id: 'count', header: 'Receive count', width: 125, cell: (m) => <Num value={m.ReceiveCount} /> },
  size: { id: 'size', header: 'Size', width: 110, cell: (m) => <span className="number">{bytes(m.Size ?? 0)}</span> },
  group: { id: 'group', header: 'Message Group ID', width: 160, cell: (m) => m.MessageGroupId },
  dedup: { id: 'dedup', header: 'Message Deduplication ID', width: 200, cell: (m) => m.MessageDeduplicationId },
  sequence: { id: 'sequence', header: 'Sequence Number', width: 200, cell: (m) => m.SequenceNumber },
  attributes: {
    id: 'attributes',
    header: 'Attributes',
    width: 200,
    cell: (m) => (
      <span className="code preview">
        {Object.entries(m.MessageAttributes ?? {})
          .map(([name, a]) => `${name}=${a.StringValue ?? `(${a.DataType})`}`)
          .join(' ')}
      </span>
    ),
  },
} satisfies Record<string, Column>

/** messageColumns returns the columns of a table of messages: the message's ID, which opens it, and those that are named. */
export function messageColumns<M extends Message>(
  open: (message: M) => void,
  names: (keyof typeof columns)[],
): TableProps.ColumnDefinition<M>[] {
  return [
    {
      id: 'id',
      header: 'ID',
      isRowHeader: true,
      width: 130,
      cell: (m) => (
        <Link
          href="#"
          ariaLabel={`Message ${m.MessageId}`}
          onFollow={(e) => {
            e.preventDefault()
            open(m)
          }}
        >
          {m.MessageId.slice(0, 8)}…
        </Link>
      ),
    },
    ...names.map((name) => columns[name]),
  ]
}

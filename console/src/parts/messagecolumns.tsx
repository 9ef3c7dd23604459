import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import type { TableProps } from '@cloudscape-design/components/table'
import type { Message } from '../api/message'
import { nameOf } from '../api/queues'
import { readable } from '../data/decode'
import { previewOf } from '../data/filterwords'
import { bytes } from '../data/format'
import { Marked } from './marked'
import { stateWords } from './message'
import { Ago, Num, Time } from './values'

type Column = TableProps.ColumnDefinition<Message>

const stateTypes = { Visible: 'success', InFlight: 'in-progress', Delayed: 'pending' } as const

/** Preview is a line of a text, with what a search looked for. */
function Preview({ text = '', words }: { text: string | undefined; words: string[] }) {
  return (
    <span className="code preview">
      <Marked text={previewOf(readable(text), words)} words={words} />
    </span>
  )
}

/** MessagePreview is a line of a message's body, or says that it cannot be decrypted. */
function MessagePreview({ message: m, words }: { message: Message; words: string[] }) {
  return m.Unreadable ? (
    <StatusIndicator type="error">Cannot be decrypted</StatusIndicator>
  ) : (
    <Preview text={m.Body} words={words} />
  )
}

const columns = {
  body: {
    id: 'body',
    header: 'Body',
    width: 350,
    cell: (m) => <MessagePreview message={m} words={[]} />,
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
  sent: { id: 'sent', header: 'Sent', width: 195, cell: (m) => <Time at={m.SentTimestamp} /> },
  until: { id: 'until', header: 'Visible again', width: 145, cell: (m) => <Ago at={m.InvisibleUntil} /> },
  count: { id: 'count', header: 'Receive count', width: 145, cell: (m) => <Num value={m.ReceiveCount} /> },
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

/** messageColumns returns the columns of a table of messages: the ID, which opens the message, and those that are named. */
export function messageColumns<M extends Message>(
  open: (message: M) => void,
  names: (keyof typeof columns)[],
  words: string[] = [],
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
    ...names.map((name) =>
      name === 'body'
        ? { ...columns.body, cell: (m: M) => <MessagePreview message={m} words={words} /> }
        : columns[name],
    ),
  ]
}

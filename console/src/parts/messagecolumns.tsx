import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import type { TableProps } from '@cloudscape-design/components/table'
import { useMemo } from 'react'
import type { Message } from '../api/message'
import { nameOf } from '../api/queues'
import { readable } from '../data/decode'
import { previewOf } from '../data/filterwords'
import { bytes } from '../data/format'
import { useCards, useWide } from '../frame/narrow'
import { Marked } from './marked'
import { stateWords } from './message'
import { Ago, Num, Time } from './values'

type Column = TableProps.ColumnDefinition<Message>

/** Preview is a line of a text, with what a search looked for. */
function Preview({ text = '', words }: { text: string | undefined; words: string[] }) {
  return (
    <span className="code preview whole">
      <Marked text={previewOf(readable(text), words)} words={words} />
    </span>
  )
}

/** attributesOf writes the attributes of a message in a line. */
const attributesOf = (m: Message) =>
  Object.entries(m.MessageAttributes ?? {})
    .map(([name, a]) => `${name}=${a.StringValue ?? `(${a.DataType})`}`)
    .join(' ')

/** MessagePreview is a line of a message's body and one of its attributes, or says that it cannot be decrypted. */
function MessagePreview({ message: m, words }: { message: Message; words: string[] }) {
  if (m.Unreadable) {
    return <StatusIndicator type="error">Cannot be decrypted</StatusIndicator>
  }
  const attributes = attributesOf(m)
  return (
    <>
      <Preview text={m.Body} words={words} />
      {attributes && (
        <span className="code preview whole quiet">
          <Marked text={attributes} words={words} />
        </span>
      )}
    </>
  )
}

/** StateOf is the state of a message, and when it is visible again. Most are available, which needs no sign. */
function StateOf({ message: { State, InvisibleUntil } }: { message: Message }) {
  if (!State || State === 'Visible') {
    return State && stateWords[State]
  }
  return (
    <>
      <StatusIndicator type={State === 'InFlight' ? 'in-progress' : 'pending'}>{stateWords[State]}</StatusIndicator>
      {InvisibleUntil !== undefined && (
        <div className="quiet">
          back <Ago at={InvisibleUntil} brief />
        </div>
      )}
    </>
  )
}

const columns = {
  state: { id: 'state', header: 'State', width: 140, cell: (m) => <StateOf message={m} /> },
  source: {
    id: 'source',
    header: 'Came from',
    width: 180,
    cell: (m) => m.DeadLetterQueueSourceArn && nameOf(m.DeadLetterQueueSourceArn),
  },
  sent: { id: 'sent', header: 'Sent', width: 190, cell: (m) => <Time at={m.SentTimestamp} /> },
  age: { id: 'age', header: 'Age', width: 90, cell: (m) => <Ago at={m.SentTimestamp} brief /> },
  count: { id: 'count', header: 'Receive count', width: 165, cell: (m) => <Num value={m.ReceiveCount} /> },
  size: { id: 'size', header: 'Size', width: 110, cell: (m) => <span className="number">{bytes(m.Size ?? 0)}</span> },
  dedup: { id: 'dedup', header: 'Message Deduplication ID', width: 200, cell: (m) => m.MessageDeduplicationId },
  sequence: { id: 'sequence', header: 'Sequence Number', width: 200, cell: (m) => m.SequenceNumber },
} satisfies Record<string, Column>

interface ColumnsInput<M> {
  /** open shows a message. */
  open: (message: M) => void
  /** names are the columns between the ID and the body, wide those where the window is. */
  names: (keyof typeof columns)[]
  wide: (keyof typeof columns)[]
  /** grouped says that the messages have message groups. */
  grouped?: boolean
  /** words are marked in bodies. */
  words?: string[]
}

/**
 * useMessageColumns returns the columns of a table of messages: the ID, which opens the message, those that are named, and the body,
 * which has the room that is left.
 */
export function useMessageColumns<M extends Message>(input: ColumnsInput<M>): TableProps.ColumnDefinition<M>[] {
  const { open, grouped = false, words = none } = input
  const cards = useCards()
  const names = (useWide() ? input.wide : input.names).join()
  return useMemo(() => {
    const id: TableProps.ColumnDefinition<M> = {
      id: 'id',
      header: grouped ? 'ID and group' : 'ID',
      isRowHeader: true,
      width: grouped ? 150 : 130,
      cell: (m) => (
        <>
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
          {grouped && (
            <span className="preview whole quiet" title={m.MessageGroupId}>
              {m.MessageGroupId}
            </span>
          )}
        </>
      ),
    }
    const body: TableProps.ColumnDefinition<M> = {
      id: 'body',
      header: 'Body',
      width: 240,
      minWidth: 180,
      cell: (m) => <MessagePreview message={m} words={words} />,
    }
    const others = names.split(',').map((name) => columns[name as keyof typeof columns])
    return cards ? [id, body, ...others] : [id, ...others, body]
  }, [open, names, grouped, words, cards])
}

const none: string[] = []

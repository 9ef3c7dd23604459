import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Modal from '@cloudscape-design/components/modal'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import Tabs from '@cloudscape-design/components/tabs'
import { type ReactNode, useEffect, useState } from 'react'
import type { Attribute, Message } from '../api/message'
import { fromBase64, hex, type Reading, readings } from '../data/decode'
import { bytes } from '../data/format'
import { Copy } from './copy'
import { Marked } from './marked'
import { Pairs } from './pairs'
import { Rows } from './rows'
import { Absent, Time } from './values'

/** stateWords are what the states of messages are called. */
export const stateWords = { Visible: 'Available', InFlight: 'In flight', Delayed: 'Delayed' } as const

/** unreadableText is shown in place of a message that cannot be decrypted. */
export const unreadableText = 'Cannot be decrypted: its key is missing, or the message was changed.'

/** Body shows a body in a way that can be read, as text and nothing else. */
export function Body({
  body,
  unreadable = false,
  words = [],
}: {
  body: string | undefined
  unreadable?: boolean
  words?: string[]
}) {
  const [ways, setWays] = useState<Reading[]>([])
  const [chosen, setChosen] = useState<string>()
  useEffect(() => {
    let gone = false
    if (body !== undefined) {
      void readings(body).then((found) => !gone && setWays(found))
    }
    return () => {
      gone = true
    }
  }, [body])
  if (unreadable) {
    return <StatusIndicator type="error">{unreadableText}</StatusIndicator>
  }
  if (body === undefined) {
    return (
      <Box color="text-body-secondary">The body is not shown: this requires the permission sluice:PeekMessageBody.</Box>
    )
  }
  const way = ways.find((w) => w.id === chosen) ?? ways[0] ?? { id: '', label: '', text: body }
  return (
    <SpaceBetween size="s">
      <div className="row">
        {ways.length > 1 && (
          <Select
            ariaLabel="Read the body as"
            selectedOption={{ value: way.id, label: way.label }}
            options={ways.map((w) => ({ value: w.id, label: w.label }))}
            onChange={({ detail }) => setChosen(detail.selectedOption.value)}
          />
        )}
        <Copy text={body} label="Copy body" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <pre className="code body" tabIndex={0}>
        <Marked text={way.text} words={words} />
      </pre>
    </SpaceBetween>
  )
}

/** AttributesTable lists message attributes with their types and sizes. */
export function AttributesTable({ attributes }: { attributes: Record<string, Attribute> }) {
  const rows = Object.entries(attributes).map(([name, a]) => ({ name, ...a }))
  return (
    <Rows
      variant="embedded"
      items={rows}
      trackBy="name"
      ariaLabels={{ tableLabel: 'Message attributes' }}
      empty="The message has no attributes."
      wrapLines
      columnDefinitions={[
        {
          id: 'name',
          header: 'Name',
          cell: (a) => <span className="break">{a.name}</span>,
          isRowHeader: true,
          width: 180,
          minWidth: 130,
        },
        { id: 'type', header: 'Type', cell: (a) => a.DataType, width: 130 },
        {
          id: 'value',
          header: 'Value',
          cell: (a) => {
            const binary = a.BinaryValue === undefined ? undefined : fromBase64(a.BinaryValue)
            return binary ? (
              <>
                <pre className="code break">{a.BinaryValue}</pre>
                <pre className="code hex">{hex(binary, 16)}</pre>
              </>
            ) : (
              <pre className="code">{a.StringValue}</pre>
            )
          },
        },
        {
          id: 'size',
          header: 'Size',
          width: 110,
          cell: (a) => {
            const value =
              a.BinaryValue === undefined
                ? new Blob([a.StringValue ?? '']).size
                : (fromBase64(a.BinaryValue)?.length ?? 0)
            return <span className="number">{bytes(value)}</span>
          },
        },
      ]}
    />
  )
}

/** MessageDetails shows all of one message. */
export function MessageDetails({
  message: m,
  close,
  actions,
  words = [],
}: {
  message: Message
  /** words are marked in the body. */
  words?: string[]
  close: () => void
  actions?: ReactNode
}) {
  const attributes = m.MessageAttributes ?? {}
  const n = Object.keys(attributes).length
  const code = (text: string | undefined) => (text === undefined ? <Absent /> : <span className="break">{text}</span>)
  const time = (at: number | undefined) => <Time at={at} millis />
  const pairs = [
    { label: 'ID', value: code(m.MessageId) },
    m.State && { label: 'State', value: stateWords[m.State] },
    { label: 'Size', value: m.Size === undefined ? <Absent /> : bytes(m.Size) },
    { label: 'MD5 of message body', value: code(m.MD5OfBody) },
    m.MD5OfMessageAttributes && { label: 'MD5 of message attributes', value: code(m.MD5OfMessageAttributes) },
    { label: 'Sender account', value: code(m.SenderId) },
    { label: 'Sent', value: time(m.SentTimestamp) },
    { label: 'First received', value: time(m.FirstReceiveTimestamp) },
    { label: 'Receive count', value: m.ReceiveCount ?? <Absent /> },
    m.InvisibleUntil !== undefined && { label: 'Hidden until', value: time(m.InvisibleUntil) },
    m.MessageGroupId && { label: 'Message group ID', value: code(m.MessageGroupId) },
    m.MessageDeduplicationId && { label: 'Message deduplication ID', value: code(m.MessageDeduplicationId) },
    m.SequenceNumber && { label: 'Sequence number', value: code(m.SequenceNumber) },
    m.AWSTraceHeader && { label: 'Trace header', value: code(m.AWSTraceHeader) },
    m.DeadLetterQueueSourceArn && { label: 'Dead letter of', value: code(m.DeadLetterQueueSourceArn) },
  ].filter((pair) => pair !== false && pair !== undefined && pair !== '')
  return (
    <Modal
      visible
      size="large"
      header="Message details"
      onDismiss={close}
      footer={
        <div className="flow">
          {actions}
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        </div>
      }
    >
      <Tabs
        ariaLabel="Parts of the message"
        tabs={[
          { id: 'body', label: 'Body', content: <Body body={m.Body} unreadable={m.Unreadable} words={words} /> },
          { id: 'details', label: 'Details', content: <Pairs columns={2} items={pairs} /> },
          { id: 'attributes', label: `Attributes (${n})`, content: <AttributesTable attributes={attributes} /> },
        ]}
      />
    </Modal>
  )
}

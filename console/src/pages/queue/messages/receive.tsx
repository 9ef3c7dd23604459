import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Link from '@cloudscape-design/components/link'
import ProgressBar from '@cloudscape-design/components/progress-bar'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { refused, useRefusals } from '../../../api/access'
import { keys } from '../../../api/keys'
import type { Message } from '../../../api/message'
import { deleteReceived, putBack, type Received, receiveMessages } from '../../../api/messages'
import { toBase64 } from '../../../data/decode'
import { duration, plural } from '../../../data/format'
import { notify, notifyError } from '../../../frame/notices'
import { address } from '../../../frame/router'
import { Confirm } from '../../../parts/confirm'
import { Empty } from '../../../parts/empty'
import { MessageDetails } from '../../../parts/message'
import { useMessageColumns } from '../../../parts/messagecolumns'
import { Rows } from '../../../parts/rows'
import { useNow } from '../../../parts/values'
import type { TabProps } from '../tab'

interface Held extends Message {
  handle: string
  /** until is when its visibility timeout ends. */
  until: number
}

/** Receive is a consumer: what it shows is in flight, and no other consumer gets it. */
export function Receive({ queue, fifo }: TabProps) {
  const refusals = useRefusals([queue])
  const client = useQueryClient()
  const [poll, setPoll] = useState({ seconds: '30', messages: '10', visibility: '30' })
  const [editing, setEditing] = useState(false)
  const [running, setRunning] = useState<{ from: number; until: number; visibility: number; stop: AbortController }>()
  const [held, setHeld] = useState<Held[]>([])
  const [polled, setPolled] = useState(false)
  const [chosen, setChosen] = useState<Held[]>([])
  const [shown, setShown] = useState<Message>()
  const columns = useMessageColumns({
    open: setShown,
    names: ['age', 'count', 'size'],
    wide: ['sent', 'count', 'size', ...(fifo ? (['dedup', 'sequence'] as const) : [])],
    grouped: fifo,
  })
  const [asking, setAsking] = useState(false)
  const now = useNow(held.length > 0 || running !== undefined)
  const stop = useRef<AbortController>(null)
  useEffect(() => () => stop.current?.abort(), [])

  async function start() {
    const [seconds, most, visibility] = [Number(poll.seconds), Number(poll.messages), Number(poll.visibility)]
    const controller = new AbortController()
    stop.current = controller
    const from = Date.now()
    setRunning({ from, until: from + seconds * 1000, visibility, stop: controller })
    setHeld([])
    setChosen([])
    setPolled(true)
    try {
      await receive(queue, { seconds, most, visibility }, controller.signal, (message) => {
        setHeld((old) => [...old.filter((m) => m.MessageId !== message.MessageId), message])
      })
    } catch (error) {
      if (!controller.signal.aborted) {
        notifyError(error, 'Not received')
      }
    } finally {
      setRunning(undefined)
      await client.invalidateQueries({ queryKey: keys.queueState(queue) })
    }
  }

  async function remove() {
    for (let i = 0; i < chosen.length; i += 10) {
      const part = chosen.slice(i, i + 10)
      const refused = await deleteReceived(
        queue,
        part.map((m) => m.handle),
      )
      const failed = new Set(refused.map((f) => Number(f.Id)))
      const gone = new Set(part.filter((_, j) => !failed.has(j)).map((m) => m.MessageId))
      setHeld((old) => old.filter((m) => !gone.has(m.MessageId)))
      const first = refused[0]
      if (first) {
        throw new Error(first.Message ?? first.Code ?? 'Some were not deleted.')
      }
    }
    notify({ header: `Deleted ${plural(chosen.length, 'message')}` })
    setChosen([])
    await client.invalidateQueries({ queryKey: keys.queueState(queue) })
  }

  async function putAllBack() {
    const visible = held.filter((m) => m.until > Date.now())
    setHeld([])
    setChosen([])
    try {
      await Promise.all(visible.map((m) => putBack(queue, m.handle)))
    } catch (error) {
      notifyError(error, 'Some messages were not returned to the queue')
    }
    await client.invalidateQueries({ queryKey: keys.queueState(queue) })
  }

  const last = held.reduce((t, m) => Math.max(t, m.until), 0)
  const visibility = Number(poll.visibility) * 1000
  const left = Math.max(0, last - now)
  const set = (some: Partial<typeof poll>) => setPoll((old) => ({ ...old, ...some }))
  const wrong = !within(poll.seconds, 1, 600) || !within(poll.messages, 1, 1000) || !within(poll.visibility, 1, 43200)

  return (
    <Container
      header={
        <Header
          variant="h2"
          description={
            <>
              Received messages are in flight, and their receive count grows, as with a consumer. To read messages
              without this effect, <Link href={address(['queues', queue, 'browse'])}>browse messages</Link>.
            </>
          }
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button onClick={() => setEditing(!editing)} ariaExpanded={editing}>
                Edit poll settings
              </Button>
              {running ? (
                <Button onClick={() => running.stop.abort()}>Stop polling</Button>
              ) : (
                <Button variant="primary" disabled={wrong} {...refused(refusals, 'sqs:ReceiveMessage')} onClick={start}>
                  Poll for messages
                </Button>
              )}
            </SpaceBetween>
          }
        >
          Receive messages
        </Header>
      }
    >
      <SpaceBetween size="m">
        {editing && (
          <ColumnLayout columns={3}>
            <FormField
              label="Polling duration"
              description="Seconds"
              errorText={!within(poll.seconds, 1, 600) && 'From 1 to 600.'}
            >
              <Input
                type="number"
                value={poll.seconds}
                disabled={Boolean(running)}
                onChange={({ detail }) => set({ seconds: detail.value })}
              />
            </FormField>
            <FormField
              label="Maximum message count"
              description="Then polling stops"
              errorText={!within(poll.messages, 1, 1000) && 'From 1 to 1,000.'}
            >
              <Input
                type="number"
                value={poll.messages}
                disabled={Boolean(running)}
                onChange={({ detail }) => set({ messages: detail.value })}
              />
            </FormField>
            <FormField
              label="Visibility timeout"
              description="Seconds for which other consumers do not receive the messages"
              errorText={!within(poll.visibility, 1, 43200) && 'From 1 to 43,200.'}
            >
              <Input
                type="number"
                value={poll.visibility}
                disabled={Boolean(running)}
                onChange={({ detail }) => set({ visibility: detail.value })}
              />
            </FormField>
          </ColumnLayout>
        )}
        {running && (
          <ProgressBar
            value={Math.min(100, (100 * (now - running.from)) / (running.until - running.from))}
            label="Polling progress"
            description={`${plural(held.length, 'message')} received`}
          />
        )}
        {held.length > 0 && (
          <ProgressBar
            value={visibility > 0 ? (100 * left) / visibility : 0}
            label="Visibility timeout"
            description={left > 0 ? 'Delete the messages before it expires.' : undefined}
            additionalInfo={left > 0 ? `${duration(left)} left` : undefined}
          />
        )}
        {held.length > 0 && left === 0 && !running && (
          <Alert type="info">
            The visibility timeout has expired. Consumers can receive these messages again, and you cannot delete them
            here.
          </Alert>
        )}
        <Rows
          variant="embedded"
          resizableColumns
          items={held}
          trackBy="MessageId"
          selectionType="multi"
          selectedItems={chosen}
          isItemDisabled={(m) => m.until <= now}
          onSelectionChange={({ detail }) => setChosen(detail.selectedItems)}
          ariaLabels={{
            tableLabel: 'Received messages',
            selectionGroupLabel: 'Choose messages',
            allItemsSelectionLabel: () => 'Choose all messages',
            itemSelectionLabel: (_, m) => `Choose message ${m.MessageId}`,
          }}
          header={
            <Header
              variant="h3"
              counter={`(${held.length})`}
              actions={
                <SpaceBetween direction="horizontal" size="xs">
                  <Button disabled={held.length === 0 || Boolean(running)} onClick={putAllBack}>
                    Return to queue
                  </Button>
                  <Button disabled={chosen.length !== 1} onClick={() => setShown(chosen[0])}>
                    View details
                  </Button>
                  <Button
                    disabled={chosen.length === 0}
                    {...refused(refusals, 'sqs:DeleteMessage')}
                    onClick={() => setAsking(true)}
                  >
                    Delete
                  </Button>
                </SpaceBetween>
              }
            >
              Messages
            </Header>
          }
          empty={
            <Empty
              title={
                polled && !running ? 'No messages received' : running ? 'Waiting for messages' : 'Nothing received yet'
              }
            >
              {polled && !running
                ? 'The overview shows why: messages may be in flight, delayed or in blocked groups.'
                : 'Poll for messages to receive some, as a program does.'}
            </Empty>
          }
          columnDefinitions={columns}
        />
      </SpaceBetween>
      {shown && <MessageDetails message={shown} close={() => setShown(undefined)} />}
      {asking && (
        <Confirm
          title={`Delete ${plural(chosen.length, 'message')}?`}
          yes="Delete"
          close={() => setAsking(false)}
          act={remove}
        >
          Deleted messages cannot be restored.
        </Confirm>
      )}
    </Container>
  )
}

function within(text: string, least: number, most: number): boolean {
  const n = Number(text)
  return text.trim() !== '' && Number.isInteger(n) && n >= least && n <= most
}

/** receive polls until it has enough messages or the time is over. */
async function receive(
  queue: string,
  { seconds, most, visibility }: { seconds: number; most: number; visibility: number },
  signal: AbortSignal,
  take: (message: Held) => void,
) {
  const end = Date.now() + seconds * 1000
  let n = 0
  while (n < most && !signal.aborted) {
    const wait = Math.min(20, Math.floor((end - Date.now()) / 1000))
    if (wait < 0) {
      return
    }
    const input = {
      MaxNumberOfMessages: Math.min(10, most - n),
      WaitTimeSeconds: wait,
      VisibilityTimeout: visibility,
      MessageSystemAttributeNames: ['All' as const],
      MessageAttributeNames: ['All'],
    }
    const messages = await receiveMessages(queue, input, signal)
    const until = Date.now() + visibility * 1000
    for (const m of messages) {
      n++
      take(heldOf(m, until))
    }
    if (wait === 0 && messages.length === 0) {
      return
    }
  }
}

function heldOf(m: Received, until: number): Held {
  const system = m.Attributes ?? {}
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  const attributes = Object.entries(m.MessageAttributes ?? {}).map(([name, a]) => [
    name,
    {
      DataType: a.DataType ?? 'String',
      ...(a.BinaryValue ? { BinaryValue: toBase64(a.BinaryValue) } : { StringValue: a.StringValue ?? '' }),
    },
  ])
  const values = {
    SentTimestamp: number(system.SentTimestamp),
    ReceiveCount: number(system.ApproximateReceiveCount),
    FirstReceiveTimestamp: number(system.ApproximateFirstReceiveTimestamp),
    SenderId: system.SenderId,
    SequenceNumber: system.SequenceNumber,
    MessageGroupId: system.MessageGroupId,
    MessageDeduplicationId: system.MessageDeduplicationId,
    AWSTraceHeader: system.AWSTraceHeader,
    DeadLetterQueueSourceArn: system.DeadLetterQueueSourceArn,
    MD5OfBody: m.MD5OfBody,
    MD5OfMessageAttributes: m.MD5OfMessageAttributes,
  }
  return {
    ...(Object.fromEntries(Object.entries(values).filter(([, v]) => v !== undefined)) as Partial<Message>),
    MessageId: m.MessageId ?? '',
    handle: m.ReceiptHandle ?? '',
    until,
    State: 'InFlight',
    Body: m.Body ?? '',
    Size: new Blob([m.Body ?? '']).size,
    MessageAttributes: Object.fromEntries(attributes),
  }
}

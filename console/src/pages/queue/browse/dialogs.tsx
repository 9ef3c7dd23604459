import Box from '@cloudscape-design/components/box'
import FormField from '@cloudscape-design/components/form-field'
import { useState } from 'react'
import { redriveOf, useAttributes } from '../../../api/attributes'
import { type Deleting, deleteFound } from '../../../api/discard'
import type { Message } from '../../../api/message'
import { sendMessage } from '../../../api/messages'
import { arnOf, moveNow } from '../../../api/movetask'
import { nameOf } from '../../../api/queues'
import { fromBase64 } from '../../../data/decode'
import { each } from '../../../data/each'
import { count, plural } from '../../../data/format'
import { notify } from '../../../frame/notices'
import { useSignal } from '../../../frame/signal'
import { Confirm } from '../../../parts/confirm'
import { QueueField } from '../../../parts/queuefield'
import { EditMessage } from '../redrive/edit'

/** Act is what can be done with messages that were found. */
export type Act = 'return' | 'move' | 'copy' | 'edit' | 'delete'

interface DialogProps {
  act: Act
  queue: string
  messages: Message[]
  close: () => void
  /** done is called when the queue has changed. */
  done: () => void
}

/** MessageDialog asks before something is done with messages that were found, and does it. */
export function MessageDialog({ act, ...props }: DialogProps) {
  switch (act) {
    case 'return':
      return <Return {...props} />
    case 'move':
      return <Move {...props} />
    case 'copy':
      return <Copy {...props} />
    case 'edit':
      return <Edit {...props} />
    case 'delete':
      return <Delete {...props} />
  }
}

type Props = Omit<DialogProps, 'act'>

function Return({ queue, messages, close, done }: Props) {
  async function giveBack() {
    const moved = await moveNow(queue, { MessageIds: messages.map((m) => m.MessageId) })
    notify(
      moved === undefined
        ? {
            type: 'info',
            header: 'The redrive is still running',
            content: 'Its task under Redrive shows the progress.',
          }
        : {
            type: moved < messages.length ? 'warning' : 'success',
            header: `Returned ${plural(moved, 'message')} to the source queue`,
          },
    )
    done()
  }
  return (
    <Confirm title={`Return ${plural(messages.length, 'message')}`} yes="Return" close={close} act={giveBack}>
      <Box>
        Each message moves to the queue in which it failed. It gets a new ID, and its receive count begins at 0.
      </Box>
      <Box color="text-body-secondary">Messages in flight or delayed stay.</Box>
    </Confirm>
  )
}

function Move({ queue, messages, close, done }: Props) {
  const attributes = useAttributes(queue)
  const letters = redriveOf(attributes.data)
  const [typed, setTyped] = useState<string>()
  const to = typed ?? (letters ? nameOf(letters.deadLetterTargetArn) : '')
  async function move() {
    const moved = await moveNow(queue, { MessageIds: messages.map((m) => m.MessageId), DestinationArn: arnOf(to) })
    notify(
      moved === undefined
        ? { type: 'info', header: 'The move is still running', content: 'Its task under Redrive shows the progress.' }
        : {
            type: moved < messages.length ? 'warning' : 'success',
            header: `Moved ${plural(moved, 'message')} to ${to}`,
          },
    )
    done()
  }
  return (
    <Confirm
      title={`Move ${plural(messages.length, 'message')}`}
      yes="Move"
      blocked={to.trim() === ''}
      close={close}
      act={move}
    >
      <FormField label="Destination">
        <QueueField value={to} label="Destination" change={setTyped} only={(q) => q.QueueName !== queue} />
      </FormField>
      <Box color="text-body-secondary">
        Moved messages get a new ID, and their receive count begins at 0. Messages in flight or delayed stay.
      </Box>
    </Confirm>
  )
}

function Copy({ queue, messages, close, done }: Props) {
  const [to, setTo] = useState('')
  const unseen = messages.some((m) => m.Body === undefined)
  async function copy() {
    await each(messages, (m) => sendMessage(to.trim(), copyOf(m, to.trim())))
    notify({ header: `Copied ${plural(messages.length, 'message')} to ${to}` })
    if (to.trim() === queue) {
      done()
    }
  }
  return (
    <Confirm
      title={`Copy ${plural(messages.length, 'message')}`}
      yes="Copy"
      blocked={to.trim() === '' || unseen}
      close={close}
      act={copy}
    >
      <FormField label="Destination">
        <QueueField value={to} label="Destination" change={setTo} />
      </FormField>
      <Box color="text-body-secondary">
        {unseen
          ? 'Copying requires the permission sluice:PeekMessageBody.'
          : 'The copies have the body and the attributes of the messages, which stay as they are.'}
      </Box>
    </Confirm>
  )
}

/** copyOf is what a copy of a message is sent with. A FIFO queue gets each copy, also of a message that it had just before. */
function copyOf(m: Message, to: string) {
  return {
    MessageBody: m.Body ?? '',
    MessageAttributes: Object.fromEntries(
      Object.entries(m.MessageAttributes ?? {}).map(([name, a]) => [
        name,
        a.BinaryValue === undefined
          ? { DataType: a.DataType, StringValue: a.StringValue ?? '' }
          : { DataType: a.DataType, BinaryValue: fromBase64(a.BinaryValue) ?? new Uint8Array() },
      ]),
    ),
    ...(to.endsWith('.fifo') && {
      MessageGroupId: m.MessageGroupId ?? 'copies',
      MessageDeduplicationId: [...crypto.getRandomValues(new Uint32Array(4))].join('-'),
    }),
  }
}

function Delete({ queue, messages, close, done }: Props) {
  const [now, setNow] = useState<Deleting>()
  const signal = useSignal()
  async function remove() {
    const ids = messages.map((m) => m.MessageId)
    const { deleted, missing } = await deleteFound(queue, ids, signal(), setNow)
    notify({
      type: missing > 0 ? 'warning' : 'success',
      header: `Deleted ${plural(deleted, 'message')}`,
      ...(missing > 0 && { content: `${plural(missing, 'message')} had already left the queue.` }),
    })
    done()
  }
  const flying = messages.filter((m) => m.State === 'InFlight').length
  return (
    <Confirm title={`Delete ${plural(messages.length, 'message')}`} yes="Delete" close={close} act={remove}>
      <Box>
        Deleted messages cannot be restored. Messages are deleted in any state: available, in flight or delayed.
      </Box>
      {flying > 0 && (
        <Box>
          {plural(flying, 'message')} {flying === 1 ? 'is' : 'are'} in flight: a consumer may be working on{' '}
          {flying === 1 ? 'it' : 'them'}.{' '}
          {queue.endsWith('.fifo') && 'The next message of the group can be received at once.'}
        </Box>
      )}
      {now && (
        <Box color="text-body-secondary">
          {count(now.scanned)} of {plural(now.total, 'message')} scanned
        </Box>
      )}
    </Confirm>
  )
}

function Edit({ queue, messages, close, done }: Props) {
  const message = messages[0]
  if (!message) {
    return null
  }
  const plan = { QueueUrl: queue, MessageIds: [message.MessageId], DestinationArn: arnOf(queue) }
  return (
    <EditMessage
      title="Edit message"
      yes="Save"
      note="The edited copy replaces the message. It gets a new ID and goes to the end of the queue or of its group."
      message={message}
      plan={plan}
      close={close}
      resend={async (edit) => {
        await moveNow(queue, { MessageIds: plan.MessageIds, DestinationArn: plan.DestinationArn, Edit: edit })
        notify({ header: 'The message was edited' })
        done()
      }}
    />
  )
}

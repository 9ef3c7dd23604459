import Box from '@cloudscape-design/components/box'
import { type Query, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useRefusals } from '../../api/access'
import { keys } from '../../api/keys'
import {
  deleteQueue,
  pauseQueue,
  purgeQueue,
  resumeQueue,
  tagQueue,
  undoDelete,
  undoPurge,
} from '../../api/queueactions'
import type { QueueState } from '../../api/queuestate'
import { settingsNow } from '../../aws/session'
import { each } from '../../data/each'
import { plural } from '../../data/format'
import { record, type Tag } from '../../data/tags'
import { notify, notifyError } from '../../frame/notices'
import { Confirm } from '../../parts/confirm'
import { TagRows } from '../../parts/tags'
import { type Action, taken } from './actions'

interface DialogProps {
  action: Action
  queues: { QueueName: string; State?: Pick<QueueState, 'Visible' | 'InFlight' | 'Delayed'> | undefined }[]
  close: () => void
  done?: () => void
}

/** Dialog asks before something is done with the queues that were chosen, and does it. */
export function Dialog({ action, queues, close, done }: DialogProps) {
  const client = useQueryClient()
  const [tags, setTags] = useState<Tag[]>([{ key: '', value: '' }])
  const names = queues.map((q) => q.QueueName)
  const refusals = useRefusals(names)
  const what = plural(names.length, 'queue')
  const which = names.length === 1 ? names[0] : what
  const messages = queues.reduce((n, q) => n + (q.State ? q.State.Visible + q.State.InFlight + q.State.Delayed : 0), 0)
  const known = queues.every((q) => q.State)
  const held = known ? `, which ${names.length === 1 ? 'has' : 'have'} ${plural(messages, 'message')} now` : ''

  async function act(
    one: (queue: string) => Promise<unknown>,
    said: string,
    undo?: (queue: string) => Promise<unknown>,
  ) {
    try {
      await each(names, one)
    } finally {
      await client.invalidateQueries({ predicate: mayHaveChanged })
    }
    notify({
      header: said,
      ...(undo && {
        action: {
          text: 'Undo',
          do: () =>
            void each(names, undo)
              .then(() => client.invalidateQueries({ predicate: mayHaveChanged }))
              .catch((error: unknown) => notifyError(error, 'Undo')),
        },
      }),
    })
    done?.()
  }

  const noUndo = settingsNow()?.noUndo ?? false
  const undo = noUndo ? 'Undo is turned off on this server.' : 'You can undo it for 10 minutes.'
  const final = noUndo || refusals.has('sluice:UndoDelete')
  switch (action) {
    case 'delete':
      return (
        <Confirm
          title={`Delete ${which}?`}
          yes="Delete"
          word="delete"
          refused={refusals.get(taken.delete)}
          close={close}
          act={() => act(deleteQueue, `Deleted ${which}`, final ? undefined : undoDelete)}
        >
          <Box>
            This deletes {names.length === 1 ? <b className="break">{which}</b> : `these ${what}`} with all messages
            {held}. {final && !noUndo ? 'You do not have permission to undo it.' : undo}
          </Box>
          <Names names={names} />
        </Confirm>
      )
    case 'purge':
      return (
        <Confirm
          title={`Purge ${which}?`}
          yes="Purge"
          word="purge"
          refused={refusals.get(taken.purge)}
          close={close}
          act={() => act(purgeQueue, `Purged ${which}`, noUndo || (known && messages === 0) ? undefined : undoPurge)}
        >
          <Box>
            This deletes all messages of {names.length === 1 ? <b className="break">{which}</b> : `these ${what}`}
            {held}. {undo} The {names.length === 1 ? 'queue stays' : 'queues stay'}.
          </Box>
          <Names names={names} />
        </Confirm>
      )
    case 'pause':
      return (
        <Confirm
          title={`Pause the delivery of ${which}?`}
          yes="Pause delivery"
          refused={refusals.get(taken.pause)}
          close={close}
          act={() => act(pauseQueue, `${which}: delivery is paused`, resumeQueue)}
        >
          <Box>
            Consumers get no messages until delivery is resumed. Sends and deletes continue to work. The queue's tag
            sluice:delivery records the pause.
          </Box>
          <Names names={names} />
        </Confirm>
      )
    case 'resume':
      return (
        <Confirm
          title={`Resume the delivery of ${which}?`}
          yes="Resume delivery"
          refused={refusals.get(taken.resume)}
          close={close}
          act={() => act(resumeQueue, `${which}: delivery is resumed`, pauseQueue)}
        >
          <Box>Consumers get messages again.</Box>
          <Names names={names} />
        </Confirm>
      )
    case 'tag':
      return (
        <Confirm
          title={`Add tags to ${which}`}
          yes="Add tags"
          refused={refusals.get(taken.tag)}
          close={close}
          act={async () => {
            const wanted = record(tags)
            if (Object.keys(wanted).length === 0) {
              throw new Error('Enter a key.')
            }
            await act((queue) => tagQueue(queue, wanted), `Tagged ${which}`)
          }}
        >
          <TagRows tags={tags} change={setTags} empty="" />
        </Confirm>
      )
  }
}

/** access is the beginning of the keys of what the user may do. */
const [access] = keys.access([])

/** mayHaveChanged leaves out what the user may do, which cannot be asked of queues that are gone. */
const mayHaveChanged = ({ queryKey }: Query) => queryKey[0] !== access

function Names({ names }: { names: string[] }) {
  if (names.length < 2) {
    return null
  }
  return (
    <Box fontSize="body-s" color="text-body-secondary">
      <span className="break">
        {names.slice(0, 20).join(', ')}
        {names.length > 20 && ` and ${names.length - 20} more`}
      </span>
    </Box>
  )
}

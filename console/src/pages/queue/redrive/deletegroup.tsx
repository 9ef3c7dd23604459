import Box from '@cloudscape-design/components/box'
import ProgressBar from '@cloudscape-design/components/progress-bar'
import { useState } from 'react'
import { type Deleting, deleteMatching } from '../../../api/discard'
import { count, plural } from '../../../data/format'
import { notify } from '../../../frame/notices'
import { useSignal } from '../../../frame/signal'
import { Confirm } from '../../../parts/confirm'

interface DeleteGroupProps {
  queue: string
  filter: string
  messages: number
  close: () => void
  /** done is called when the queue has changed. */
  done: () => void
}

/** DeleteGroup asks before all messages that a filter finds are deleted, and shows how far that has come. To close it ends it. */
export function DeleteGroup({ queue, filter, messages, close, done }: DeleteGroupProps) {
  const [now, setNow] = useState<Deleting>()
  const signal = useSignal()
  async function remove() {
    const { deleted } = await deleteMatching(queue, filter, signal(), setNow)
    notify({ header: `Deleted ${plural(deleted, 'message')}` })
    done()
  }
  function stop() {
    close()
    if (now) {
      done()
    }
  }
  return (
    <Confirm title={`Delete ${plural(messages, 'message')}?`} yes="Delete" word="delete" close={stop} act={remove}>
      <Box>
        This deletes every message of this queue that <code className="break">{filter}</code> finds, in any state.
        Deleted messages cannot be restored.
      </Box>
      {now && (
        <ProgressBar
          value={now.total > 0 ? Math.min(100, (100 * now.scanned) / now.total) : 0}
          description={`${count(now.deleted)} deleted. Cancelling keeps the others.`}
          ariaLabel="Progress of the deletion"
        />
      )}
    </Confirm>
  )
}

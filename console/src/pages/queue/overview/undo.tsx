import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import { refused, useRefusals } from '../../../api/access'
import { keys } from '../../../api/keys'
import { undoPurge } from '../../../api/queueactions'
import type { Undo } from '../../../api/queues'
import { useAction } from '../../../api/useaction'
import { plural } from '../../../data/format'
import { Ago, Time } from '../../../parts/values'

interface UndoPurgeProps {
  queue: string
  undo: Undo
}

/** UndoPurge says that the last purge can be undone, and undoes it. */
export function UndoPurge({ queue, undo }: UndoPurgeProps) {
  const { busy, run } = useAction('Undo of the purge')
  const refusals = useRefusals([queue])
  const what = plural(undo.Messages, 'message')
  if (undo.Running) {
    return <Alert type="info">The purge is being undone. Still to be restored: {what}.</Alert>
  }
  const restore = () =>
    run(
      async () => {
        const { Messages, Running } = await undoPurge(queue)
        return { header: `${Running ? 'Restoring' : 'Restored'} ${plural(Messages, 'message')}` }
      },
      { stale: [keys.queueState(queue), keys.attributes(queue)] },
    )
  return (
    <Alert
      type="info"
      action={
        <Button loading={busy} {...refused(refusals, 'sluice:UndoPurge')} onClick={() => void restore()}>
          Undo purge
        </Button>
      }
    >
      Purged <Ago at={undo.PurgedTimestamp} />. You can restore {what} until <Time at={undo.UntilTimestamp} />.
    </Alert>
  )
}

import { useQueryClient } from '@tanstack/react-query'
import { keys } from '../../api/keys'
import { nameOf } from '../../api/queues'
import { deleteTopic } from '../../api/topicactions'
import { each } from '../../data/each'
import { plural } from '../../data/format'
import { notify } from '../../frame/notices'
import { Confirm } from '../../parts/confirm'

/** DeleteTopic asks before topics are deleted. */
export function DeleteTopic({ arns, close, done }: { arns: string[]; close: () => void; done?: () => void }) {
  const client = useQueryClient()
  const [one = ''] = arns
  return (
    <Confirm
      title={arns.length === 1 ? `Delete ${nameOf(one)}?` : `Delete ${arns.length} topics?`}
      yes={`Delete ${plural(arns.length, 'topic')}`}
      word="delete me"
      act={async () => {
        try {
          await each(arns, deleteTopic)
        } finally {
          void client.invalidateQueries({ queryKey: keys.topics })
          void client.invalidateQueries({ queryKey: keys.subscriptions })
        }
        notify({ header: `${plural(arns.length, 'topic')} deleted` })
        done?.()
      }}
      close={close}
    >
      Its subscriptions are deleted too. Messages that are published and not yet delivered are lost.
    </Confirm>
  )
}

import Button from '@cloudscape-design/components/button'
import ContentLayout from '@cloudscape-design/components/content-layout'
import Tabs from '@cloudscape-design/components/tabs'
import { useEffect, useState } from 'react'
import { useQueueDetail } from '../../api/queues'
import { isAbsent } from '../../aws/failure'
import { Guard } from '../../frame/guard'
import type { PageProps } from '../../frame/page'
import { address, go } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { Unshown } from '../../parts/unshown'
import type { Action } from '../queues/actions'
import { Dialog } from '../queues/dialogs'
import { Head } from './head'
import { tabs } from './tabs'

/** Queue is the page of one queue: its tabs are in tabs.ts. */
export default function Queue({ parameters }: PageProps) {
  const queue = parameters.queue ?? ''
  const detail = useQueueDetail(queue)
  const [action, setAction] = useState<Action>()
  const fifo = queue.endsWith('.fifo')
  const shown = tabs.filter((tab) => tab.on?.({ fifo, deadLetters: true }) ?? true)
  const chosen = shown.find((tab) => tab.id === parameters.tab) ?? shown[0]
  const Content = chosen?.content
  useEffect(() => {
    // The other tabs are likely to be next.
    for (const tab of tabs) {
      void tab.content.prepare()
    }
  }, [])
  const paused = detail.data?.Reasons.some((r) => r.Code === 'Paused')

  if (isAbsent(detail.error)) {
    return (
      <Unshown name={queue}>
        <Empty title={`There is no queue ${queue}`} action={<Button href={address(['queues'])}>All queues</Button>}>
          Your account has no such queue in this region. It may have been deleted.
        </Empty>
      </Unshown>
    )
  }
  return (
    <ContentLayout header={<Head queue={queue} fifo={fifo} paused={paused === true} act={setAction} />}>
      <div className="queue-tabs">
        <Tabs
          activeTabId={chosen?.id ?? ''}
          ariaLabel="Parts of the queue"
          onChange={({ detail: { activeTabId } }) =>
            go(address(activeTabId === 'overview' ? ['queues', queue] : ['queues', queue, activeTabId]))
          }
          tabs={shown.map((tab) => ({
            id: tab.id,
            label: tab.label,
            content: tab === chosen && Content && (
              <Guard key={tab.id}>
                <Content key={queue} queue={queue} fifo={fifo} />
              </Guard>
            ),
          }))}
        />
      </div>
      {action && (
        <Dialog
          action={action}
          queues={[{ QueueName: queue, State: detail.data }]}
          close={() => setAction(undefined)}
          done={() => action === 'delete' && go('/queues')}
        />
      )}
    </ContentLayout>
  )
}

import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import Table from '@cloudscape-design/components/table'
import { useState } from 'react'
import { useRefusals } from '../../../api/access'
import type { Message } from '../../../api/message'
import { useMessageGroups } from '../../../api/messagegroups'
import { peek } from '../../../api/peek'
import type { MessageGroup } from '../../../api/queues'
import { count } from '../../../data/format'
import { notifyError } from '../../../frame/notices'
import { address } from '../../../frame/router'
import { Empty } from '../../../parts/empty'
import { Problem } from '../../../parts/problem'
import { Ago, Num } from '../../../parts/values'
import { type Act, MessageDialog } from '../browse/dialogs'
import { acts } from '../browse/steps'
import type { TabProps } from '../tab'

const words: Record<string, { type: 'success' | 'in-progress' | 'pending'; text: string }> = {
  Visible: { type: 'success', text: 'Ready' },
  InFlight: { type: 'in-progress', text: 'First message in flight' },
  Delayed: { type: 'pending', text: 'First message delayed' },
}

/** Groups lists the message groups of a FIFO queue, those first that have the oldest messages. */
export default function Groups({ queue }: TabProps) {
  const groups = useMessageGroups(queue)
  const items = groups.data?.pages.flatMap((p) => p.Groups) ?? []
  const refusals = useRefusals([queue])
  const [acting, setActing] = useState<{ act: Act; messages: Message[] }>()

  /** begin asks about the first message of a group, as it is now. */
  async function begin(group: MessageGroup, act: Act) {
    try {
      const { Messages } = await peek({ QueueUrl: queue, MessageIds: [group.MessageId], Max: 1 })
      if (Messages.length === 0) {
        throw new Error('The first message of the group has left the queue.')
      }
      setActing({ act, messages: Messages })
    } catch (error) {
      notifyError(error, 'Nothing has changed')
      void groups.refetch()
    }
  }

  return (
    <>
      <Table
        variant="container"
        items={items}
        trackBy="MessageGroupId"
        loading={groups.isPending}
        loadingText="Looking"
        ariaLabels={{ tableLabel: 'Message groups' }}
        header={
          <Header
            variant="h2"
            counter={`(${count(items.length)}${groups.hasNextPage ? '+' : ''})`}
            description="While a group's first message is in flight, no other one of the group is received. The groups with the oldest messages come first."
          >
            Message groups
          </Header>
        }
        empty={
          groups.error ? (
            <Problem error={groups.error} what="Groups" retry={() => void groups.refetch()} />
          ) : (
            <Empty title="There are no message groups">
              Each message of a FIFO queue names its group; groups live as long as they have messages.
            </Empty>
          )
        }
        footer={
          groups.hasNextPage && (
            <Button loading={groups.isFetchingNextPage} onClick={() => void groups.fetchNextPage()}>
              Show more
            </Button>
          )
        }
        columnDefinitions={[
          {
            id: 'group',
            header: 'Message group ID',
            isRowHeader: true,
            cell: (g) => (
              <Link href={address(['queues', queue, 'browse'], { filter: `group:${quoted(g.MessageGroupId)}` })}>
                <span className="break">{g.MessageGroupId}</span>
              </Link>
            ),
          },
          {
            id: 'state',
            header: 'State',
            cell: (g) => (
              <StatusIndicator type={words[g.State]?.type ?? 'info'}>{words[g.State]?.text ?? g.State}</StatusIndicator>
            ),
          },
          {
            id: 'depth',
            header: 'Messages',
            cell: (g) => (
              <span className="number">
                {count(g.Depth)}
                {g.DepthIsMore && '+'}
              </span>
            ),
          },
          { id: 'flight', header: 'In flight', cell: (g) => <Num value={g.InFlight} /> },
          { id: 'oldest', header: 'First message sent', cell: (g) => <Ago at={g.SentTimestamp} /> },
          { id: 'count', header: 'Its receive count', cell: (g) => <Num value={g.ReceiveCount} /> },
          { id: 'until', header: 'Visible again', cell: (g) => <Ago at={g.InvisibleUntil} /> },
          {
            id: 'first',
            header: 'First message',
            cell: (g) => (
              <ButtonDropdown
                variant="inline-icon"
                ariaLabel={`First message of ${g.MessageGroupId}`}
                expandToViewport
                items={firstActs(g, acts([{ MessageId: g.MessageId }], { refusals, dead: false }))}
                onItemClick={({ detail }) => void begin(g, detail.id as Act)}
              />
            ),
          },
        ]}
      />
      {acting && (
        <MessageDialog
          {...acting}
          queue={queue}
          close={() => setActing(undefined)}
          done={() => void groups.refetch()}
        />
      )}
    </>
  )
}

/** firstActs are the acts on a group's first message. One in flight or delayed can be deleted and copied, which frees the group, but not moved. */
function firstActs(group: MessageGroup, possible: ReturnType<typeof acts>) {
  const stays = group.State === 'Visible' ? {} : { disabled: true, disabledReason: 'It is in flight or delayed.' }
  return possible.map((a) => ({ ...a, ...(a.id === 'move' || a.id === 'edit' ? stays : {}) }))
}

/** quoted writes a value so that a filter takes it as it is. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

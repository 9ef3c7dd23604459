import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useState } from 'react'
import { type Refusals, refused, useRefusals } from '../../../api/access'
import type { Message } from '../../../api/message'
import { groupsStale, pauseGroup, useMessageGroups, withPaused } from '../../../api/messagegroups'
import { peek } from '../../../api/peek'
import { type MessageGroup, useQueueDetail } from '../../../api/queues'
import { useAction } from '../../../api/useaction'
import { count } from '../../../data/format'
import { notifyError } from '../../../frame/notices'
import { address } from '../../../frame/router'
import { Empty } from '../../../parts/empty'
import { Problem } from '../../../parts/problem'
import { Rows } from '../../../parts/rows'
import { Ago, Num } from '../../../parts/values'
import { type Act, MessageDialog } from '../browse/dialogs'
import { acts } from '../browse/steps'
import type { TabProps } from '../tab'

const words: Record<string, { type: 'success' | 'in-progress' | 'pending' | 'stopped'; text: string }> = {
  Paused: { type: 'stopped', text: 'Paused' },
  Visible: { type: 'success', text: 'Ready' },
  InFlight: { type: 'in-progress', text: 'First message in flight' },
  Delayed: { type: 'pending', text: 'First message delayed' },
}

/** Groups lists the message groups of a FIFO queue, those first that have the oldest messages. */
export default function Groups({ queue }: TabProps) {
  const groups = useMessageGroups(queue)
  const listed = groups.data?.pages.flatMap((p) => p.Groups) ?? []
  const paused = useQueueDetail(queue).data?.PausedGroups ?? []
  const items = groups.data && !groups.hasNextPage ? withPaused(listed, paused) : listed
  const { run } = useAction('The change failed')
  const refusals = useRefusals([queue])
  const [acting, setActing] = useState<{ act: Act; messages: Message[] }>()

  /** pause stops the delivery of a group, or resumes it. */
  function pause({ MessageGroupId, Paused }: MessageGroup) {
    void run(
      async () => {
        await pauseGroup(queue, MessageGroupId, !Paused)
        return { type: 'success', header: `Group ${MessageGroupId} is ${Paused ? 'no longer paused' : 'paused'}` }
      },
      { stale: groupsStale(queue) },
    )
  }

  /** begin asks about the first message of a group, as it is now. */
  async function begin(group: MessageGroup, act: Act) {
    try {
      const { Messages } = await peek({ QueueUrl: queue, MessageIds: [group.MessageId], Max: 1 })
      if (Messages.length === 0) {
        throw new Error('The first message of the group has left the queue.')
      }
      setActing({ act, messages: Messages })
    } catch (error) {
      notifyError(error, 'The change failed')
      void groups.refetch()
    }
  }

  return (
    <>
      <Rows
        variant="container"
        wrapLines
        items={items}
        trackBy="MessageGroupId"
        loading={groups.isPending}
        loadingText="Loading message groups"
        ariaLabels={{ tableLabel: 'Message groups' }}
        header={
          <Header
            variant="h2"
            counter={`(${count(items.length)}${groups.hasNextPage ? '+' : ''})`}
            description="A group waits while its first message is in flight or the group is paused. The groups with the oldest messages come first."
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
            minWidth: 120, // the sign beside the word
            cell: (g) => {
              const { type, text } = words[g.Paused ? 'Paused' : g.State] ?? { type: 'info', text: g.State }
              return <StatusIndicator type={type}>{text}</StatusIndicator>
            },
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
            id: 'actions',
            header: 'Actions',
            cell: (g) => (
              <ButtonDropdown
                variant="inline-icon"
                ariaLabel={`Actions on group ${g.MessageGroupId}`}
                expandToViewport
                items={actsOn(g, refusals)}
                onItemClick={({ detail }) => (detail.id === 'pause' ? pause(g) : void begin(g, detail.id as Act))}
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

/** actsOn are what can be done with a group and its first message. */
function actsOn(group: MessageGroup, refusals: Refusals) {
  const first = firstActs(group, acts([{ MessageId: group.MessageId }], { refusals, dead: false }))
  return [
    {
      id: 'pause',
      text: group.Paused ? 'Resume group' : 'Pause group',
      ...refused(refusals, group.Paused ? 'sluice:ResumeMessageGroups' : 'sluice:PauseMessageGroups'),
    },
    ...(group.MessageId ? [{ text: 'First message', items: first }] : []),
  ]
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

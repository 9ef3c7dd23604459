import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import Table from '@cloudscape-design/components/table'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { MessageGroup } from '../../../api/queues'
import { sluice } from '../../../aws/sluice'
import { useRefresh } from '../../../frame/preferences'
import { address } from '../../../frame/router'
import { Empty } from '../../../parts/empty'
import { count } from '../../../parts/format'
import { Problem } from '../../../parts/problem'
import { Ago, Num } from '../../../parts/values'
import type { TabProps } from '../tabs'

interface Page {
  Groups: MessageGroup[]
  Cursor?: string
}

const words: Record<string, { type: 'success' | 'in-progress' | 'pending'; text: string }> = {
  Visible: { type: 'success', text: 'Ready' },
  InFlight: { type: 'in-progress', text: 'First message in flight' },
  Delayed: { type: 'pending', text: 'First message delayed' },
}

/** Groups lists the message groups of a FIFO queue, those first that have the oldest messages. */
export default function Groups({ queue }: TabProps) {
  const interval = useRefresh()
  const groups = useInfiniteQuery({
    queryKey: ['ListMessageGroups', queue],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      sluice<Page>('ListMessageGroups', { QueueUrl: queue, Max: 100, ...(pageParam && { Cursor: pageParam }) }, signal),
    getNextPageParam: (last) => last.Cursor,
    refetchInterval: (q) => ((q.state.data?.pages.length ?? 0) > 3 ? false : interval),
  })
  const items = groups.data?.pages.flatMap((p) => p.Groups) ?? []
  return (
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
      ]}
    />
  )
}

/** quoted writes a value so that a filter takes it as it is. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

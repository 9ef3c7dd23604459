import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useConsumers } from '../../../api/consumers'
import { count, duration } from '../../../data/format'
import { Empty } from '../../../parts/empty'
import { Problem } from '../../../parts/problem'
import { Rows } from '../../../parts/rows'
import { Absent, Ago, Num } from '../../../parts/values'
import type { TabProps } from '../tab'

/** Consumers lists the queue's consumers, and says what would help them. */
export default function Consumers({ queue }: TabProps) {
  const list = useConsumers(queue)
  const consumers = (list.data?.Consumers ?? []).map((c) => ({ ...c, key: `${c.Principal} ${c.Address} ${c.Agent}` }))
  const share = (part: number) => <span className="number">{Math.round(part * 100)}%</span>
  const time = (ms: number | undefined) =>
    ms === undefined ? <Absent /> : <span className="number">{duration(ms)}</span>
  return (
    <SpaceBetween size="m">
      {consumers
        .filter((c) => c.Advice.length > 0)
        .slice(0, 5)
        .map((c) => (
          <Alert
            key={c.key}
            type="info"
            header={<span className="break">{`${short(c.Principal)} at ${c.Address}`}</span>}
          >
            {c.Advice.map((a) => (
              <div key={a.Code}>{a.Text}</div>
            ))}
          </Alert>
        ))}
      {(list.data?.SilentNodes?.length ?? 0) > 0 && (
        <Alert type="warning">
          These nodes have not reported their consumers: {list.data?.SilentNodes?.join(', ')}
        </Alert>
      )}
      <Rows
        variant="container"
        items={consumers}
        trackBy="key"
        loading={list.isPending}
        loadingText="Loading consumers"
        ariaLabels={{ tableLabel: 'Consumers' }}
        header={
          <Header
            variant="h2"
            counter={list.data && `(${count(consumers.length)})`}
            description="Consumers of this queue, the busiest first. Numbers are of the last ten minutes."
          >
            Consumers
          </Header>
        }
        empty={
          list.error ? (
            <Problem error={list.error} what="Consumers" retry={() => void list.refetch()} />
          ) : (
            <Empty title="No recent consumers">
              Each program that calls ReceiveMessage is listed here for an hour, with its user, its address and its
              figures.
            </Empty>
          )
        }
        columnDefinitions={[
          {
            id: 'who',
            header: 'Consumer',
            isRowHeader: true,
            minWidth: 150,
            cell: (c) => (
              <>
                <div className="break">{c.Principal}</div>
                <Box fontSize="body-s" color="text-body-secondary">
                  <span className="break">{c.Agent || 'unnamed program'}</span>, from {c.Address}
                </Box>
              </>
            ),
          },
          { id: 'seen', header: 'Last seen', cell: (c) => <Ago at={c.LastSeenTimestamp} /> },
          { id: 'calls', header: 'Calls a minute', cell: (c) => <span className="number">{c.CallsPerMinute}</span> },
          { id: 'empty', header: 'Empty', cell: (c) => share(c.EmptyShare) },
          { id: 'short', header: 'Short polls', cell: (c) => share(c.ShortPollShare) },
          { id: 'received', header: 'Received', cell: (c) => <Num value={c.Received} /> },
          { id: 'deleted', header: 'Deleted', cell: (c) => <Num value={c.Deleted} /> },
          { id: 'median', header: 'Time to delete, median', cell: (c) => time(c.MedianTimeToDelete) },
          { id: 'p99', header: 'p99', cell: (c) => time(c.P99TimeToDelete) },
        ]}
      />
    </SpaceBetween>
  )
}

function short(principal: string): string {
  return principal.replace(/^arn:[^:]*:[^:]*:[^:]*:/, '')
}

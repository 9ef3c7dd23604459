import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useMemo, useState } from 'react'
import { useEveryQueue } from '../../api/queues'
import { useSubscriptions } from '../../api/subscriptions'
import { isDenied, isLost } from '../../aws/failure'
import { count, plural } from '../../data/format'
import { useNarrow } from '../../frame/narrow'
import { address, go, usePlace } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { NoQueues } from '../../parts/noqueues'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { Drawing } from './drawing'
import { type Feed, islandsOf } from './graph'
import { mostBoxes } from './layout'
import { MapList } from './list'

/** pageSize is how many islands are drawn at a time. */
const pageSize = 40

const noFeeds: Feed[] = []

/** MapPage draws the ways of messages: from topics to queues, to consumers and to dead-letter queues. */
export default function MapPage() {
  const find = usePlace().query.get('find') ?? ''
  const narrow = useNarrow()
  const [shown, setShown] = useState(pageSize)
  const queues = useEveryQueue()
  const subscriptions = useSubscriptions()
  const data = queues.data
  const all = useMemo(
    () => islandsOf(data?.Queues ?? [], subscriptions.data?.filter((s) => s.Protocol === 'sqs') ?? noFeeds),
    [data, subscriptions.data],
  )
  const islands = useMemo(() => {
    const sought = find.toLowerCase()
    return all.filter((i) => i.boxes.some((b) => b.kind !== 'consumers' && b.name.toLowerCase().includes(sought)))
  }, [all, find])
  const part = data && data.Queues.length < data.Total
  const pending = queues.isPending || subscriptions.isPending
  const visible = islands.slice(0, shown)

  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        actions={<Refresh />}
        description={
          <>
            From topics to queues, to their consumers and dead-letter queues.
            {!narrow &&
              ' The width of a line shows its messages in the last minute. A line to a queue counts all messages sent to it. Red: messages are held up or have failed.'}
            {part && ` Of ${plural(data.Total, 'queue')} these are the first ${count(data.Queues.length)} by name.`}
          </>
        }
      >
        Map
      </Header>
      <Input
        type="search"
        value={find}
        ariaLabel="Find a queue or a topic"
        placeholder="Find a queue or a topic"
        onChange={({ detail }) => go(address(['map'], { find: detail.value }), { replace: true })}
      />
      {isLost(queues.error, data) && (
        <Problem error={queues.error} what="The queues cannot be shown" retry={() => void queues.refetch()} />
      )}
      {subscriptions.error &&
        (isDenied(subscriptions.error) ? (
          <Alert type="info">Topics are not shown: this requires the permission sns:ListSubscriptions.</Alert>
        ) : (
          isLost(subscriptions.error, subscriptions.data) && (
            <Problem
              error={subscriptions.error}
              what="The topics cannot be shown"
              retry={() => void subscriptions.refetch()}
            />
          )
        ))}
      {pending && !data && !queues.error && <StatusIndicator type="loading">Loading</StatusIndicator>}
      {data?.Total === 0 && <NoQueues />}
      {data && data.Total > 0 && islands.length === 0 && (
        <Empty
          title="No matches"
          action={<Button onClick={() => go(address(['map']), { replace: true })}>Show all</Button>}
        />
      )}
      {narrow ? (
        <MapList islands={visible} />
      ) : (
        <div className="islands">
          {visible.map((island) =>
            island.boxes.length > mostBoxes ? (
              <MapList key={island.boxes[0]?.id} islands={[island]} />
            ) : (
              <Drawing key={island.boxes[0]?.id} island={island} />
            ),
          )}
        </div>
      )}
      {islands.length > shown && (
        <Box textAlign="center">
          <Button onClick={() => setShown(shown + pageSize)}>
            {`Show ${Math.min(pageSize, islands.length - shown)} more of ${count(islands.length)}`}
          </Button>
        </Box>
      )}
    </SpaceBetween>
  )
}

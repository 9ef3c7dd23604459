import Box from '@cloudscape-design/components/box'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import ExpandableSection from '@cloudscape-design/components/expandable-section'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useRefusals } from '../../../api/access'
import { type Attributes, redriveOf, useAttributes } from '../../../api/attributes'
import { nameOf, type QueueDetail, useQueueDetail } from '../../../api/queues'
import { useSources } from '../../../api/sources'
import { useFlow, useLastCalls } from '../../../api/useflow'
import { isLost } from '../../../aws/failure'
import { endpoint } from '../../../aws/place'
import { averaged } from '../../../data/flow'
import { bytes, duration, perMinute, plural } from '../../../data/format'
import { sentence } from '../../../data/sentence'
import { address } from '../../../frame/router'
import { Copied } from '../../../parts/copy'
import { Figure } from '../../../parts/figure'
import { Pairs } from '../../../parts/pairs'
import { Problem } from '../../../parts/problem'
import { Rows } from '../../../parts/rows'
import { Sparkline } from '../../../parts/sparkline'
import { Absent, Ago, Num, Time, useNow, Words } from '../../../parts/values'
import type { TabProps } from '../tab'
import { Chain } from './chain'
import { Counters } from './counters'
import { Health } from './health'
import { Neighbours } from './neighbours'
import { Note } from './note'
import { UndoPurge } from './undo'

/** Overview says how a queue is: in a sentence, in numbers, in its settings. */
export default function Overview({ queue }: TabProps) {
  const state = useQueueDetail(queue)
  const attributes = useAttributes(queue)
  const refusals = useRefusals([queue])
  return (
    <SpaceBetween size="l">
      <Note queue={queue} />
      {state.data?.Undo && <UndoPurge queue={queue} undo={state.data.Undo} />}
      {isLost(state.error, state.data) && (
        <Problem error={state.error} what="State of the queue" retry={() => void state.refetch()} />
      )}
      {state.data ? (
        <Now queue={queue} state={state.data} retention={attributes.data?.MessageRetentionPeriod} />
      ) : (
        state.isPending && <Spinner />
      )}
      {isLost(state.error, state.data) && attributes.data && <Counters attributes={attributes.data} />}
      <Neighbours queue={queue} arn={attributes.data?.QueueArn ?? state.data?.QueueArn ?? ''} />
      <Container
        header={
          <Header
            variant="h2"
            actions={
              !refusals.has('sqs:SetQueueAttributes') && <Link href={address(['queues', queue, 'edit'])}>Edit</Link>
            }
          >
            Details
          </Header>
        }
      >
        {isLost(attributes.error, attributes.data) && (
          <Problem error={attributes.error} what="The queue's attributes" retry={() => void attributes.refetch()} />
        )}
        {attributes.data && <Details queue={queue} attributes={attributes.data} />}
      </Container>
      {state.data && state.data.Shards.length > 0 && (
        <ExpandableSection
          variant="container"
          headerText="Where it is served"
          headerCounter={`(${state.data.Shards.length})`}
        >
          <Shards state={state.data} />
        </ExpandableSection>
      )}
    </SpaceBetween>
  )
}

interface NowProps {
  queue: string
  state: QueueDetail
  /** retention is the message retention period in seconds, as the attribute says it. */
  retention: string | undefined
}

function Now({ queue, state: latest, retention }: NowProps) {
  const now = useNow()
  const flow = useFlow(queue)
  const earlier = useLastCalls(
    queue,
    latest.LastSendTimestamp === undefined || latest.LastReceiveTimestamp === undefined,
  )
  const sources = useSources(queue)
  // The server's own times begin with its start, the metrics outlive it.
  const state = {
    ...latest,
    ...known('LastSendTimestamp', latest.LastSendTimestamp ?? earlier.send),
    ...known('LastReceiveTimestamp', latest.LastReceiveTimestamp ?? earlier.receive),
  }
  const said = sentence(state, now, {
    sources: sources.data,
    trend: flow?.trend,
    retention: retention === undefined ? undefined : Number(retention) * 1000,
  })
  return (
    <SpaceBetween size="l">
      <Health queue={queue} state={state} said={said} dead={(sources.data?.names.length ?? 0) > 0} />
      <Container>
        <ColumnLayout columns={4} variant="text-grid" minColumnWidth={150}>
          <Figure title="Messages available" value={state.Visible} />
          <Figure title="Messages in flight" value={state.InFlight} />
          <Figure title="Messages delayed" value={state.Delayed} />
          <Figure title="Dead letters" value={state.DeadLetters} />
          {flow && <Rate title="Sent" minutes={flow.course.incoming} average={flow.trend?.incoming} />}
          {flow && <Rate title="Gone" minutes={flow.course.outgoing} average={flow.trend?.outgoing} />}
          <Fact title="Oldest message">
            <Ago at={state.OldestMessageTimestamp} />
          </Fact>
          <Fact title="Last send">
            <Ago at={state.LastSendTimestamp} />
          </Fact>
          <Fact title="Last receive">
            <Ago at={state.LastReceiveTimestamp} />
          </Fact>
          <Fact title="Waiting receives">
            <Link href={address(['queues', queue, 'consumers'])}>{plural(state.WaitingReceives, 'long poll')}</Link>
          </Fact>
          {queue.endsWith('.fifo') && (
            <Fact title="Message groups">
              <Link href={address(['queues', queue, 'groups'])}>
                {state.ReadyGroups} ready, {state.BlockedGroups} blocked
                {state.PausedGroups && `, ${state.PausedGroups.length} paused`}
              </Link>
            </Fact>
          )}
          <Fact title="On disk">{bytes(state.DiskBytes)}</Fact>
        </ColumnLayout>
      </Container>
      <Chain queue={queue} state={state} />
    </SpaceBetween>
  )
}

/** known makes a property of a time that is known. */
function known<K extends string>(key: K, at: number | undefined): { [k in K]?: number } {
  return at === undefined ? {} : ({ [key]: at } as { [k in K]: number })
}

interface RateProps {
  title: string
  /** minutes are the messages of each of the last minutes, oldest first. */
  minutes: number[]
  average: number | undefined
}

/** Rate is how many messages come or go in a minute, with the last half hour drawn. */
function Rate({ title, minutes, average }: RateProps) {
  return (
    <Fact title={title}>
      <span className="row">
        <span className="number">{perMinute(average ?? minutes.at(-1) ?? 0)} a minute</span>
        <Sparkline values={minutes} label={`${title} in each of the last ${minutes.length} minutes`} />
      </span>
      {average !== undefined && <Box variant="small">Average of {averaged} min</Box>}
    </Fact>
  )
}

function Fact({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <Box variant="awsui-key-label">{title}</Box>
      <div>{children}</div>
    </div>
  )
}

function Details({ queue, attributes: a }: { queue: string; attributes: Attributes }) {
  const arn = a.QueueArn ?? ''
  const url = `${endpoint}/${arn.split(':')[4] ?? ''}/${queue}`
  const redrive = redriveOf(a)
  const seconds = (text: string | undefined) => (text === undefined ? <Absent /> : duration(Number(text) * 1000))
  const when = (text: string | undefined) => <Time at={text === undefined ? undefined : Number(text) * 1000} />
  return (
    <Pairs
      columns={3}
      items={[
        { label: 'Name', value: <Copied text={queue} label="Copy name" /> },
        { label: 'ARN', value: <Copied text={arn} label="Copy ARN" /> },
        { label: 'URL', value: <Copied text={url} label="Copy URL" /> },
        { label: 'Type', value: a.FifoQueue === 'true' ? 'FIFO' : 'Standard' },
        { label: 'Created', value: when(a.CreatedTimestamp) },
        { label: 'Last updated', value: when(a.LastModifiedTimestamp) },
        { label: 'Default visibility timeout', value: seconds(a.VisibilityTimeout) },
        { label: 'Message retention period', value: seconds(a.MessageRetentionPeriod) },
        { label: 'Delivery delay', value: seconds(a.DelaySeconds) },
        {
          label: 'Maximum message size',
          value: a.MaximumMessageSize ? bytes(Number(a.MaximumMessageSize)) : <Absent />,
        },
        { label: 'Receive message wait time', value: seconds(a.ReceiveMessageWaitTimeSeconds) },
        {
          label: 'Encryption',
          value: a.KmsMasterKeyId ? 'SSE-KMS' : a.SqsManagedSseEnabled === 'true' ? 'SSE-SQS' : 'Disabled',
        },
        {
          label: 'Dead-letter queue',
          value: redrive ? (
            <>
              <Link href={address(['queues', nameOf(redrive.deadLetterTargetArn)])}>
                <Words text={nameOf(redrive.deadLetterTargetArn)} />
              </Link>
              , after {plural(redrive.maxReceiveCount, 'receive')}
            </>
          ) : (
            'None'
          ),
        },
        ...(a.FifoQueue === 'true'
          ? [
              {
                label: 'Content-based deduplication',
                value: a.ContentBasedDeduplication === 'true' ? 'Enabled' : 'Disabled',
              },
              {
                label: 'Deduplication scope',
                value: a.DeduplicationScope === 'messageGroup' ? 'Message group' : 'Queue',
              },
              {
                label: 'FIFO throughput limit',
                value: a.FifoThroughputLimit === 'perMessageGroupId' ? 'Per message group ID' : 'Per queue',
              },
            ]
          : []),
      ]}
    />
  )
}

function Shards({ state }: { state: QueueDetail }) {
  const number = (id: 'Visible' | 'InFlight' | 'Delayed' | 'WaitingReceives', header: string) => ({
    id,
    header,
    cell: (s: QueueDetail['Shards'][number]) => <Num value={s[id]} />,
  })
  return (
    <Rows
      variant="embedded"
      items={state.Shards}
      trackBy="Shard"
      ariaLabels={{ tableLabel: 'Shards' }}
      columnDefinitions={[
        { id: 'shard', header: 'Shard', cell: (s) => s.Shard, isRowHeader: true },
        { id: 'node', header: 'Node', cell: (s) => s.Node ?? <Absent /> },
        number('Visible', 'Available'),
        number('InFlight', 'In flight'),
        number('Delayed', 'Delayed'),
        number('WaitingReceives', 'Waiting receives'),
        { id: 'disk', header: 'On disk', cell: (s) => <span className="number">{bytes(s.DiskBytes)}</span> },
      ]}
    />
  )
}

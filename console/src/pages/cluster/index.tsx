import Alert from '@cloudscape-design/components/alert'
import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Cluster, drain, type Node, removeNode, type Shard, useCluster } from '../../api/cluster'
import { keys } from '../../api/keys'
import { isLost } from '../../aws/failure'
import { bytes, count, duration, plural } from '../../data/format'
import { notify } from '../../frame/notices'
import { Confirm } from '../../parts/confirm'
import { Empty } from '../../parts/empty'
import { Problem } from '../../parts/problem'
import { Rows } from '../../parts/rows'

interface Asked {
  act: 'drain' | 'undo' | 'remove'
  node: Node
}

/** ClusterPage shows the nodes, and which of them keeps what. */
export default function ClusterPage() {
  const { data, error, refetch } = useCluster()
  const [asked, setAsked] = useState<Asked>()
  if (error instanceof Error && error.name.startsWith('NoCluster')) {
    return (
      <>
        <Header variant="h1">Cluster</Header>
        <Empty title="Single server">
          A cluster of three machines loses no message when it loses one machine. A server becomes the first node of a
          cluster and keeps its data, keys and URLs: see docs/cluster.md.
        </Empty>
      </>
    )
  }
  if (isLost(error, data)) {
    return (
      <SpaceBetween size="l">
        <Header variant="h1">Cluster</Header>
        <Problem error={error} what="The cluster cannot be shown" retry={() => void refetch()} />
      </SpaceBetween>
    )
  }
  if (!data) {
    return <Spinner size="large" />
  }
  const wrong = problems(data)
  return (
    <SpaceBetween size="l">
      <Header variant="h1" description={`As node ${data.Node} sees it`}>
        {data.Cluster ? `Cluster ${data.Cluster}` : 'Cluster'}
      </Header>
      {wrong.length === 0 ? (
        <Alert type="success">Every shard is served, and has all its copies.</Alert>
      ) : (
        wrong.map((text) => (
          <Alert key={text} type="warning">
            {text}
          </Alert>
        ))
      )}
      <Nodes cluster={data} ask={setAsked} />
      <Shards shards={data.Shards} />
      {asked && <Ask {...asked} close={() => setAsked(undefined)} />}
    </SpaceBetween>
  )
}

/** problems says what is not as it should be, the worst first. */
export function problems(c: Cluster): string[] {
  const live = c.Nodes.filter((n) => n.Live).length
  return [
    ...c.Shards.filter((s) => !s.Owner).map(
      (s) => `Shard ${s.Name} has no owner: its part of the queues is not served.`,
    ),
    ...c.Shards.filter((s) => s.Parted).map((s) => `Two replicas of shard ${s.Name} differ: one of them is damaged.`),
    ...c.Nodes.filter((n) => !n.Live).map(
      (n) =>
        `Node ${n.Name} has been away for ${duration((n.AwaySeconds ?? 0) * 1000)}. Start it: it catches up by itself.`,
    ),
    ...c.Nodes.filter((n) => n.Low).map((n) => `The disk of node ${n.Name} is nearly full: nothing can be added.`),
    ...c.Nodes.filter((n) => n.CertificateDays !== undefined && n.CertificateDays <= 14).map(
      (n) => `The certificate of node ${n.Name} ends in ${plural(n.CertificateDays ?? 0, 'day')}.`,
    ),
    ...c.Shards.filter(
      (s) => s.Owner && (s.Complete ?? 0) > 0 && (s.Complete ?? 0) < Math.min(s.Copies ?? 0, live),
    ).map((s) => `The log of shard ${s.Name} is complete on ${s.Complete} of ${s.Copies} nodes: it is being copied.`),
  ]
}

function NodeState({ node }: { node: Node }) {
  if (!node.Live) {
    return <StatusIndicator type="error">Away for {duration((node.AwaySeconds ?? 0) * 1000)}</StatusIndicator>
  }
  if (node.Draining) {
    return <StatusIndicator type="in-progress">{node.Owns.length > 0 ? 'Draining' : 'Drained'}</StatusIndicator>
  }
  if (node.Leaving) {
    return <StatusIndicator type="in-progress">Stopping</StatusIndicator>
  }
  return node.Low ? (
    <StatusIndicator type="warning">Disk nearly full</StatusIndicator>
  ) : (
    <StatusIndicator>Live</StatusIndicator>
  )
}

function Nodes({ cluster, ask }: { cluster: Cluster; ask: (asked: Asked) => void }) {
  return (
    <Rows
      header={<Header counter={`(${cluster.Nodes.length})`}>Nodes</Header>}
      items={cluster.Nodes}
      trackBy="Name"
      columnDefinitions={[
        { id: 'name', header: 'Name', cell: (n) => n.Name, isRowHeader: true },
        { id: 'state', header: 'State', cell: (node) => <NodeState node={node} /> },
        { id: 'owns', header: 'Shards it serves', cell: (n) => n.Owns.join(', ') || '–' },
        { id: 'endpoint', header: 'Endpoint', cell: (n) => n.Endpoint ?? '–' },
        { id: 'version', header: 'Version', cell: (n) => n.Version ?? '–' },
        {
          id: 'clock',
          header: 'Clock',
          cell: (n) => (n.SkewMillis ? `${n.SkewMillis > 0 ? '+' : ''}${count(n.SkewMillis)} ms` : 'right'),
        },
        {
          id: 'certificate',
          header: 'Certificate',
          cell: (n) => (n.CertificateDays === undefined ? '–' : plural(n.CertificateDays, 'day')),
        },
        {
          id: 'actions',
          header: 'Actions',
          cell: (node) =>
            node.Live ? (
              <Button variant="inline-link" onClick={() => ask({ act: node.Draining ? 'undo' : 'drain', node })}>
                {node.Draining ? 'Undo drain' : 'Drain'}
              </Button>
            ) : (
              <Button variant="inline-link" onClick={() => ask({ act: 'remove', node })}>
                Remove
              </Button>
            ),
        },
      ]}
    />
  )
}

function Shards({ shards }: { shards: Shard[] }) {
  return (
    <Rows
      header={<Header counter={`(${shards.length})`}>Shards</Header>}
      items={shards}
      trackBy="Name"
      columnDefinitions={[
        { id: 'name', header: 'Name', cell: (s) => s.Name, isRowHeader: true },
        {
          id: 'owner',
          header: 'Served by',
          cell: (s) => s.Owner ?? <StatusIndicator type="error">No owner</StatusIndicator>,
        },
        { id: 'copies', header: 'Complete copies', cell: (s) => `${s.Complete ?? 0} of ${s.Copies ?? 0}` },
        { id: 'log', header: 'Log', cell: (s) => bytes(s.LogBytes ?? 0) },
        {
          id: 'replicas',
          header: 'Replicas',
          cell: (s) =>
            s.Replicas.map((r) => (
              <Box key={r.Node}>
                {r.Node}: {r.Error ? <StatusIndicator type="error">{r.Error}</StatusIndicator> : r.Role}
                {r.Lag ? `, ${plural(r.Lag, 'record')} behind` : ''}
              </Box>
            )),
        },
        { id: 'epoch', header: 'Epoch', cell: (s) => s.Epoch ?? 0 },
      ]}
    />
  )
}

function Ask({ act, node, close }: Asked & { close: () => void }) {
  const client = useQueryClient()
  const words = {
    drain: {
      title: `Drain ${node.Name}?`,
      yes: `Move ${plural(node.Owns.length, 'shard')}`,
      says: 'Other nodes take over its shards, each within seconds. The node answers clients until it is stopped.',
      done: `Node ${node.Name} is being drained`,
    },
    undo: {
      title: `Undo the drain of ${node.Name}?`,
      yes: 'Undo drain',
      says: 'The node gets shards again.',
      done: `The drain of node ${node.Name} was undone`,
    },
    remove: {
      title: `Remove ${node.Name}?`,
      yes: 'Remove 1 node',
      says: 'Other nodes replace its copies. The node cannot rejoin with its present data.',
      done: `Node ${node.Name} was removed`,
    },
  }[act]
  return (
    <Confirm
      title={words.title}
      yes={words.yes}
      {...(act === 'remove' && { word: node.Name })}
      act={async () => {
        await (act === 'remove' ? removeNode(node.Name) : drain(node.Name, act === 'undo'))
        void client.invalidateQueries({ queryKey: keys.cluster })
        notify({ header: words.done })
      }}
      close={close}
    >
      {words.says}
    </Confirm>
  )
}

import { useQuery } from '@tanstack/react-query'
import { sluice } from '../aws/sluice'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'

/** Node is a machine of the cluster. Fields that are empty or zero are left out by the server. */
export interface Node {
  Name: string
  Live?: boolean
  AwaySeconds?: number
  Endpoint?: string
  Version?: string
  Draining?: boolean
  Leaving?: boolean
  Low?: boolean
  SkewMillis?: number
  Owns: string[]
  CertificateDays?: number
}

export interface Replica {
  Node: string
  Role: string
  Lag?: number
  Error?: string
}

/** Shard is a part of the queues, kept by several nodes. */
export interface Shard {
  Name: string
  Owner?: string
  Preferred?: string
  Epoch?: number
  LogBytes?: number
  Complete?: number
  Copies?: number
  Parted?: number
  Replicas: Replica[]
}

export interface Cluster {
  Cluster: string
  Node: string
  Nodes: Node[]
  Shards: Shard[]
}

/** useCluster returns the status of the cluster, as the answering node sees it. */
export function useCluster() {
  const interval = useRefresh()
  return useQuery({
    queryKey: keys.cluster,
    queryFn: ({ signal }) => sluice<Cluster>('DescribeCluster', {}, signal),
    refetchInterval: interval,
  })
}

/** drain moves the shards of a node to others, or lets it keep shards again. */
export const drain = (node: string, undo: boolean) => sluice('DrainNode', { Node: node, Undo: undo })

/** removeNode removes a dead node from the cluster. */
export const removeNode = (node: string) => sluice('RemoveNode', { Node: node })

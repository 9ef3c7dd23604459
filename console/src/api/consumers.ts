import { useQuery } from '@tanstack/react-query'
import { sluice } from '../aws/sluice'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'
import type { Reason } from './queuestate'

/** Consumer is a program that receives from a queue, as ListConsumers has it. */
export interface Consumer {
  Principal: string
  Address: string
  Agent: string
  FirstSeenTimestamp: number
  LastSeenTimestamp: number
  CallsPerMinute: number
  EmptyShare: number
  ShortPollShare: number
  Received: number
  Deleted: number
  MedianTimeToDelete?: number
  P99TimeToDelete?: number
  Advice: Reason[]
}

interface Listed {
  Consumers: Consumer[]
  SilentNodes?: string[]
}

/** useConsumers returns the consumers of a queue, and the nodes that do not say what they know of them. */
export function useConsumers(queue: string) {
  return useQuery({
    queryKey: keys.consumers(queue),
    queryFn: ({ signal }) => sluice<Listed>('ListConsumers', { QueueUrl: queue }, signal),
    refetchInterval: useRefresh(),
  })
}

import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { sluice } from '../aws/sluice'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'
import type { MessageGroup } from './queues'

interface Page {
  Groups: MessageGroup[]
  Cursor?: string
}

/** pauseGroup stops delivery of a message group, or resumes it. The others go on. */
export async function pauseGroup(queue: string, group: string, paused: boolean): Promise<void> {
  await sluice(paused ? 'PauseMessageGroups' : 'ResumeMessageGroups', { QueueUrl: queue, MessageGroupIds: [group] })
}

/** groupsStale are the answers that are not true any more after a pause. */
export function groupsStale(queue: string): QueryKey[] {
  return [keys.messageGroups(queue), keys.queueState(queue)]
}

/** withPaused adds the paused groups that have no messages to those of a queue, which are all: the list has what was asked for, no more. */
export function withPaused(groups: MessageGroup[], paused: string[]): MessageGroup[] {
  const known = new Set(groups.map((g) => g.MessageGroupId))
  const empty = { Paused: true, State: '', Depth: 0, InFlight: 0, MessageId: '' }
  return [...groups, ...paused.filter((id) => !known.has(id)).map((id) => ({ MessageGroupId: id, ...empty }))]
}

/** mostPages is how many pages are asked for again and again; further ones stay as they were. */
const mostPages = 3

/** useMessageGroups returns the message groups of a FIFO queue, page by page, those first that have the oldest messages. */
export function useMessageGroups(queue: string) {
  const interval = useRefresh()
  return useInfiniteQuery({
    queryKey: keys.messageGroups(queue),
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      sluice<Page>('ListMessageGroups', { QueueUrl: queue, Max: 100, ...(pageParam && { Cursor: pageParam }) }, signal),
    getNextPageParam: (last) => last.Cursor,
    refetchInterval: (q) => ((q.state.data?.pages.length ?? 0) > mostPages ? false : interval),
  })
}

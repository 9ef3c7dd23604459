import { useInfiniteQuery } from '@tanstack/react-query'
import { sluice } from '../aws/sluice'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'
import type { MessageGroup } from './queues'

interface Page {
  Groups: MessageGroup[]
  Cursor?: string
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

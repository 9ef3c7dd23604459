import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isDenied } from '../../aws/failure'
import { sluice } from '../../aws/sluice'
import { useRefresh } from '../../frame/preferences'
import { type ListedQueue, type QueuePage, useQueuePage } from '../../parts/queues'
import { health } from './columns'

/** small is how many queues the server shows in one answer: so many are sorted and filtered here. */
const small = 200

interface Filter {
  value: string
  label: string
  holds?: (q: ListedQueue) => boolean
  /** ofNames says that the names of queues are enough to tell. */
  ofNames?: boolean
}

/** filters are what a list can be restricted to, beside names. */
export const filters: [Filter, ...Filter[]] = [
  { value: '', label: 'All queues', ofNames: true },
  { value: 'letters', label: 'With dead letters', holds: (q) => Boolean(q.State?.DeadLetters) },
  {
    value: 'unconsumed',
    label: 'Without a consumer',
    holds: (q) => q.State !== undefined && health(q.State).text === 'No consumer',
  },
  {
    value: 'filled',
    label: 'Not empty',
    holds: (q) => q.State !== undefined && q.State.Visible + q.State.InFlight + q.State.Delayed > 0,
  },
  { value: 'paused', label: 'Paused', holds: (q) => q.State?.Paused === true },
  { value: 'dead', label: 'Dead-letter queues', holds: (q) => (q.State?.DeadLetterSources ?? 0) > 0 },
  { value: 'fifo', label: 'FIFO queues', holds: (q) => q.Fifo, ofNames: true },
  { value: 'standard', label: 'Standard queues', holds: (q) => !q.Fifo, ofNames: true },
]

interface Wanted {
  find: string
  only: Filter
  /** sorted says that the order is another one than the server's, which is by name. */
  sorted: boolean
  descending: boolean
  pageSize: number
}

type Comparator = ((a: ListedQueue, b: ListedQueue) => number) | undefined

/**
 * useQueues returns the queues of one page. Up to 200 come in one answer. Of more, the server makes the pages, unless they
 * are to be sorted or filtered by what they are doing: then all are asked for, less often. Who may not ask for the states of
 * queues gets what SQS lists.
 */
export function useQueues({ find, only, sorted, descending, pageSize }: Wanted) {
  const [large, setLarge] = useState(false)
  const [index, turnTo] = useState(1)
  const [cursors, setCursors] = useState<{ find: string; list: (string | undefined)[] }>({ find, list: [undefined] })
  const known = cursors.find === find ? cursors.list : [undefined]
  const byServer = large && !sorted && !only.holds
  const cursor = byServer ? known[index - 1] : undefined
  const [plainly, setPlainly] = useState(false)
  const page = useQueuePage(
    {
      Max: byServer ? pageSize : small,
      ...(find && { Contains: find }),
      ...(cursor && { Cursor: cursor }),
    },
    !plainly,
  )
  if (isDenied(page.error) && !plainly) {
    setPlainly(true)
  }
  const plain = usePlain({ find, only, descending, pageSize }, index, plainly)
  const all = useAll(find, large && !byServer)
  const data = page.data
  const isLarge = (data?.Total ?? 0) > small
  if (data && !page.isPlaceholderData && isLarge !== large) {
    setLarge(isLarge)
  }
  if (byServer && data?.Cursor && !page.isPlaceholderData && known[index] !== data.Cursor) {
    setCursors({ find, list: [...known.slice(0, index), data.Cursor] })
  }

  let matching: ListedQueue[] = (byServer ? data?.Queues : (all.data?.Queues ?? data?.Queues)) ?? []
  if (only.holds) {
    matching = matching.filter(only.holds)
  }
  if (plainly) {
    return {
      ...plain,
      page: undefined,
      refetch() {
        setPlainly(false)
        void page.refetch()
      },
      index,
      turnTo,
      openEnd: false,
      denied: page.error,
    }
  }
  const total = data?.Total
  return {
    page: data,
    denied: undefined,
    total,
    matches: byServer ? (total ?? 0) : matching.length,
    error: page.error,
    loading: page.isPending || (large && !byServer && all.isPending),
    fetching: page.isFetching || all.isFetching,
    refetch: () => void page.refetch(),
    index,
    turnTo,
    pages: byServer ? known.length : Math.max(1, Math.ceil(matching.length / pageSize)),
    openEnd: byServer && Boolean(data?.Cursor),
    /** show returns the page's queues in the order that was asked for. */
    show(compare: Comparator): ListedQueue[] {
      if (byServer) {
        return matching
      }
      const list = compare || descending ? matching.toSorted((a, b) => compare?.(a, b) ?? byName(a, b)) : matching
      return (descending ? list.toReversed() : list).slice((index - 1) * pageSize, index * pageSize)
    },
  }
}

/** usePlain returns the queues of one page as SQS knows them, with what the caller may know of each. */
function usePlain({ find, only, descending, pageSize }: Omit<Wanted, 'sorted'>, index: number, enabled: boolean) {
  const interval = useRefresh()
  const client = useQueryClient()
  const all = useQuery<ListedQueue[]>({
    queryKey: ['ListQueues'],
    enabled,
    refetchInterval: ({ state }) => !isDenied(state.error) && interval && Math.max(interval, 30_000),
    queryFn: async ({ signal }) => (await import('../../parts/plainqueues')).plainQueues(signal),
  })
  const sought = find.toLowerCase()
  const matching = (all.data ?? []).filter(
    (q) => q.QueueName.toLowerCase().includes(sought) && (!only.ofNames || only.holds?.(q) !== false),
  )
  const ordered = descending ? matching.toReversed() : matching
  const shown = ordered.slice((index - 1) * pageSize, index * pageSize)
  const names = shown.map((q) => q.QueueName)
  const counts = useQuery({
    queryKey: ['countQueues', names],
    enabled: enabled && names.length > 0,
    refetchInterval: interval && Math.max(interval, 15_000),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, queryKey }) =>
      (await import('../../parts/plainqueues')).countQueues(names, client.getQueryData(queryKey), signal),
  })
  return {
    total: all.data?.length,
    matches: matching.length,
    error: all.error,
    loading: all.isPending,
    fetching: all.isFetching || counts.isFetching,
    pages: Math.max(1, Math.ceil(matching.length / pageSize)),
    show(): ListedQueue[] {
      return shown.map((q) => {
        const counted = counts.data?.known.get(q.QueueName)
        return counted ? { ...q, Counted: counted } : q
      })
    },
  }
}

function byName(a: ListedQueue, b: ListedQueue) {
  return a.QueueName < b.QueueName ? -1 : 1
}

/** useAll returns every queue, from as many answers as it takes. */
function useAll(find: string, enabled: boolean) {
  const interval = useRefresh()
  return useQuery({
    queryKey: ['ListQueueStates', 'all', find],
    enabled,
    refetchInterval: interval && Math.max(interval, 30_000),
    retry: (n, error) => n < 2 && !isDenied(error),
    queryFn: async ({ signal }) => {
      const queues: ListedQueue[] = []
      let cursor: string | undefined
      do {
        const page: QueuePage = await sluice<QueuePage>(
          'ListQueueStates',
          { Max: small, ...(find && { Contains: find }), ...(cursor && { Cursor: cursor }) },
          signal,
        )
        queues.push(...page.Queues)
        cursor = page.Cursor
      } while (cursor)
      return { Queues: queues }
    },
  })
}

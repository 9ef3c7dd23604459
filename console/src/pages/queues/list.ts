import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { QueuePage } from '../../api/queuepage'
import { mostByNeed, useEveryQueue, useQueuePage } from '../../api/queues'
import type { ListedQueue } from '../../api/queuestate'
import { isDenied } from '../../aws/failure'
import { health } from '../../data/health'
import { useRefresh } from '../../frame/preferences'
import { comparators } from './columns'
import type { Sorting } from './sorting'

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
  /** sorting is how they are sorted; if it is not given, the worst come first, or names where there are too many queues. */
  sorting: Sorting | undefined
  pageSize: number
}

const byNames: Sorting = { id: 'name', descending: false }
const byNeed: Sorting = { id: 'health', descending: false }

/** nothing is what there is before the first answer. */
const nothing: ListedQueue[] = []

/** List is what a table of queues shows, and how to see more of them. */
export interface List {
  /** shown are the queues of this page, in the order that was asked for. */
  shown: ListedQueue[]
  /** sorting is how they are sorted. */
  sorting: Sorting
  /** looked are the answers about what queues are doing. */
  looked: QueuePage[]
  /** total is how many queues have such names, matches how many of them are like what was asked for. */
  total: number | undefined
  matches: number
  /** index is of the page that is shown, from 1. */
  index: number
  pages: number
  loading: boolean
  error: unknown
  /** denied is why the caller sees no more than SQS itself tells. */
  denied: unknown
  turnTo: (index: number) => void
  refetch: () => void
}

/**
 * useQueues returns the queues of one page, which the server makes. To sort or filter queues by what they are doing, all of
 * them are asked for, less often if they are many. A user who may not ask for the states of queues gets what SQS lists.
 */
export function useQueues({ find, only, sorting: wanted, pageSize }: Wanted): List {
  const [index, turnTo] = useState(1)
  const [plainly, setPlainly] = useState(false)
  const [many, setMany] = useState(false)
  const sorting = wanted ?? (plainly || many ? byNames : byNeed)
  const { id, descending } = sorting
  const asked = JSON.stringify([find, only.value, wanted, pageSize])
  const [askedBefore, setAskedBefore] = useState(asked)
  if (asked !== askedBefore) {
    setAskedBefore(asked)
    turnTo(1)
  }
  // The server's order is by name.
  const byServer = id === 'name' && !descending && !only.holds
  const skip = byServer ? (index - 1) * pageSize : 0
  const page = useQueuePage(
    { Max: pageSize, ...(find && { Contains: find }), ...(skip > 0 && { Skip: skip }) },
    !plainly,
  )
  const { data, isPlaceholderData: before } = page
  if (isDenied(page.error) && !plainly) {
    setPlainly(true)
  }

  if (data && data.Total > mostByNeed !== many) {
    setMany(data.Total > mostByNeed)
  }

  const complete = data?.Queues.length === data?.Total
  const all = useEveryQueue({ find, enabled: !byServer && !before && !complete })
  const answers = byServer || complete ? data : all.data
  const looked = useMemo(() => (answers ? ('pages' in answers ? answers.pages : [answers]) : []), [answers])
  const matching = useMemo(() => {
    const queues = answers?.Queues ?? nothing
    return only.holds ? queues.filter(only.holds) : queues
  }, [answers, only])
  const shown = useMemo(() => {
    if (byServer) {
      return matching
    }
    const compare = comparators.get(id)
    const list = compare || descending ? matching.toSorted((a, b) => compare?.(a, b) || byName(a, b)) : matching
    return (descending ? list.toReversed() : list).slice((index - 1) * pageSize, index * pageSize)
  }, [byServer, matching, id, descending, index, pageSize])

  const plain = usePlain({ find, only, descending, pageSize }, index, plainly)
  const { refetch } = page
  const again = useCallback(() => {
    setPlainly(false)
    void refetch()
  }, [refetch])
  const matches = plainly ? plain.matches : byServer ? data?.Total : answers && matching.length
  const pages = Math.max(1, Math.ceil((matches ?? 0) / pageSize))
  if (index > pages && matches !== undefined && !before) {
    turnTo(pages) // the queues of the page that was shown are gone
  }
  const same = { sorting, looked, matches: matches ?? 0, pages, turnTo, refetch: again }
  if (plainly) {
    return { ...plain, ...same, index, denied: page.error }
  }
  return {
    ...same,
    shown,
    denied: undefined,
    total: data?.Total,
    error: page.error ?? all.error,
    loading: page.isPending || (!answers && !all.error) || (data?.Queues.length === 0 && data.Total > 0),
    // Until a page has come, that before is shown.
    index: byServer && data ? Math.floor(data.Skipped / pageSize) + 1 : index,
  }
}

/** usePlain returns the queues of one page as SQS knows them, with what the caller may know of each. */
function usePlain(
  { find, only, descending, pageSize }: Omit<Wanted, 'sorting'> & { descending: boolean },
  index: number,
  enabled: boolean,
) {
  const interval = useRefresh()
  const client = useQueryClient()
  const all = useQuery<ListedQueue[]>({
    queryKey: ['ListQueues'],
    enabled,
    refetchInterval: ({ state }) => !isDenied(state.error) && interval && Math.max(interval, 30_000),
    queryFn: async ({ signal }) => (await import('../../api/plainqueues')).plainQueues(signal),
  })
  const matching = useMemo(() => {
    const sought = find.toLowerCase()
    return (all.data ?? nothing).filter(
      (q) => q.QueueName.toLowerCase().includes(sought) && (!only.ofNames || only.holds?.(q) !== false),
    )
  }, [all.data, find, only])
  const listed = useMemo(
    () => (descending ? matching.toReversed() : matching).slice((index - 1) * pageSize, index * pageSize),
    [matching, descending, index, pageSize],
  )
  const names = listed.map((q) => q.QueueName)
  const counts = useQuery({
    queryKey: ['countQueues', names],
    enabled: enabled && names.length > 0,
    refetchInterval: interval && Math.max(interval, 15_000),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, queryKey }) =>
      (await import('../../api/plainqueues')).countQueues(names, client.getQueryData(queryKey), signal),
  })
  const shown = useMemo(
    () =>
      listed.map((q) => {
        const counted = counts.data?.known.get(q.QueueName)
        return counted ? { ...q, Counted: counted } : q
      }),
    [listed, counts.data],
  )
  return {
    total: all.data?.length,
    matches: all.data && matching.length,
    error: all.error,
    loading: all.isPending,
    shown,
  }
}

function byName(a: ListedQueue, b: ListedQueue) {
  return a.QueueName < b.QueueName ? -1 : 1
}

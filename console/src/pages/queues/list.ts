import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { Order, QueuePage } from '../../api/queuepage'
import { mostWhole, tooMany, useQueuePage } from '../../api/queues'
import type { ListedQueue } from '../../api/queuestate'
import { isDenied } from '../../aws/failure'
import { useRefresh } from '../../frame/preferences'
import { orders } from './columns'
import type { Sorting } from './sorting'

interface Filter {
  value: string
  label: string
  /** only is what the server calls it. */
  only?: string
  /** holds is for users who know no more than names. */
  holds?: (q: ListedQueue) => boolean
  /** ofNames says that the names of queues are enough to tell. */
  ofNames?: boolean
}

/** filters are what a list can be restricted to, beside names. */
export const filters: [Filter, ...Filter[]] = [
  { value: '', label: 'All queues', ofNames: true },
  { value: 'letters', label: 'With dead letters', only: 'DeadLetters' },
  { value: 'unconsumed', label: 'Without a consumer', only: 'NoConsumer' },
  { value: 'filled', label: 'Not empty', only: 'NotEmpty' },
  { value: 'paused', label: 'Paused', only: 'Paused' },
  { value: 'dead', label: 'Dead-letter queues', only: 'DeadLetterQueues' },
  { value: 'fifo', label: 'FIFO queues', only: 'Fifo', holds: (q) => q.Fifo, ofNames: true },
  { value: 'standard', label: 'Standard queues', only: 'Standard', holds: (q) => !q.Fifo, ofNames: true },
]

interface Wanted {
  find: string
  only: Filter
  /** sorting is how they are sorted; if it is not given, the worst come first, or names where there are too many. */
  sorting: Sorting | undefined
  pageSize: number
}

const byNames: Sorting = { id: 'name', descending: false }
const byNeed: Sorting = { id: 'health', descending: false }

/** nothing is the state before the first answer. */
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

/** orderOf returns what to ask the server for. Its own order is by name. */
function orderOf({ id, descending }: Sorting, only: Filter): Order {
  const plain = id === 'name' && !descending
  const OrderBy = orders.get(id)
  return {
    ...(OrderBy && !plain && { OrderBy, ...(descending && { Descending: true }) }),
    ...(only.only && { Only: only.only }),
  }
}

/**
 * useQueues returns the queues of one page, which the server orders, selects and divides. A user who may not ask for the states of
 * queues gets what SQS lists.
 */
export function useQueues({ find, only, sorting: wanted, pageSize }: Wanted): List {
  const [index, turnTo] = useState(1)
  const [plainly, setPlainly] = useState(false)
  const [many, setMany] = useState(false)
  const [large, setLarge] = useState(false)
  // To order all that a letter matches in a large account would take longer than to type it.
  const typing = large && find !== '' && !only.only
  const sorting = wanted ?? (plainly || many || typing ? byNames : byNeed)
  const asked = JSON.stringify([find, only.value, wanted, pageSize])
  const [askedBefore, setAskedBefore] = useState(asked)
  if (asked !== askedBefore) {
    setAskedBefore(asked)
    setMany(false)
    turnTo(1)
  }
  const skip = (index - 1) * pageSize
  const page = useQueuePage(
    { Max: pageSize, ...orderOf(sorting, only), ...(find && { Contains: find }), ...(skip > 0 && { Skip: skip }) },
    !plainly,
  )
  const { data, isPlaceholderData: before } = page
  if (find === '' && data && !before && data.Total > mostWhole !== large) {
    setLarge(!large)
  }
  if (isDenied(page.error) && !plainly) {
    setPlainly(true)
  }
  if (!wanted && !many && tooMany(page.error)) {
    setMany(true)
  }
  const looked = useMemo(() => (data ? [data] : []), [data])
  const plain = usePlain({ find, only, descending: sorting.descending, pageSize }, index, plainly)
  const { refetch } = page
  const again = useCallback(() => {
    setPlainly(false)
    void refetch()
  }, [refetch])
  const matches = plainly ? plain.matches : (data?.Matches ?? data?.Total)
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
    shown: data?.Queues ?? nothing,
    denied: undefined,
    total: data?.Total,
    error: page.error,
    loading: page.isPending || (data?.Queues.length === 0 && matches !== undefined && matches > 0),
    // Until a page has come, that before is shown.
    index: data ? Math.floor(data.Skipped / pageSize) + 1 : index,
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

import Multiselect from '@cloudscape-design/components/multiselect'
import Select from '@cloudscape-design/components/select'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { findQueues } from '../api/findqueues'
import type { ListedQueue } from '../api/queuestate'

/** useQueueOptions returns the queues whose names contain what was typed, for choosing among them. */
function useQueueOptions() {
  const [find, setFind] = useState('')
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ['queue options', find],
    queryFn: ({ signal }) => findQueues(find, 50, signal),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  })
  const more = data && data.Total > data.Queues.length
  return {
    queues: data?.Queues ?? [],
    select: {
      filteringType: 'manual' as const,
      filteringPlaceholder: 'Find queues by name',
      filteringAriaLabel: 'Find queues by name',
      onLoadItems: ({ detail }: { detail: { filteringText: string } }) => setFind(detail.filteringText),
      statusType: error ? ('error' as const) : isFetching && !data ? ('loading' as const) : ('finished' as const),
      loadingText: 'Loading queues',
      errorText: 'The queues cannot be listed.',
      recoveryText: 'Try again',
      onRecover: () => void refetch(),
      finishedText: more ? `${data.Queues.length} of ${data.Total}: type to find others` : undefined,
      empty: find ? 'No matching queues' : 'There are no queues',
    },
  }
}

/** QueuesPicker chooses several queues by their names. */
export function QueuesPicker({
  names,
  choose,
  most,
  label = 'Queues',
}: {
  names: string[]
  choose: (names: string[]) => void
  most: number
  label?: string
}) {
  const { queues, select } = useQueueOptions()
  const full = names.length >= most
  return (
    <Multiselect
      {...select}
      ariaLabel={label}
      placeholder="Choose queues"
      tokenLimit={10}
      selectedOptions={names.map((value) => ({ value, label: value }))}
      options={queues.map((q) => ({
        value: q.QueueName,
        label: q.QueueName,
        disabled: full && !names.includes(q.QueueName),
      }))}
      onChange={({ detail }) => choose(detail.selectedOptions.map((o) => o.value ?? '').slice(0, most))}
    />
  )
}

/** QueuePicker chooses one queue. It gives the whole queue, with its ARN; one that was named before is only a name. */
export function QueuePicker({
  name,
  choose,
  holds,
  none,
  placeholder = 'Choose a queue',
}: {
  name: string
  choose: (queue: ListedQueue) => void
  holds?: (queue: ListedQueue) => boolean
  /** none says that the queues which are there do not hold. */
  none?: string
  placeholder?: string
}) {
  const { queues, select } = useQueueOptions()
  const shown = holds ? queues.filter(holds) : queues
  return (
    <Select
      {...select}
      empty={none && queues.length > 0 ? none : select.empty}
      placeholder={placeholder}
      ariaLabel={placeholder}
      selectedOption={name ? { value: name, label: name } : null}
      options={shown.map((q) => ({ value: q.QueueName, label: q.QueueName }))}
      onChange={({ detail }) => {
        const queue = queues.find((q) => q.QueueName === detail.selectedOption.value)
        if (queue) {
          choose(queue)
        }
      }}
    />
  )
}

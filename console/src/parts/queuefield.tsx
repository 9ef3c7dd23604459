import Autosuggest from '@cloudscape-design/components/autosuggest'
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { findQueues } from '../api/findqueues'
import type { ListedQueue } from '../api/queuestate'

/** QueueField asks for a queue's name, and offers those that there are. */
export function QueueField({
  value,
  change,
  only = () => true,
  label = 'Queue',
}: {
  value: string
  change: (name: string) => void
  only?: (queue: ListedQueue) => boolean
  label?: string
}) {
  const sought = useDeferredValue(value)
  const found = useQuery({
    queryKey: ['ListQueueStates', 'field', sought],
    queryFn: ({ signal }) => findQueues(sought, 50, signal),
    placeholderData: (old) => old,
  })
  return (
    <Autosuggest
      value={value}
      ariaLabel={label}
      placeholder="Name of a queue"
      enteredTextLabel={(text) => `Use ${text}`}
      filteringType="manual"
      options={(found.data?.Queues ?? []).filter(only).map((q) => ({ value: q.QueueName }))}
      statusType={found.isPending ? 'loading' : 'finished'}
      empty="No matching queues"
      onChange={({ detail }) => change(detail.value)}
    />
  )
}

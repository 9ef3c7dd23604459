import { ListDeadLetterSourceQueuesCommand } from '@aws-sdk/client-sqs'
import { useQuery } from '@tanstack/react-query'
import { sqs } from '../aws/sqs'
import { nameOf } from './queues'

/** useSources returns the first ten queues that a queue is the dead-letter queue of. */
export function useSources(queue: string) {
  return useQuery({
    queryKey: ['ListDeadLetterSourceQueues', queue],
    queryFn: async ({ signal }) => {
      const out = await sqs().send(new ListDeadLetterSourceQueuesCommand({ QueueUrl: queue, MaxResults: 10 }), {
        abortSignal: signal,
      })
      return { names: (out.queueUrls ?? []).map(nameOf), more: Boolean(out.NextToken) }
    },
  })
}

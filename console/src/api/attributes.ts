import { GetQueueAttributesCommand, ListQueueTagsCommand } from '@aws-sdk/client-sqs'
import { useQuery } from '@tanstack/react-query'
import { sqs } from '../aws/sqs'
import { object } from '../data/json'
import { keys } from './keys'

/** Attributes are a queue's, by the names that SQS has for them. */
export type Attributes = Partial<Record<string, string>>

/** useAttributes returns a queue's attributes. */
export function useAttributes(queue: string) {
  return useQuery({
    queryKey: keys.attributes(queue),
    enabled: queue !== '',
    queryFn: async ({ signal }): Promise<Attributes> => {
      const out = await sqs().send(new GetQueueAttributesCommand({ QueueUrl: queue, AttributeNames: ['All'] }), {
        abortSignal: signal,
      })
      return out.Attributes ?? {}
    },
  })
}

/** useTags returns a queue's tags. */
export function useTags(queue: string) {
  return useQuery({
    queryKey: keys.queueTags(queue),
    enabled: queue !== '',
    queryFn: async ({ signal }): Promise<Record<string, string>> => {
      const out = await sqs().send(new ListQueueTagsCommand({ QueueUrl: queue }), { abortSignal: signal })
      return out.Tags ?? {}
    },
  })
}

/** Redrive is a queue's redrive policy. */
export interface Redrive {
  deadLetterTargetArn: string
  maxReceiveCount: number
}

/** redriveOf returns the redrive policy in a queue's attributes. */
export function redriveOf(attributes: Attributes | undefined): Redrive | undefined {
  const parsed = object(attributes?.RedrivePolicy)
  return (
    parsed && {
      deadLetterTargetArn: String(parsed.deadLetterTargetArn),
      maxReceiveCount: Number(parsed.maxReceiveCount),
    }
  )
}

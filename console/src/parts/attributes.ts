import { GetQueueAttributesCommand, ListQueueTagsCommand } from '@aws-sdk/client-sqs'
import { useQuery } from '@tanstack/react-query'
import { sqs } from '../aws/sqs'
import { object } from './json'

/** Attributes are a queue's, by the names that SQS has for them. */
export type Attributes = Partial<Record<string, string>>

/** attributesKey is under which a queue's attributes are remembered. */
export const attributesKey = (queue: string) => ['GetQueueAttributes', queue]

/** useAttributes returns a queue's attributes. */
export function useAttributes(queue: string) {
  return useQuery({
    queryKey: attributesKey(queue),
    enabled: queue !== '',
    queryFn: async ({ signal }): Promise<Attributes> => {
      const out = await sqs().send(new GetQueueAttributesCommand({ QueueUrl: queue, AttributeNames: ['All'] }), {
        abortSignal: signal,
      })
      return out.Attributes ?? {}
    },
  })
}

/** tagsKey is under which a queue's tags are remembered. */
export const tagsKey = (queue: string) => ['ListQueueTags', queue]

/** useTags returns a queue's tags. */
export function useTags(queue: string) {
  return useQuery({
    queryKey: tagsKey(queue),
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

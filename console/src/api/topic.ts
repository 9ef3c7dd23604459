import { GetTopicAttributesCommand, SetTopicAttributesCommand } from '@aws-sdk/client-sns'
import { useQuery } from '@tanstack/react-query'
import { sns } from '../aws/sns'
import { keys } from './keys'
import { nameOf } from './queues'
import { useTopics } from './topics'

/** useTopicArn returns the ARN of the account's topic of a name: undefined until it is known, empty if there is none. */
export function useTopicArn(name: string) {
  const { data, error } = useTopics()
  return { arn: data && (data.find((arn) => nameOf(arn) === name) ?? ''), error }
}

/** topicAttributes asks for the attributes of a topic. */
export const topicAttributes = (arn: string | undefined) => ({
  queryKey: keys.topic(arn),
  enabled: Boolean(arn),
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await sns().send(new GetTopicAttributesCommand({ TopicArn: arn }), { abortSignal: signal })).Attributes as Record<
      string,
      string
    >,
})

/** useTopic returns the attributes of a topic. */
export const useTopic = (arn: string | undefined) => useQuery(topicAttributes(arn))

/** setTopicAttribute changes one attribute of a topic. */
export const setTopicAttribute = (arn: string, name: string, value: string) =>
  sns().send(new SetTopicAttributesCommand({ TopicArn: arn, AttributeName: name, AttributeValue: value }))

import {
  CreateTopicCommand,
  type CreateTopicCommandInput,
  DeleteTopicCommand,
  ListTagsForResourceCommand,
  PublishCommand,
  type PublishCommandInput,
  TagResourceCommand,
  UntagResourceCommand,
} from '@aws-sdk/client-sns'
import { sns } from '../aws/sns'
import { record, type Tag } from '../data/tags'

export type { PublishCommandInput }

/** createTopic creates a topic, or finds an identical one, and returns its ARN. */
export async function createTopic(input: CreateTopicCommandInput): Promise<string> {
  return (await sns().send(new CreateTopicCommand(input))).TopicArn ?? ''
}

/** deleteTopic deletes a topic with its subscriptions. */
export const deleteTopic = (arn: string) => sns().send(new DeleteTopicCommand({ TopicArn: arn }))

/** publish sends a message to all subscriptions of a topic. */
export const publish = (input: PublishCommandInput) => sns().send(new PublishCommand(input))

/** topicTags returns the tags of a topic. */
export async function topicTags(arn: string, signal: AbortSignal): Promise<Tag[]> {
  const { Tags = [] } = await sns().send(new ListTagsForResourceCommand({ ResourceArn: arn }), { abortSignal: signal })
  return Tags.map((t) => ({ key: t.Key ?? '', value: t.Value ?? '' }))
}

/** setTopicTags replaces the tags of a topic. */
export async function setTopicTags(arn: string, before: Tag[], after: Tag[]) {
  const now = record(after)
  const gone = before.map((t) => t.key).filter((key) => !Object.hasOwn(now, key))
  if (gone.length > 0) {
    await sns().send(new UntagResourceCommand({ ResourceArn: arn, TagKeys: gone }))
  }
  if (Object.keys(now).length > 0) {
    const Tags = Object.entries(now).map(([Key, Value]) => ({ Key, Value }))
    await sns().send(new TagResourceCommand({ ResourceArn: arn, Tags }))
  }
}

import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  PurgeQueueCommand,
  type QueueAttributeName,
  SetQueueAttributesCommand,
  TagQueueCommand,
  UntagQueueCommand,
} from '@aws-sdk/client-sqs'
import { sluice } from '../aws/sluice'
import { sqs } from '../aws/sqs'
import type { Undo } from './queues'

/** createQueue creates a queue. */
export const createQueue = (name: string, attributes: Record<string, string>, tags?: Record<string, string>) =>
  sqs().send(new CreateQueueCommand({ QueueName: name, Attributes: attributes, ...(tags && { tags }) }))

/** queueAttribute returns one attribute of a queue, if it is set. */
export async function queueAttribute(
  queue: string,
  name: QueueAttributeName,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const command = new GetQueueAttributesCommand({ QueueUrl: queue, AttributeNames: [name] })
  return (await sqs().send(command, { ...(signal && { abortSignal: signal }) })).Attributes?.[name]
}

/** setQueueAttributes changes attributes of a queue. */
export const setQueueAttributes = (queue: string, attributes: Record<string, string>) =>
  sqs().send(new SetQueueAttributesCommand({ QueueUrl: queue, Attributes: attributes }))

/** deleteQueue deletes a queue with all its messages. */
export const deleteQueue = (queue: string) => sqs().send(new DeleteQueueCommand({ QueueUrl: queue }))

/** undoDelete restores a deleted queue, for some minutes. */
export const undoDelete = (queue: string) => sluice('UndoDelete', { QueueName: queue })

/** purgeQueue deletes all messages of a queue. */
export const purgeQueue = (queue: string) => sqs().send(new PurgeQueueCommand({ QueueUrl: queue }))

/** undoPurge restores the messages that the last purge of a queue deleted, for some minutes. */
export const undoPurge = (queue: string) => sluice<Undo>('UndoPurge', { QueueUrl: queue })

/** tagQueue adds tags to a queue, or changes their values. */
export const tagQueue = (queue: string, tags: Record<string, string>) =>
  sqs().send(new TagQueueCommand({ QueueUrl: queue, Tags: tags }))

/** untagQueue removes tags. */
export const untagQueue = (queue: string, keys: string[]) =>
  sqs().send(new UntagQueueCommand({ QueueUrl: queue, TagKeys: keys }))

/** pauseQueue makes receives of a queue wait; sends and deletes go on. */
export const pauseQueue = (queue: string) => tagQueue(queue, { 'sluice:delivery': 'paused' })

/** resumeQueue ends that. */
export const resumeQueue = (queue: string) => untagQueue(queue, ['sluice:delivery'])

import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  type Message as Received,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
} from '@aws-sdk/client-sqs'
import { sqs } from '../aws/sqs'

export type { Received }

type Sent = Omit<SendMessageCommandInput, 'QueueUrl'>
type Receive = Omit<ReceiveMessageCommandInput, 'QueueUrl'>

/** sendMessage sends a message to a queue. */
export const sendMessage = (queue: string, message: Sent) =>
  sqs().send(new SendMessageCommand({ QueueUrl: queue, ...message }))

/** sendMessages sends up to ten messages, each of which can fail. */
export const sendMessages = (queue: string, entries: SendMessageBatchRequestEntry[]) =>
  sqs().send(new SendMessageBatchCommand({ QueueUrl: queue, Entries: entries }))

/** receiveMessages receives messages as a consumer does. */
export async function receiveMessages(queue: string, input: Receive, signal: AbortSignal): Promise<Received[]> {
  const command = new ReceiveMessageCommand({ QueueUrl: queue, ...input })
  return (await sqs().send(command, { abortSignal: signal })).Messages ?? []
}

/** deleteReceived deletes up to ten received messages, and returns which could not be deleted: their ids are places in the list. */
export async function deleteReceived(queue: string, handles: string[]) {
  const entries = handles.map((handle, i) => ({ Id: String(i), ReceiptHandle: handle }))
  return (await sqs().send(new DeleteMessageBatchCommand({ QueueUrl: queue, Entries: entries }))).Failed ?? []
}

/** putBack makes a received message visible at once. */
export const putBack = (queue: string, handle: string) =>
  sqs().send(new ChangeMessageVisibilityCommand({ QueueUrl: queue, ReceiptHandle: handle, VisibilityTimeout: 0 }))

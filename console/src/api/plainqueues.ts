import { GetQueueAttributesCommand, ListQueuesCommand } from '@aws-sdk/client-sqs'
import { isAbsent, isDenied } from '../aws/failure'
import { sessionNow, settingsNow } from '../aws/session'
import { sqs } from '../aws/sqs'
import { each } from '../data/each'
import { redriveOf } from './attributes'
import { nameOf } from './queues'
import type { Counted, ListedQueue } from './queuestate'

/** plainQueues lists the account's queues as SQS does: all of them, by their names. */
export async function plainQueues(signal: AbortSignal): Promise<ListedQueue[]> {
  const queues: ListedQueue[] = []
  let token: string | undefined
  do {
    const page = await sqs().send(new ListQueuesCommand({ MaxResults: 1000, NextToken: token }), {
      abortSignal: signal,
    })
    queues.push(...(page.QueueUrls ?? []).map(listed))
    token = page.NextToken
  } while (token)
  return queues.sort((a, b) => (a.QueueName < b.QueueName ? -1 : 1))
}

function listed(url: string): ListedQueue {
  const name = nameOf(url)
  const settings = settingsNow()
  return {
    QueueName: name,
    QueueUrl: url,
    QueueArn: `arn:${settings?.partition ?? 'aws'}:sqs:${settings?.region}:${sessionNow().account}:${name}`,
    Fifo: name.endsWith('.fifo'),
  }
}

/** Counts are SQS's counts of queues, and the queues that this caller may not read. */
export interface Counts {
  known: Map<string, Counted>
  refused: Set<string>
}

/** countQueues asks for the attributes of queues, but not again where the caller was refused. */
export async function countQueues(names: string[], before: Counts | undefined, signal: AbortSignal): Promise<Counts> {
  const counts: Counts = { known: new Map(), refused: new Set(before?.refused) }
  await each(
    names.filter((name) => !counts.refused.has(name)),
    async (name) => {
      try {
        counts.known.set(name, await counted(name, signal))
      } catch (error) {
        if (isDenied(error)) {
          counts.refused.add(name)
        } else if (!isAbsent(error)) {
          throw error
        }
      }
    },
  )
  return counts
}

async function counted(queue: string, signal: AbortSignal): Promise<Counted> {
  const out = await sqs().send(new GetQueueAttributesCommand({ QueueUrl: queue, AttributeNames: ['All'] }), {
    abortSignal: signal,
  })
  const a: Partial<Record<string, string>> = out.Attributes ?? {}
  const letters = redriveOf(a)?.deadLetterTargetArn
  return {
    Visible: Number(a.ApproximateNumberOfMessages),
    InFlight: Number(a.ApproximateNumberOfMessagesNotVisible),
    Delayed: Number(a.ApproximateNumberOfMessagesDelayed),
    CreatedTimestamp: Number(a.CreatedTimestamp) * 1000,
    Encryption: a.KmsMasterKeyId ? 'SSE-KMS' : a.SqsManagedSseEnabled === 'true' ? 'SSE-SQS' : 'Disabled',
    ContentBasedDeduplication: a.ContentBasedDeduplication === 'true',
    ...(letters && { DeadLetterQueueArn: letters }),
  }
}

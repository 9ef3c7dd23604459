import { isDenied } from '../aws/failure'
import { sluice } from '../aws/sluice'
import type { QueuePage } from './queuepage'

/** found is what can be chosen from: some queues, and how many there are of such names. */
type Found = Pick<QueuePage, 'Queues' | 'Total'>

/**
 * findQueues returns the queues whose names contain a text, in any case, most of them at most. A user who may not ask for the states
 * of queues gets what SQS lists.
 */
export async function findQueues(text: string, most: number, signal: AbortSignal): Promise<Found> {
  try {
    return await sluice<QueuePage>('ListQueueStates', { Max: most, ...(text && { Contains: text }) }, signal)
  } catch (error) {
    if (!isDenied(error)) {
      throw error
    }
  }
  const { plainQueues } = await import('./plainqueues')
  const queues = (await plainQueues(signal)).filter((q) => q.QueueName.toLowerCase().includes(text.toLowerCase()))
  return { Queues: queues.slice(0, most), Total: queues.length }
}

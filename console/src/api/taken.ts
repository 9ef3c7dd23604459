import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { isDenied } from '../aws/failure'
import { sluice } from '../aws/sluice'
import { keys } from './keys'
import type { QueuePage } from './queuepage'
import { nameOf } from './queues'

/** pause is how long a name stays as it is until the server is asked for it, in milliseconds. */
const pause = 250

/** useTaken says that there is already a queue of a name, if it is known. */
export function useTaken(name: string): string | undefined {
  const [typed, setTyped] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setTyped(name), pause)
    return () => clearTimeout(timer)
  }, [name])
  const { data } = useQuery({
    queryKey: keys.taken(typed),
    enabled: typed !== '' && typed === name,
    retry: false,
    queryFn: ({ signal }) => isThere(typed, signal),
  })
  return data && typed === name ? `There is already a queue ${name}.` : undefined
}

/** isThere asks for the first queue whose name begins with a name: a queue of that name comes before those with longer ones. */
async function isThere(name: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { Queues } = await sluice<QueuePage>('ListQueueStates', { Prefix: name, Max: 1 }, signal)
    return Queues[0]?.QueueName === name
  } catch (error) {
    if (!isDenied(error)) {
      throw error
    }
  }
  const [{ ListQueuesCommand }, { sqs }] = await Promise.all([import('@aws-sdk/client-sqs'), import('../aws/sqs')])
  const command = new ListQueuesCommand({ QueueNamePrefix: name, MaxResults: 1 })
  const { QueueUrls = [] } = await sqs().send(command, { abortSignal: signal })
  return QueueUrls.some((url) => nameOf(url) === name)
}

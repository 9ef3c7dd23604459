import { ListTopicsCommand } from '@aws-sdk/client-sns'
import { useQuery } from '@tanstack/react-query'
import { sns } from '../aws/sns'
import { keys } from './keys'
import { nameOf } from './queues'

/** useTopics returns the ARNs of all topics of the account, in the order of their names. */
export function useTopics() {
  return useQuery({
    queryKey: keys.topics,
    staleTime: 10_000,
    queryFn: async ({ signal }) => {
      const arns: string[] = []
      let token: string | undefined
      do {
        const page = await sns().send(new ListTopicsCommand({ NextToken: token }), { abortSignal: signal })
        arns.push(...(page.Topics ?? []).map((t) => t.TopicArn ?? ''))
        token = page.NextToken
      } while (token)
      return arns.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    },
  })
}

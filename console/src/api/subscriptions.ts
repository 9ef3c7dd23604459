import {
  GetSubscriptionAttributesCommand,
  ListSubscriptionsByTopicCommand,
  ListSubscriptionsCommand,
  SetSubscriptionAttributesCommand,
  SubscribeCommand,
  type Subscription,
  UnsubscribeCommand,
} from '@aws-sdk/client-sns'
import { useQuery } from '@tanstack/react-query'
import { sns } from '../aws/sns'
import { keys } from './keys'

export type { Subscription }

/** useSubscriptions returns the subscriptions of a topic, or all that are the account's. */
export function useSubscriptions(topic?: string) {
  return useQuery({
    queryKey: [...keys.subscriptions, topic ?? ''],
    queryFn: async ({ signal }) => {
      const found: Subscription[] = []
      let token: string | undefined
      do {
        const page = topic
          ? await sns().send(new ListSubscriptionsByTopicCommand({ TopicArn: topic, NextToken: token }), {
              abortSignal: signal,
            })
          : await sns().send(new ListSubscriptionsCommand({ NextToken: token }), { abortSignal: signal })
        found.push(...(page.Subscriptions ?? []))
        token = page.NextToken
      } while (token)
      return found
    },
  })
}

/** mostPages bounds in how many answers, of a hundred subscriptions each, the sources of a queue are looked for. */
const mostPages = 10

/** useFeeds returns the subscriptions of topics by which a queue gets messages, among the account's first thousand. */
export function useFeeds(arn: string) {
  return useQuery({
    queryKey: [...keys.subscriptions, 'to', arn],
    enabled: arn !== '',
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const found: Subscription[] = []
      let token: string | undefined
      let pages = 0
      do {
        const page = await sns().send(new ListSubscriptionsCommand({ NextToken: token }), { abortSignal: signal })
        found.push(...(page.Subscriptions ?? []).filter((s) => s.Protocol === 'sqs' && s.Endpoint === arn))
        token = page.NextToken
        pages++
      } while (token && pages < mostPages)
      return { found, more: token !== undefined }
    },
  })
}

/** isPending reports whether the endpoint has not confirmed yet. */
export function isPending(subscription: Subscription): boolean {
  return !subscription.SubscriptionArn?.startsWith('arn:')
}

/** idOf returns the last part of a subscription's ARN. */
export function idOf(arn: string): string {
  return arn.replace(/^.*:/, '')
}

/** subscriptionAttributes returns the attributes of a subscription. */
export const subscriptionAttributes = async (arn: string | undefined, signal: AbortSignal) =>
  (await sns().send(new GetSubscriptionAttributesCommand({ SubscriptionArn: arn }), { abortSignal: signal }))
    .Attributes as Record<string, string>

/** subscribe subscribes an endpoint, or asks one that has not confirmed once more. */
export const subscribe = (topic: string, protocol: string, endpoint: string, attributes: Record<string, string> = {}) =>
  sns().send(
    new SubscribeCommand({
      TopicArn: topic,
      Protocol: protocol,
      Endpoint: endpoint,
      ReturnSubscriptionArn: true,
      ...(Object.keys(attributes).length > 0 && { Attributes: attributes }),
    }),
  )

/** unsubscribe ends a subscription. */
export const unsubscribe = (arn: string) => sns().send(new UnsubscribeCommand({ SubscriptionArn: arn }))

/** setSubscriptionAttribute changes one attribute of a subscription. */
export const setSubscriptionAttribute = (arn: string, name: string, value: string) =>
  sns().send(new SetSubscriptionAttributesCommand({ SubscriptionArn: arn, AttributeName: name, AttributeValue: value }))

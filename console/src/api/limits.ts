import { useQuery } from '@tanstack/react-query'
import { sluice } from '../aws/sluice'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'

/** Kind is what a limit is about, by the server's name for it. */
export type Kind =
  | 'SendsPerSecond'
  | 'ReceivesPerSecond'
  | 'ConcurrentRequests'
  | 'StoredMessages'
  | 'StoredBytes'
  | 'Queues'
  | 'Topics'
  | 'Subscriptions'

/** kinds are all kinds, in order, with what the console calls them. Users have only those that say so. */
export const kinds: { kind: Kind; label: string; ofUsers?: boolean }[] = [
  { kind: 'SendsPerSecond', label: 'Sends per second', ofUsers: true },
  { kind: 'ReceivesPerSecond', label: 'Receives per second', ofUsers: true },
  { kind: 'ConcurrentRequests', label: 'Concurrent requests', ofUsers: true },
  { kind: 'StoredMessages', label: 'Stored messages' },
  { kind: 'StoredBytes', label: 'Stored bytes' },
  { kind: 'Queues', label: 'Queues' },
  { kind: 'Topics', label: 'Topics' },
  { kind: 'Subscriptions', label: 'Subscriptions' },
]

/** Limited is an account, or a user of it, with its limits and what is used of them. */
export interface Limited {
  AccountId: string
  UserName?: string
  Limits: Partial<Record<Kind, number>>
  Used: Partial<Record<Kind, number>>
  Refused: Partial<Record<Kind, number>>
}

/** nameOf is how an account or user is called: 111122223333/bob. */
export const nameOf = (l: Limited) => (l.UserName ? `${l.AccountId}/${l.UserName}` : l.AccountId)

/** subjectOf is what names an account or user in operations. */
const subjectOf = (name: string) => {
  const [AccountId, UserName] = name.split('/', 2)
  return { AccountId, ...(UserName && { UserName }) }
}

/** useLimits returns the accounts and users that have limits. */
export function useLimits() {
  const interval = useRefresh()
  return useQuery({
    queryKey: keys.limits,
    queryFn: async ({ signal }) => {
      const all: Limited[] = []
      let NextToken: string | undefined
      do {
        const page = await sluice<{ Limits: Limited[]; NextToken?: string }>(
          'ListLimits',
          NextToken ? { NextToken } : {},
          signal,
        )
        all.push(...page.Limits)
        NextToken = page.NextToken
      } while (NextToken)
      return all
    },
    refetchInterval: interval,
  })
}

/** setLimits makes the limits of an account or user those that are given, and removes the others that it had. */
export async function setLimits(
  name: string,
  limits: Partial<Record<Kind, number>>,
  had: Partial<Record<Kind, number>>,
) {
  const gone = Object.keys(had).filter((kind) => limits[kind as Kind] === undefined)
  if (Object.keys(limits).length > 0) {
    await sluice('SetLimits', { ...subjectOf(name), Limits: limits })
  }
  if (gone.length > 0) {
    await sluice('DeleteLimits', { ...subjectOf(name), Names: gone })
  }
}

/** removeLimits takes all limits from an account or user. */
export const removeLimits = (name: string) => sluice('DeleteLimits', subjectOf(name))

import { useQuery } from '@tanstack/react-query'
import { sluice } from '../aws/sluice'
import { each } from '../data/each'
import { keys } from './keys'

/** Decision reports whether the caller may take an action on a queue. */
interface Decision {
  Action: string
  Allowed: boolean
  Message?: string
}

/** Refusals are why actions are refused, by their names: what is not in it is allowed, or not known. */
export type Refusals = ReadonlyMap<string, string>

/** actions are the actions on queues of the console's buttons. */
const actions = [
  ...['SetQueueAttributes', 'DeleteQueue', 'PurgeQueue', 'TagQueue', 'UntagQueue', 'SendMessage', 'ReceiveMessage'],
  ...['DeleteMessage', 'StartMessageMoveTask'],
]
  .map((name) => `sqs:${name}`)
  .concat('sluice:RedriveMessages', 'sluice:EditMessage', 'sluice:DeleteMessages')
  .concat('sluice:PauseMessageGroups', 'sluice:ResumeMessageGroups', 'sluice:UndoDelete', 'sluice:UndoPurge')

/** redriving are the permissions that a redrive needs on the queue. */
export const redriving = [
  'sluice:RedriveMessages',
  'sqs:StartMessageMoveTask',
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
]

/** mostQueues bounds of how many queues it is asked. Of others the dialog says what was refused. */
const mostQueues = 10

const none: Refusals = new Map()

/** useRefusals returns what the caller may not do with queues: with any of them, if they are several. */
export function useRefusals(queues: string[]): Refusals {
  const asked = queues.slice(0, mostQueues)
  const refusals = useQuery<Refusals>({
    queryKey: keys.access(asked),
    enabled: asked.length > 0,
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      const found = new Map<string, string>()
      await each(asked, async (queue) => {
        for (const d of await decisions(queue, actions, signal)) {
          if (!d.Allowed) {
            found.set(d.Action, reasonOf(d))
          }
        }
      })
      return found
    },
  })
  return refusals.data ?? none
}

async function decisions(QueueUrl: string, Actions: string[], signal: AbortSignal): Promise<Decision[]> {
  return (await sluice<{ Decisions: Decision[] }>('CheckAccess', { QueueUrl, Actions }, signal)).Decisions
}

const creating = 'sqs:CreateQueue'

/**
 * useCreating makes the property of buttons that create a queue. Policies may allow some names only: it is refused if that of a new
 * queue is, and those of queues that are there, too.
 */
export function useCreating(queues: string[] = []) {
  const asked = ['new-queue', ...queues.slice(0, mostQueues - 1)]
  const refusal = useQuery<string>({
    queryKey: keys.creating(asked),
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      let reason = ''
      for (const queue of asked) {
        const [decision] = await decisions(queue, [creating], signal)
        if (!decision || decision.Allowed) {
          return ''
        }
        reason ||= reasonOf(decision)
      }
      return reason
    },
  })
  return refusal.data ? { disabled: true, disabledReason: refusal.data } : {}
}

/** reasonOf returns why an action is refused, in one line. */
function reasonOf({ Action, Message = '' }: Decision): string {
  return /explicit deny/.test(Message) ? `A policy denies you ${Action}.` : `You do not have the permission ${Action}.`
}

/** refused makes the properties of a button that takes actions: it is disabled, with the reason, if one of them is refused. */
export function refused(refusals: Refusals, ...taken: string[]) {
  const reason = taken.map((action) => refusals.get(action)).find((r) => r !== undefined)
  return reason === undefined ? {} : { disabled: true, disabledReason: reason }
}

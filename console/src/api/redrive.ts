import { CancelMessageMoveTaskCommand } from '@aws-sdk/client-sqs'
import { useQuery } from '@tanstack/react-query'
import { isDenied } from '../aws/failure'
import { sluice } from '../aws/sluice'
import { sqs } from '../aws/sqs'
import { useRefresh } from '../frame/preferences'
import { keys } from './keys'
import type { Message } from './message'
import type { MoveTask } from './movetask'
import type { Peeked } from './peek'

/** shownBodies is how many messages a dry run shows, counted how many it counts before it leaves the rest to the task. */
const shownBodies = 5
const counted = 20_000

/** Plan is the input of a redrive, as RedriveMessages takes it. */
export interface RedrivePlan {
  QueueUrl: string
  Filter?: string
  MessageIds?: string[]
  DestinationArn?: string
  Edit?: object
}

/** Moves is the result of a dry run so far. */
export interface Moves {
  sample: Message[]
  /** to counts the messages by where they would go; an empty name is of those that do not say where they came from. */
  to: Map<string, number>
  found: number
  scanned: number
  total: number
  /** ended says that all has been looked at. */
  ended: boolean
}

/** dryRun asks the server what a redrive would move, and tells what it knows after each answer. It returns the last of that. */
export async function dryRun(plan: RedrivePlan, signal: AbortSignal, tell: (moves: Moves) => void): Promise<Moves> {
  const moves: Moves = { sample: [], to: new Map(), found: 0, scanned: 0, total: 0, ended: false }
  let bodies = true
  let cursor: string | undefined
  do {
    const first = moves.found === 0
    const input = { ...plan, DryRun: true, Max: first ? shownBodies : 500, ...(cursor && { Cursor: cursor }) }
    let out: Peeked
    try {
      out = await sluice<Peeked>('RedriveMessages', { ...input, IncludeBody: first && bodies }, signal)
    } catch (error) {
      if (!bodies || !isDenied(error) || !(error instanceof Error) || !error.message.includes('PeekMessageBody')) {
        throw error
      }
      bodies = false
      continue
    }
    for (const m of out.Messages) {
      const to = plan.DestinationArn ?? m.DeadLetterQueueSourceArn ?? ''
      moves.to.set(to, (moves.to.get(to) ?? 0) + 1)
    }
    moves.sample = [...moves.sample, ...out.Messages].slice(0, shownBodies)
    moves.found += out.Messages.length
    moves.scanned += out.Scanned
    moves.total = Math.max(moves.total, out.Total)
    cursor = out.Cursor
    moves.ended = !cursor
    tell({ ...moves, to: new Map(moves.to) })
  } while (cursor && moves.found < counted && !signal.aborted)
  return moves
}

/** movesNothing reports whether a dry run has looked at all messages and would move none of them. */
export function movesNothing(moves: Moves): boolean {
  return moves.ended && moves.found === (moves.to.get('') ?? 0)
}

/** startRedrive begins a task that moves what a plan selects. */
export const startRedrive = (plan: RedrivePlan & { MaxNumberOfMessagesPerSecond?: number }) =>
  sluice<{ TaskHandle: string }>('RedriveMessages', plan)

/** cancelRedrive ends a task: what was moved until then stays moved. */
export const cancelRedrive = (handle: string) => sqs().send(new CancelMessageMoveTaskCommand({ TaskHandle: handle }))

/** useRedriveTasks returns the last tasks that moved messages of a queue, and looks each second while one runs. */
export function useRedriveTasks(queue: string) {
  const interval = useRefresh()
  return useQuery({
    queryKey: keys.tasks(queue),
    queryFn: ({ signal }) => sluice<{ Tasks: MoveTask[] }>('ListRedriveTasks', { QueueUrl: queue }, signal),
    refetchInterval: (q) => (q.state.data?.Tasks.some((t) => t.TaskHandle) ? 1000 : interval),
  })
}

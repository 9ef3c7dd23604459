import Box from '@cloudscape-design/components/box'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { type ReactNode, useEffect, useState } from 'react'
import type { Peeked } from '../../../api/peek'
import { nameOf } from '../../../api/queues'
import { isDenied } from '../../../aws/failure'
import { sluice } from '../../../aws/sluice'
import { count, plural } from '../../../parts/format'
import type { Message } from '../../../parts/message'
import { Problem } from '../../../parts/problem'

/** shownBodies is how many messages a dry run shows, counted how many it counts before it leaves the rest to the task. */
const shownBodies = 5
const counted = 20_000

/** Plan is what a redrive is asked for, as RedriveMessages takes it. */
export interface RedrivePlan {
  QueueUrl: string
  Filter?: string
  MessageIds?: string[]
  DestinationArn?: string
  Edit?: object
}

/** Moves is what a dry run has found so far. */
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

/** movesNothing says whether a dry run has looked at all messages and would move none of them. */
export function movesNothing(moves: Moves): boolean {
  return moves.ended && moves.found === (moves.to.get('') ?? 0)
}

interface DryRunProps {
  plan: RedrivePlan
  /** found is given what the dry run has found so far, and undefined when another begins or one fails. */
  found: (moves: Moves | undefined) => void
  /** failed is called if there is no dry run. The server decides then whether the redrive begins. */
  failed: () => void
  /** offer is what would help messages that would stay. */
  offer?: ReactNode
}

/** DryRun shows what a redrive would move, before it is begun. */
export function DryRun({ plan, found, failed, offer }: DryRunProps) {
  const [moves, setMoves] = useState<Moves>()
  const [error, setError] = useState<unknown>()
  const wanted = JSON.stringify(plan)
  useEffect(() => {
    const controller = new AbortController()
    const show = (known: Moves | undefined) => {
      setMoves(known)
      found(known)
    }
    setError(undefined)
    show(undefined)
    dryRun(JSON.parse(wanted) as RedrivePlan, controller.signal, show).catch((e: unknown) => {
      if (!controller.signal.aborted) {
        setError(e)
        failed()
      }
    })
    return () => controller.abort()
  }, [wanted, found, failed])
  if (error !== undefined) {
    return <Problem error={error} what="No dry run" />
  }
  if (!moves) {
    return <StatusIndicator type="loading">Dry run</StatusIndicator>
  }
  return (
    <SpaceBetween size="xs">
      <Outcome moves={moves} offer={offer} />
      {moves.sample.some((m) => m.Body !== undefined) && (
        <div>
          <Box variant="awsui-key-label">{moves.found > moves.sample.length ? 'The first of them' : 'They are'}</Box>
          {moves.sample.map((m) => (
            <span key={m.MessageId} className="code preview">
              {m.Body?.slice(0, 200)}
            </span>
          ))}
        </div>
      )}
    </SpaceBetween>
  )
}

/** Outcome says what a dry run has found, and offers what would help messages that would stay. */
export function Outcome({ moves, offer }: { moves: Moves; offer?: ReactNode }) {
  const stay = moves.to.get('') ?? 0
  const move = moves.found - stay
  const places = [...moves.to].filter(([to]) => to !== '').sort((a, b) => b[1] - a[1])
  const more = moves.ended ? '' : ' or more'
  return (
    <SpaceBetween size="xs">
      <StatusIndicator type={move > 0 ? 'success' : 'warning'}>
        Dry run: {plural(move, 'message')}
        {more} would be moved
      </StatusIndicator>
      <ul className="plain-list">
        {places.slice(0, 10).map(([to, n]) => (
          <li key={to} className="break">
            {count(n)} to {nameOf(to)}
          </li>
        ))}
        {places.length > 10 && <li>and to {count(places.length - 10)} more queues</li>}
        {moves.found === 0 && <li>No matches, or the matches are in flight or delayed now.</li>}
        {stay > 0 && (
          <li>{plural(stay, 'message')} would stay: they do not say where they came from. Choose a destination.</li>
        )}
      </ul>
      {stay > 0 && offer}
    </SpaceBetween>
  )
}

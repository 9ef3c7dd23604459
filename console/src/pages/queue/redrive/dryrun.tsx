import Box from '@cloudscape-design/components/box'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { type ReactNode, useEffect, useState } from 'react'
import { nameOf } from '../../../api/queues'
import { dryRun, type Moves, type RedrivePlan } from '../../../api/redrive'
import { count, plural } from '../../../data/format'
import { Problem } from '../../../parts/problem'

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
          <Box variant="awsui-key-label">{moves.found > moves.sample.length ? 'First messages' : 'Messages'}</Box>
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
        {stay > 0 && <li>{plural(stay, 'message')} would stay: no source queue is known. Choose a destination.</li>}
      </ul>
      {stay > 0 && offer}
    </SpaceBetween>
  )
}

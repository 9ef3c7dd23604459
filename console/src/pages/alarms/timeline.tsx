import type { AlarmHistoryItem } from '@aws-sdk/client-cloudwatch'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import './alarms.css'
import type { Span } from '../../api/metrics'
import { instant } from '../../data/format'
import { usePreferences } from '../../frame/preferences'

interface Piece {
  from: number
  to: number
  state: string
}

/** pieces cuts a span where the state changed. The state before the first change is the one it changed from. */
export function pieces(items: AlarmHistoryItem[], span: Span, state: string): Piece[] {
  const changes = items
    .filter((i) => i.HistoryItemType === 'StateUpdate' && i.Timestamp)
    .map((i) => {
      const [, from = '', to = ''] = /from (\w+) to (\w+)/.exec(i.HistorySummary ?? '') ?? []
      return { at: i.Timestamp?.getTime() ?? 0, from, to }
    })
    .filter((c) => c.to) // others are about suppressed actions
    .sort((a, b) => a.at - b.at)
  const start = span.start.getTime()
  const end = span.end.getTime()
  const inside = changes.filter((c) => c.at > start && c.at < end)
  let current = inside[0]?.from || changes.filter((c) => c.at <= start).at(-1)?.to || state
  let from = start
  const out: Piece[] = []
  for (const change of inside) {
    out.push({ from, to: change.at, state: current })
    from = change.at
    current = change.to
  }
  out.push({ from, to: end, state: current })
  return out
}

/** Timeline draws the states of an alarm over time. */
export function Timeline({ items, span, state }: { items: AlarmHistoryItem[]; span: Span; state: string }) {
  const { zone } = usePreferences()
  const length = span.end.getTime() - span.start.getTime()
  return (
    <Container header={<Header variant="h2">States over time</Header>}>
      <svg
        className="timeline"
        viewBox="0 0 1000 24"
        preserveAspectRatio="none"
        role="img"
        aria-label="States over time"
      >
        {pieces(items, span, state).map((p) => (
          <rect
            key={p.from}
            className={p.state}
            x={((p.from - span.start.getTime()) / length) * 1000}
            width={((p.to - p.from) / length) * 1000}
            y={0}
            height={24}
          >
            <title>{`${p.state.replace('_', ' ')} from ${instant(p.from, zone)} to ${instant(p.to, zone)}`}</title>
          </rect>
        ))}
      </svg>
      <div className="ends">
        <span>{instant(span.start.getTime(), zone)}</span>
        <span>
          <i className="mark OK" /> OK <i className="mark ALARM" /> In alarm <i className="mark INSUFFICIENT_DATA" />{' '}
          Insufficient data
        </span>
        <span>{instant(span.end.getTime(), zone)}</span>
      </div>
    </Container>
  )
}

import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import type { ListedQueue } from '../../api/queuestate'
import { left } from '../../data/growth'
import { Figure } from '../../parts/figure'

/** Totals are sums over the queues that were looked at. */
export function Totals({ queues }: { queues: ListedQueue[] }) {
  const states = queues.flatMap((q) => q.State ?? [])
  const sum = (of: (s: (typeof states)[number]) => number) => states.reduce((n, s) => n + of(s), 0)
  const figures: [string, number][] = [
    ['Messages available', sum((s) => s.Visible)],
    ['Messages in flight', sum((s) => s.InFlight)],
    ['Sent in the last minute', sum((s) => s.LastMinute?.Sent ?? 0)],
    ['Gone in the last minute', sum((s) => (s.LastMinute ? left(s.LastMinute) : 0))],
  ]
  return (
    <Container>
      <ColumnLayout columns={4} variant="text-grid" minColumnWidth={130}>
        {figures.map(([title, value]) => (
          <Figure key={title} title={title} value={value} />
        ))}
      </ColumnLayout>
    </Container>
  )
}

import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import type { Sums } from '../../api/queuepage'
import { left } from '../../data/growth'
import { Figure } from '../../parts/figure'

/** Totals are sums over all queues. */
export function Totals({ sums }: { sums: Sums }) {
  const figures: [string, number][] = [
    ['Messages available', sums.Visible],
    ['Messages in flight', sums.InFlight],
    ['Sent in the last minute', sums.LastMinute.Sent],
    ['Gone in the last minute', left(sums.LastMinute)],
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

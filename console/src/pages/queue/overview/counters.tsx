import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import type { Attributes } from '../../../api/attributes'
import { Figure } from '../../../parts/figure'

/** Counters are what SQS itself counts, for a user who may not see the state of the queue. */
export function Counters({ attributes: a }: { attributes: Attributes }) {
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text))
  return (
    <Container>
      <ColumnLayout columns={3} variant="text-grid" minColumnWidth={150}>
        <Figure title="Messages available" value={number(a.ApproximateNumberOfMessages)} />
        <Figure title="Messages in flight" value={number(a.ApproximateNumberOfMessagesNotVisible)} />
        <Figure title="Messages delayed" value={number(a.ApproximateNumberOfMessagesDelayed)} />
      </ColumnLayout>
    </Container>
  )
}

import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Modal from '@cloudscape-design/components/modal'
import type { Entry } from '../../api/events'
import { pretty } from '../../data/json'
import { Copy } from '../../parts/copy'

/** Records shows the records of events side by side, as CloudTrail writes them. */
export function Records({ entries, close }: { entries: Entry[]; close: () => void }) {
  return (
    <Modal
      visible
      size={entries.length > 1 ? 'max' : 'large'}
      header={entries.length > 1 ? 'Compare events' : 'Event record'}
      onDismiss={close}
      footer={
        <div className="flow">
          <Button variant="primary" onClick={close}>
            Close
          </Button>
        </div>
      }
    >
      <ColumnLayout columns={entries.length} minColumnWidth={320}>
        {entries.map((e) => (
          <Container
            key={e.id}
            header={
              <Header variant="h2" actions={<Copy text={pretty(e.text)} />}>
                {e.name}
              </Header>
            }
          >
            <pre className="code">{pretty(e.text)}</pre>
          </Container>
        ))}
      </ColumnLayout>
    </Modal>
  )
}

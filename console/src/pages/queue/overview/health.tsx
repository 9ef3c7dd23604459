import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import SpaceBetween from '@cloudscape-design/components/space-between'
import type { QueueDetail } from '../../../api/queues'
import { report } from '../../../data/report'
import type { Sentence } from '../../../data/sentence'
import { address } from '../../../frame/router'
import { Copy } from '../../../parts/copy'
import { Said } from '../../../parts/values'

interface HealthProps {
  queue: string
  state: QueueDetail
  said: Sentence
  /** dead says that the dead letters of other queues come here. */
  dead: boolean
}

/** Health says how a queue is and, in a box of their own, that messages of it have failed: each with what to do about it. */
export function Health({ queue, state, said, dead }: HealthProps) {
  const { type, text, advice, tabs, failures } = said
  const silent = ['Empty', ...(dead ? ['NotReceived'] : []), ...(type === 'success' ? ['AllInFlight'] : [])]
  const extra = state.Reasons.filter((r) => !silent.includes(r.Code)).map((r) => r.Text)
  const lines = [...new Set([...extra, ...advice])].filter((line) => !text.includes(line.replace(/\.$/, '')))
  const all = [text, ...lines, ...(failures ? [failures.text] : [])]
  const copy = <Copy text={report(queue, all, state, location.href)} label="Copy report" />
  return (
    <SpaceBetween size="xs">
      <Alert
        type={type}
        header={<Said text={text} />}
        action={
          <SpaceBetween direction="horizontal" size="xs">
            {tabs.map((tab) => (
              <Button key={tab} href={address(['queues', queue, tab])}>
                {tabLabels[tab]}
              </Button>
            ))}
            {type !== 'success' && copy}
          </SpaceBetween>
        }
      >
        {lines.map((line) => (
          <div key={line} className="break">
            <Said text={line} />
          </div>
        ))}
      </Alert>
      {failures && (
        <Alert
          type="warning"
          header={failures.text}
          action={
            <SpaceBetween direction="horizontal" size="xs">
              <Button href={address(['queues', failures.queue, 'redrive'])}>{tabLabels.redrive}</Button>
              {type === 'success' && copy}
            </SpaceBetween>
          }
        />
      )}
    </SpaceBetween>
  )
}

const tabLabels = { browse: 'Browse messages', redrive: 'Redrive', consumers: 'Consumers' }

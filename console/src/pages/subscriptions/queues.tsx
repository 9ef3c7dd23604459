import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import Checkbox from '@cloudscape-design/components/checkbox'
import Container from '@cloudscape-design/components/container'
import Form from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Modal from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../api/keys'
import { queueAttribute } from '../../api/queueactions'
import { allowTopic, statementFor } from '../../api/queuepolicy'
import { nameOf } from '../../api/queues'
import { subscribe } from '../../api/subscriptions'
import { useAction } from '../../api/useaction'
import { wordsOf } from '../../aws/failure'
import { plural } from '../../data/format'
import { goToFirstWrong } from '../../frame/firstwrong'
import { go, usePlace } from '../../frame/router'
import { Problem } from '../../parts/problem'
import { QueuesPicker } from '../../parts/queuepicker'
import { TopicField } from './topicfield'

interface Result {
  queue: string
  error?: unknown
}

/** SubscribeQueues subscribes one or more queues to a topic, and lets the topic send to them. */
export default function SubscribeQueues() {
  const { query } = usePlace()
  const [names, setNames] = useState<string[]>(() => (query.get('queues') ?? '').split(',').filter(Boolean))
  const [topic, setTopic] = useState('')
  const [raw, setRaw] = useState(false)
  const [allow, setAllow] = useState(true)
  const [tried, setTried] = useState(false)
  const { busy, run } = useAction()
  const [results, setResults] = useState<Result[]>()
  const arns = useQuery({
    queryKey: ['QueueArns', names],
    queryFn: ({ signal }) =>
      Promise.all(names.map(async (name) => (await queueAttribute(name, 'QueueArn', signal)) ?? '')),
  })
  async function submit() {
    setTried(true)
    if (!topic || names.length === 0 || !arns.data) {
      goToFirstWrong()
      return
    }
    const out: Result[] = []
    const wanted = arns.data
    await run(
      async () => {
        for (const arn of wanted) {
          try {
            if (allow) {
              await allowTopic(topic, arn)
            }
            await subscribe(topic, 'sqs', arn, raw ? { RawMessageDelivery: 'true' } : {})
            out.push({ queue: nameOf(arn) })
          } catch (error) {
            out.push({ queue: nameOf(arn), error })
          }
        }
        return undefined
      },
      { stale: [keys.subscriptions], done: () => setResults(out) },
    )
  }
  const [first] = arns.data ?? []
  return (
    <Form
      header={<Header variant="h1">Subscribe {names.length > 1 ? 'Queues' : 'Queue'} to SNS Topic</Header>}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button variant="link" onClick={() => go('/queues')}>
            Cancel
          </Button>
          <Button variant="primary" loading={busy} onClick={submit}>
            Subscribe
          </Button>
        </SpaceBetween>
      }
    >
      <SpaceBetween size="l">
        <Container>
          <SpaceBetween size="m">
            <FormField label="Queues" errorText={tried && names.length === 0 && 'Choose a queue.'}>
              <QueuesPicker names={names} choose={setNames} most={50} />
            </FormField>
            <TopicField topic={topic} choose={setTopic} error={tried && !topic ? 'Choose a topic.' : undefined} />
            <Checkbox checked={raw} onChange={({ detail }) => setRaw(detail.checked)}>
              Enable raw message delivery
            </Checkbox>
            <Checkbox
              checked={allow}
              onChange={({ detail }) => setAllow(detail.checked)}
              description="Without it, or a statement of your own, messages do not arrive."
            >
              Add this statement to the policy of {names.length > 1 ? 'each queue' : 'the queue'}
            </Checkbox>
            {allow && topic && first && (
              <pre className="code">{JSON.stringify(statementFor(topic, first), undefined, 2)}</pre>
            )}
          </SpaceBetween>
        </Container>
        {arns.error && <Problem error={arns.error} what="A queue cannot be read" />}
      </SpaceBetween>
      {results && (
        <Modal
          visible
          header="Topic Subscription Result"
          onDismiss={() => setResults(undefined)}
          footer={
            <div className="flow">
              <Button variant="primary" onClick={() => go('/subscriptions')}>
                OK
              </Button>
            </div>
          }
        >
          <SpaceBetween size="s">
            {results.every((r) => !r.error) && (
              <Alert type="success">
                {plural(results.length, 'queue')} now {results.length === 1 ? 'gets' : 'get'} what is published to{' '}
                {nameOf(topic)}.
              </Alert>
            )}
            {results.map((r) => (
              <StatusIndicator key={r.queue} type={r.error ? 'error' : 'success'}>
                {r.queue}
                {r.error ? `: ${wordsOf(r.error).text}` : ''}
              </StatusIndicator>
            ))}
          </SpaceBetween>
        </Modal>
      )}
    </Form>
  )
}

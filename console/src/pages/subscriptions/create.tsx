import Button from '@cloudscape-design/components/button'
import Checkbox from '@cloudscape-design/components/checkbox'
import Container from '@cloudscape-design/components/container'
import Form from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import { useState } from 'react'
import { keys } from '../../api/keys'
import { allowTopic, statementFor } from '../../api/queuepolicy'
import { nameOf } from '../../api/queues'
import { subscribe } from '../../api/subscriptions'
import { useAction } from '../../api/useaction'
import { jsonError } from '../../data/json'
import { goToFirstWrong } from '../../frame/firstwrong'
import { address, go, usePlace } from '../../frame/router'
import { Problem } from '../../parts/problem'
import { QueuePicker } from '../../parts/queuepicker'
import { filterExample } from './filterexample'
import { ScopeField } from './scopefield'
import { TopicField } from './topicfield'

const protocols = [
  { value: 'sqs', label: 'Amazon SQS', description: 'a queue of this server' },
  { value: 'https', label: 'HTTPS', description: 'a web hook, which must confirm' },
  { value: 'http', label: 'HTTP', description: 'a web hook without TLS' },
  { value: 'email', label: 'Email', description: 'a person, who must confirm' },
  { value: 'email-json', label: 'Email-JSON', description: 'a program that reads mail' },
]

/** CreateSubscription subscribes an endpoint to a topic. */
export default function CreateSubscription() {
  const { query } = usePlace()
  const [topic, setTopic] = useState(query.get('topic') ?? '')
  const [protocol, setProtocol] = useState('sqs')
  const [endpoint, setEndpoint] = useState('')
  const [raw, setRaw] = useState(false)
  const [allow, setAllow] = useState(true)
  const [filter, setFilter] = useState('')
  const [scope, setScope] = useState('MessageAttributes')
  const [tried, setTried] = useState(false)
  const { busy, error, run } = useAction()
  const wrong = {
    topic: topic ? undefined : 'Choose a topic.',
    endpoint: endpoint ? undefined : protocol === 'sqs' ? 'Choose a queue.' : 'Enter an endpoint.',
    filter: filter.trim() ? jsonError(filter) : undefined,
  }
  async function submit() {
    setTried(true)
    if (wrong.topic || wrong.endpoint || wrong.filter) {
      goToFirstWrong()
      return
    }
    await run(
      async () => {
        if (protocol === 'sqs' && allow) {
          await allowTopic(topic, endpoint)
        }
        await subscribe(topic, protocol, endpoint, {
          ...(raw && { RawMessageDelivery: 'true' }),
          ...(filter.trim() && { FilterPolicyScope: scope, FilterPolicy: filter }),
        })
        return {
          header: protocol === 'sqs' ? `${nameOf(endpoint)} subscribes ${nameOf(topic)}` : 'Subscription created',
          content: protocol === 'sqs' ? undefined : `${endpoint} must confirm it before messages are delivered.`,
        }
      },
      { stale: [keys.subscriptions, keys.everyTopic], done: () => go(address(['topics', nameOf(topic)])) },
    )
  }
  return (
    <Form
      header={<Header variant="h1">Create subscription</Header>}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button variant="link" onClick={() => go(topic ? address(['topics', nameOf(topic)]) : '/subscriptions')}>
            Cancel
          </Button>
          <Button variant="primary" loading={busy} onClick={submit}>
            Create subscription
          </Button>
        </SpaceBetween>
      }
    >
      <SpaceBetween size="l">
        <Container header={<Header variant="h2">Details</Header>}>
          <SpaceBetween size="m">
            <TopicField topic={topic} choose={setTopic} error={tried ? wrong.topic : undefined} />
            <FormField label="Protocol">
              <Select
                selectedOption={protocols.find((p) => p.value === protocol) ?? null}
                options={protocols}
                onChange={({ detail }) => {
                  setProtocol(detail.selectedOption.value ?? 'sqs')
                  setEndpoint('')
                }}
              />
            </FormField>
            <FormField label="Endpoint" errorText={tried && wrong.endpoint}>
              {protocol === 'sqs' ? (
                <QueuePicker
                  name={endpoint && nameOf(endpoint)}
                  choose={(q) => setEndpoint(q.QueueArn)}
                  {...(topic &&
                    !topic.endsWith('.fifo') && {
                      holds: (q) => !q.Fifo,
                      none: 'No standard queues: a standard topic cannot send to FIFO queues',
                    })}
                />
              ) : (
                <Input
                  value={endpoint}
                  placeholder={protocol.startsWith('email') ? 'someone@example.com' : `${protocol}://example.com/hook`}
                  onChange={({ detail }) => setEndpoint(detail.value.trim())}
                />
              )}
            </FormField>
            {protocol === 'sqs' && (
              <Checkbox checked={allow} onChange={({ detail }) => setAllow(detail.checked)}>
                Let the topic send to the queue: add a statement to the queue's policy
              </Checkbox>
            )}
            {protocol === 'sqs' && allow && topic && endpoint && (
              <pre className="code">{JSON.stringify(statementFor(topic, endpoint), undefined, 2)}</pre>
            )}
            {!protocol.startsWith('email') && (
              <Checkbox
                checked={raw}
                onChange={({ detail }) => setRaw(detail.checked)}
                description="Delivers the message as published, without the SNS envelope."
              >
                Enable raw message delivery
              </Checkbox>
            )}
          </SpaceBetween>
        </Container>
        <Container header={<Header variant="h2">Filter policy - optional</Header>}>
          <SpaceBetween size="m">
            <ScopeField scope={scope} choose={setScope} />
            <FormField label="Policy" errorText={wrong.filter} stretch>
              <Textarea
                className="code-area"
                rows={8}
                spellcheck={false}
                placeholder={filterExample}
                value={filter}
                onChange={({ detail }) => setFilter(detail.value)}
              />
            </FormField>
          </SpaceBetween>
        </Container>
        <Problem error={error} what="The subscription was not created" />
      </SpaceBetween>
    </Form>
  )
}

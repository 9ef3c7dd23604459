import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import Form from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import RadioGroup from '@cloudscape-design/components/radio-group'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import { useState } from 'react'
import { useTopicArn } from '../../api/topic'
import { type PublishCommandInput, publish } from '../../api/topicactions'
import { useAction } from '../../api/useaction'
import { isLost } from '../../aws/failure'
import { fromBase64 } from '../../data/decode'
import type { PageProps } from '../../frame/page'
import { address, go } from '../../frame/router'
import { AttributeRows, attributesOfRows, type Row } from '../../parts/attributerows'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'

/** payloadExample shows how each protocol gets a message of its own. */
const payloadExample = `{
  "default": "what all others get",
  "sqs": "what queues get",
  "https": "what web hooks get",
  "email": "what people read"
}`

/** Publish sends a message to a topic. */
export default function Publish({ parameters }: PageProps) {
  const name = parameters.topic ?? ''
  const fifo = name.endsWith('.fifo')
  const { arn, error: listError } = useTopicArn(name)
  const [subject, setSubject] = useState('')
  const [structure, setStructure] = useState('same')
  const [body, setBody] = useState('')
  const [group, setGroup] = useState('')
  const [dedup, setDedup] = useState('')
  const [attributes, setAttributes] = useState<Row[]>([])
  const { busy, error, run } = useAction()
  const [result, setResult] = useState<{ id: string; sequence: string | undefined }>()
  const missing = arn === '' ? `There is no topic ${name}.` : undefined

  function input(): PublishCommandInput {
    const made: PublishCommandInput['MessageAttributes'] = {}
    for (const [key, a] of Object.entries(attributesOfRows(attributes))) {
      made[key] = { ...a, BinaryValue: a.BinaryValue === undefined ? undefined : fromBase64(a.BinaryValue) }
    }
    return {
      TopicArn: arn,
      Message: body,
      ...(subject && { Subject: subject }),
      ...(structure === 'json' && { MessageStructure: 'json' }),
      ...(group && { MessageGroupId: group }),
      ...(dedup && { MessageDeduplicationId: dedup }),
      ...(Object.keys(made).length > 0 && { MessageAttributes: made }),
    }
  }

  async function submit() {
    setResult(undefined)
    await run(async () => {
      const answer = await publish(input())
      setResult({ id: answer.MessageId ?? '', sequence: answer.SequenceNumber })
      return { header: `Message published to ${name}` }
    })
  }

  if (isLost(listError, arn) || missing) {
    return (
      <Unshown name={`Publish message to ${name}`}>
        <Problem error={listError ?? new Error(missing)} what="Nothing can be published" />
      </Unshown>
    )
  }
  return (
    <Form
      header={<Header variant="h1">Publish message to {name}</Header>}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button variant="link" onClick={() => go(address(['topics', name]))}>
            Back to the topic
          </Button>
          <Button
            variant="primary"
            loading={busy}
            disabled={body === '' || (fifo && group === '') || !arn}
            onClick={submit}
          >
            Publish message
          </Button>
        </SpaceBetween>
      }
    >
      <SpaceBetween size="l">
        <Container header={<Header variant="h2">Message details</Header>}>
          <SpaceBetween size="m">
            <FormField label="Subject - optional" description="Of e-mail, at most 100 ASCII characters.">
              <Input value={subject} onChange={({ detail }) => setSubject(detail.value)} />
            </FormField>
            {fifo && (
              <>
                <FormField label="Message group ID" description="Messages of a group keep their order.">
                  <Input value={group} onChange={({ detail }) => setGroup(detail.value)} />
                </FormField>
                <FormField
                  label="Message deduplication ID"
                  description="Optional if the topic deduplicates by content. Messages with the same ID within five minutes are published once."
                >
                  <Input value={dedup} onChange={({ detail }) => setDedup(detail.value)} />
                </FormField>
              </>
            )}
          </SpaceBetween>
        </Container>
        <Container header={<Header variant="h2">Message body</Header>}>
          <SpaceBetween size="m">
            <RadioGroup
              value={structure}
              onChange={({ detail }) => {
                setStructure(detail.value)
                if (detail.value === 'json' && body === '') {
                  setBody(payloadExample)
                }
              }}
              items={[
                { value: 'same', label: 'Identical payload for all delivery protocols' },
                { value: 'json', label: 'Custom payload for each delivery protocol' },
              ]}
            />
            <FormField label="Message body" stretch>
              <Textarea
                className="code-area"
                rows={10}
                spellcheck={false}
                value={body}
                onChange={({ detail }) => setBody(detail.value)}
              />
            </FormField>
          </SpaceBetween>
        </Container>
        <Container header={<Header variant="h2">Message attributes - optional</Header>}>
          <AttributeRows rows={attributes} change={setAttributes} />
        </Container>
        <Problem error={error} what="The message was not published" />
        {result && (
          <Container header={<Header variant="h2">Published</Header>}>
            <Pairs
              columns={2}
              items={[
                { label: 'Message ID', value: result.id },
                ...(result.sequence ? [{ label: 'Sequence number', value: result.sequence }] : []),
              ]}
            />
          </Container>
        )}
      </SpaceBetween>
    </Form>
  )
}

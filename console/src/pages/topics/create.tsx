import Button from '@cloudscape-design/components/button'
import Checkbox from '@cloudscape-design/components/checkbox'
import Container from '@cloudscape-design/components/container'
import Form from '@cloudscape-design/components/form'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Tiles from '@cloudscape-design/components/tiles'
import { useState } from 'react'
import { keys } from '../../api/keys'
import { nameOf } from '../../api/queues'
import { useTopicArn } from '../../api/topic'
import { createTopic } from '../../api/topicactions'
import { useAction } from '../../api/useaction'
import { withSuffix, wrongTopicName } from '../../data/names'
import { record, type Tag } from '../../data/tags'
import { goToFirstWrong } from '../../frame/firstwrong'
import { address, go } from '../../frame/router'
import { NameField } from '../../parts/namefield'
import { Problem } from '../../parts/problem'
import { TagRows } from '../../parts/tags'

/** CreateTopic creates a topic. */
export default function CreateTopic() {
  const [type, setType] = useState('standard')
  const [name, setName] = useState('')
  const [display, setDisplay] = useState('')
  const [dedup, setDedup] = useState(false)
  const [tags, setTags] = useState<Tag[]>([])
  const [tried, setTried] = useState(false)
  const { busy, error, run } = useAction()
  const fifo = type === 'fifo'
  const whole = withSuffix(name, fifo)
  const wrong = wrongTopicName(name, fifo)
  const { arn: there } = useTopicArn(whole)
  const taken = there ? `There is already a topic ${whole}.` : undefined
  async function submit() {
    setTried(true)
    if (wrong ?? taken) {
      goToFirstWrong()
      return
    }
    let arn = ''
    await run(
      async () => {
        arn = await createTopic({
          Name: whole,
          Attributes: {
            ...(fifo && { FifoTopic: 'true', ContentBasedDeduplication: String(dedup) }),
            ...(display && { DisplayName: display }),
          },
          Tags: Object.entries(record(tags)).map(([Key, Value]) => ({ Key, Value })),
        })
        return {
          header: `Topic ${whole} created`,
          content: 'It has no subscriptions yet.',
          action: { text: 'Create subscription', do: () => go(address(['create-subscription'], { topic: arn })) },
        }
      },
      { stale: [keys.topics], done: () => go(address(['topics', nameOf(arn)])) },
    )
  }
  return (
    <Form
      header={<Header variant="h1">Create topic</Header>}
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button variant="link" onClick={() => go('/topics')}>
            Cancel
          </Button>
          <Button variant="primary" loading={busy} onClick={submit}>
            Create topic
          </Button>
        </SpaceBetween>
      }
    >
      <SpaceBetween size="l">
        <Container header={<Header variant="h2">Details</Header>}>
          <SpaceBetween size="m">
            <FormField label="Type" description="The type of a topic cannot change." stretch>
              <Tiles
                value={type}
                onChange={({ detail }) => setType(detail.value)}
                items={[
                  {
                    value: 'standard',
                    label: 'Standard',
                    description: 'For queues, web hooks and mailboxes. Highest throughput; the order is not kept.',
                  },
                  {
                    value: 'fifo',
                    label: 'FIFO',
                    description: 'For queues. Each group in order, and each message once.',
                  },
                ]}
              />
            </FormField>
            <NameField
              label="Name"
              value={name}
              change={setName}
              wrong={wrong}
              taken={taken}
              tried={tried}
              constraint={
                fifo && name && !name.endsWith('.fifo')
                  ? `It will be ${whole}: names of FIFO topics end in .fifo.`
                  : 'Letters, digits, hyphens and underscores, at most 256.'
              }
              autoFocus
              enter={() => void submit()}
            />
            <FormField label="Display name - optional" description="E-mail comes from this name.">
              <Input value={display} onChange={({ detail }) => setDisplay(detail.value)} />
            </FormField>
            {fifo && (
              <Checkbox checked={dedup} onChange={({ detail }) => setDedup(detail.checked)}>
                Content-based message deduplication
              </Checkbox>
            )}
          </SpaceBetween>
        </Container>
        <Container header={<Header variant="h2">Tags - optional</Header>}>
          <TagRows tags={tags} change={setTags} empty="The topic will have no tags." />
        </Container>
        <Problem error={error} what="The topic was not created" />
      </SpaceBetween>
    </Form>
  )
}

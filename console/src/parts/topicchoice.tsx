import FormField from '@cloudscape-design/components/form-field'
import Input from '@cloudscape-design/components/input'
import RadioGroup from '@cloudscape-design/components/radio-group'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import { nameOf } from '../api/queues'
import { subscribe } from '../api/subscriptions'
import { createTopic } from '../api/topicactions'
import { useTopics } from '../api/topics'

/** Choice is what to notify: nothing, a topic that exists, or a new one with e-mail addresses. */
export interface Choice {
  kind: 'none' | 'topic' | 'new'
  arn: string
  name: string
  addresses: string
}

export const noTopic: Choice = { kind: 'none', arn: '', name: 'operators', addresses: '' }

/** topicChoice returns the choice of a topic that exists. */
export function topicChoice(arn: string | undefined): Choice {
  return arn ? { ...noTopic, kind: 'topic', arn } : noTopic
}

function addressesOf(choice: Choice): string[] {
  return choice.addresses.split(/[\s,;]+/).filter(Boolean)
}

/** wrongWith says what a choice lacks, if anything. */
export function wrongWith(choice: Choice): string | undefined {
  if (choice.kind === 'topic' && !choice.arn) {
    return 'Choose a topic.'
  }
  if (choice.kind === 'new') {
    if (!/^[\w-]{1,256}$/.test(choice.name)) {
      return 'The name of a topic has 1 to 256 letters, digits, hyphens and underscores.'
    }
    const wrong = addressesOf(choice).find((a) => !/^[^@]+@[^@]+$/.test(a))
    if (wrong) {
      return `${wrong} is no e-mail address.`
    }
    if (addressesOf(choice).length === 0) {
      return 'Name at least one e-mail address.'
    }
  }
  return undefined
}

/** settle returns the ARN of the topic that was chosen, which it makes if it is new; it is empty if there is none. */
export async function settle(choice: Choice): Promise<string> {
  if (choice.kind !== 'new') {
    return choice.kind === 'topic' ? choice.arn : ''
  }
  const topic = await createTopic({ Name: choice.name })
  for (const address of addressesOf(choice)) {
    await subscribe(topic, 'email', address)
  }
  return topic
}

/** TopicChoice asks whom to notify. */
export function TopicChoice({
  label,
  choice,
  change,
  showErrors,
}: {
  label: string
  choice: Choice
  change: (choice: Choice) => void
  showErrors?: boolean
}) {
  const { data, error } = useTopics()
  const wrong = showErrors ? wrongWith(choice) : undefined
  const standard = (data ?? []).filter((arn) => !arn.endsWith('.fifo'))
  return (
    <SpaceBetween size="s">
      <FormField label={label} errorText={wrong}>
        <RadioGroup
          value={choice.kind}
          onChange={({ detail }) => change({ ...choice, kind: detail.value as Choice['kind'] })}
          items={[
            { value: 'none', label: 'No action' },
            { value: 'topic', label: 'An existing topic' },
            { value: 'new', label: 'Create New Email Topic' },
          ]}
        />
      </FormField>
      {choice.kind === 'topic' && (
        <FormField label="Send notification to" description="The topic's subscribers are notified.">
          <Select
            filteringType="auto"
            placeholder="Choose a topic"
            statusType={error ? 'error' : data ? 'finished' : 'loading'}
            errorText="The topics cannot be listed."
            empty="There are no topics: create one with e-mail addresses"
            selectedOption={choice.arn ? { value: choice.arn, label: nameOf(choice.arn) } : null}
            options={standard.map((value) => ({ value, label: nameOf(value) }))}
            onChange={({ detail }) => change({ ...choice, arn: detail.selectedOption.value ?? '' })}
          />
        </FormField>
      )}
      {choice.kind === 'new' && (
        <SpaceBetween size="s">
          <FormField label="Topic name">
            <Input value={choice.name} onChange={({ detail }) => change({ ...choice, name: detail.value })} />
          </FormField>
          <FormField
            label="E-mail list"
            description="Each address gets a link to confirm before it is notified. The server sends e-mail if it was started with --smtp-server."
          >
            <Textarea
              rows={2}
              placeholder="someone@example.com, others@example.com"
              value={choice.addresses}
              onChange={({ detail }) => change({ ...choice, addresses: detail.value })}
            />
          </FormField>
        </SpaceBetween>
      )}
    </SpaceBetween>
  )
}

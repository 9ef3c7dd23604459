import FormField from '@cloudscape-design/components/form-field'
import RadioGroup from '@cloudscape-design/components/radio-group'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea from '@cloudscape-design/components/textarea'
import { useState } from 'react'
import { nameOf } from '../api/queues'
import { subscribe } from '../api/subscriptions'
import { createTopic } from '../api/topicactions'
import { useTopics } from '../api/topics'
import { wrongTopicName } from '../data/names'
import { NameField } from './namefield'

/** Choice is what to notify: nothing, a topic that exists, or a new one with e-mail addresses. */
export interface Choice {
  kind: 'none' | 'topic' | 'new'
  arn: string
  name: string
  addresses: string
}

export const noTopic: Choice = { kind: 'none', arn: '', name: 'operators', addresses: '' }

/** topicChoice returns the choice of an existing topic. */
export function topicChoice(arn: string | undefined): Choice {
  return arn ? { ...noTopic, kind: 'topic', arn } : noTopic
}

function addressesOf(choice: Choice): string[] {
  return choice.addresses.split(/[\s,;]+/).filter(Boolean)
}

/** Wrong says what each field of a choice lacks, if anything. */
type Wrong = Partial<Record<'arn' | 'name' | 'addresses', string | undefined>>

function wrongIn(choice: Choice): Wrong {
  if (choice.kind === 'topic') {
    return { arn: choice.arn ? undefined : 'Choose a topic.' }
  }
  return choice.kind === 'new'
    ? { name: wrongTopicName(choice.name), addresses: wrongAddresses(addressesOf(choice)) }
    : {}
}

function wrongAddresses(addresses: string[]): string | undefined {
  const wrong = addresses.find((a) => !/^[^@]+@[^@]+$/.test(a))
  if (wrong) {
    return `${wrong} is not an e-mail address.`
  }
  return addresses.length === 0 ? 'Enter at least one e-mail address.' : undefined
}

/** wrongWith returns what a choice lacks, if anything. */
export const wrongWith = (choice: Choice): string | undefined => Object.values(wrongIn(choice)).find(Boolean)

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

/** TopicChoice asks which topic to notify. */
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
  const wrong = wrongIn(choice)
  const [left, setLeft] = useState(false)
  const tried = showErrors === true
  const there = data?.some((arn) => nameOf(arn) === choice.name)
  const standard = (data ?? []).filter((arn) => !arn.endsWith('.fifo'))
  return (
    <SpaceBetween size="s">
      <FormField label={label}>
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
        <FormField
          label="Send notification to"
          description="The topic's subscribers are notified."
          errorText={tried && wrong.arn}
        >
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
          <NameField
            label="Topic name"
            value={choice.name}
            change={(name) => change({ ...choice, name })}
            wrong={wrong.name}
            warning={
              there ? `There is already a topic ${choice.name}. It gets these subscribers in addition.` : undefined
            }
            tried={tried}
            constraint="Letters, digits, hyphens and underscores, at most 256."
          />
          <FormField
            label="E-mail list"
            errorText={(tried || (left && choice.addresses.trim() !== '')) && wrong.addresses}
            description="Each address gets a link to confirm before it is notified. The server sends e-mail if it was started with --smtp-server."
          >
            <Textarea
              rows={2}
              placeholder="someone@example.com, others@example.com"
              value={choice.addresses}
              onChange={({ detail }) => change({ ...choice, addresses: detail.value })}
              onBlur={() => setLeft(true)}
            />
          </FormField>
        </SpaceBetween>
      )}
    </SpaceBetween>
  )
}

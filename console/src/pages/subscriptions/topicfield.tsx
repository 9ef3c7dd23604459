import FormField from '@cloudscape-design/components/form-field'
import Input from '@cloudscape-design/components/input'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { nameOf } from '../../api/queues'
import { useTopics } from '../../api/topics'

const typed = 'typed'

/** TopicField chooses a topic of the account, or takes the ARN of any. */
export function TopicField({
  topic,
  choose,
  error,
}: {
  topic: string
  choose: (arn: string) => void
  error: string | undefined
}) {
  const { data, error: failed } = useTopics()
  const [typing, setTyping] = useState(false)
  const options = [
    ...(data ?? []).map((value) => ({ value, label: nameOf(value) })),
    { value: typed, label: 'Type the ARN of another topic' },
  ]
  return (
    <SpaceBetween size="s">
      <FormField label="Choose a Topic" errorText={!typing && error}>
        <Select
          filteringType="auto"
          placeholder="Choose a topic"
          statusType={failed || data ? 'finished' : 'loading'}
          selectedOption={
            typing
              ? { value: typed, label: 'Type the ARN of another topic' }
              : topic
                ? { value: topic, label: nameOf(topic) }
                : null
          }
          options={options}
          onChange={({ detail }) => {
            const value = detail.selectedOption.value ?? ''
            setTyping(value === typed)
            choose(value === typed ? '' : value)
          }}
        />
      </FormField>
      {typing && (
        <FormField label="Topic ARN" errorText={error}>
          <Input
            value={topic}
            placeholder="arn:aws:sns:us-east-1:123456789012:orders"
            onChange={({ detail }) => choose(detail.value.trim())}
          />
        </FormField>
      )}
    </SpaceBetween>
  )
}

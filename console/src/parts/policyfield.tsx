import Box from '@cloudscape-design/components/box'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import FormField from '@cloudscape-design/components/form-field'
import Input from '@cloudscape-design/components/input'
import RadioGroup from '@cloudscape-design/components/radio-group'
import SegmentedControl from '@cloudscape-design/components/segmented-control'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { CodeArea } from './codearea'

interface PolicyFieldProps {
  value: string
  change: (policy: string) => void
  /** arn is the queue's. */
  arn: string
  error: string | undefined
}

/** PolicyField edits a queue's access policy: by two questions, or as JSON. */
export function PolicyField({ value, change, arn, error }: PolicyFieldProps) {
  const [way, setWay] = useState<string>(value.trim() ? 'advanced' : 'basic')
  return (
    <SpaceBetween size="m">
      <SegmentedControl
        label="How to write the policy"
        selectedId={way}
        options={[
          { id: 'basic', text: 'Basic' },
          { id: 'advanced', text: 'Advanced' },
        ]}
        onChange={({ detail }) => setWay(detail.selectedId)}
      />
      {way === 'basic' ? (
        <Basic arn={arn} change={change} value={value} />
      ) : (
        <CodeArea
          label="Policy"
          value={value}
          change={change}
          rows={Math.min(30, Math.max(8, value.split('\n').length + 1))}
          error={error}
          constraint="A document of the access policy language, in JSON. Without one, only the queue's account may use it."
        />
      )}
    </SpaceBetween>
  )
}

const sending = ['sqs:SendMessage']
const receiving = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility']

function Basic({ arn, change, value }: { arn: string; change: (policy: string) => void; value: string }) {
  const [send, setSend] = useState<string>()
  const [receive, setReceive] = useState<string>()
  const account = arn.split(':')[4] ?? ''
  const partition = arn.split(':')[1] ?? 'aws'

  function update(sender: string | undefined, receiver: string | undefined) {
    setSend(sender)
    setReceive(receiver)
    const statement = (sid: string, who: string | undefined, actions: string[]) =>
      names(who).length === 0
        ? []
        : [{ Sid: sid, Effect: 'Allow', Principal: { AWS: names(who) }, Action: actions, Resource: arn }]
    const statements = [...statement('senders', sender, sending), ...statement('receivers', receiver, receiving)]
    change(
      statements.length === 0
        ? ''
        : JSON.stringify(
            {
              Version: '2012-10-17',
              Statement: [
                {
                  Sid: 'owner',
                  Effect: 'Allow',
                  Principal: { AWS: `arn:${partition}:iam::${account}:root` },
                  Action: 'sqs:*',
                  Resource: arn,
                },
                ...statements,
              ],
            },
            null,
            2,
          ),
    )
  }

  return (
    <ColumnLayout columns={2}>
      <SpaceBetween size="m">
        <Who label="Senders" who={send} change={(who) => update(who, receive)} />
        <Who label="Receivers" who={receive} change={(who) => update(send, who)} />
      </SpaceBetween>
      <div>
        <Box variant="awsui-key-label">Resulting policy</Box>
        <pre className="code">{value.trim() || 'None: only the owner of the queue'}</pre>
      </div>
    </ColumnLayout>
  )
}

function Who({
  label,
  who,
  change,
}: {
  label: string
  who: string | undefined
  change: (who: string | undefined) => void
}) {
  return (
    <FormField label={label}>
      <SpaceBetween size="xs">
        <RadioGroup
          value={who === undefined ? 'owner' : 'others'}
          ariaLabel={label}
          onChange={({ detail }) => change(detail.value === 'owner' ? undefined : '')}
          items={[
            { value: 'owner', label: 'Only the owner of the queue' },
            { value: 'others', label: 'These accounts, users and roles, too' },
          ]}
        />
        {who !== undefined && (
          <Input
            value={who}
            ariaLabel={`${label}: accounts and ARNs`}
            placeholder="111122223333, arn:aws:iam::111122223333:user/jane"
            spellcheck={false}
            onChange={({ detail }) => change(detail.value)}
          />
        )}
      </SpaceBetween>
    </FormField>
  )
}

function names(who: string | undefined): string[] {
  return (who ?? '').split(/[\s,]+/).filter(Boolean)
}

import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import Toggle from '@cloudscape-design/components/toggle'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../api/keys'
import { nameOf } from '../../api/queues'
import { setSubscriptionAttribute, subscriptionAttributes, unsubscribe } from '../../api/subscriptions'
import { useTopicArn } from '../../api/topic'
import { useAction } from '../../api/useaction'
import { isLost } from '../../aws/failure'
import { notify } from '../../frame/notices'
import type { PageProps } from '../../frame/page'
import { address, go } from '../../frame/router'
import { Confirm } from '../../parts/confirm'
import { Copy } from '../../parts/copy'
import { JSONEdit } from '../../parts/jsonedit'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Unshown } from '../../parts/unshown'
import { Words } from '../../parts/values'
import { filterExample } from './filterexample'
import { ScopeField } from './scopefield'

/** Subscription shows one subscription, and changes how it delivers. */
export default function SubscriptionPage({ parameters }: PageProps) {
  const topic = parameters.topic ?? ''
  const client = useQueryClient()
  const { run } = useAction('The change failed')
  const [asking, setAsking] = useState(false)
  const { arn: topicArn, error: listError } = useTopicArn(topic)
  const arn = topicArn && `${topicArn}:${parameters.subscription}`
  const { data, error, refetch } = useQuery({
    queryKey: keys.subscription(arn),
    enabled: Boolean(arn),
    queryFn: ({ signal }) => subscriptionAttributes(arn, signal),
  })
  if (isLost(listError, topicArn) || isLost(error, data) || arn === '') {
    return (
      <Unshown name="Subscription">
        <Problem
          error={listError ?? error ?? new Error(`There is no topic ${topic}.`)}
          what="The subscription cannot be shown"
          retry={() => void refetch()}
        />
      </Unshown>
    )
  }
  if (!data || !arn) {
    return <Spinner size="large" />
  }
  const now = (name: string) => async () => (await refetch({ throwOnError: true })).data?.[name] ?? ''
  const set = (name: string) => async (value: string) => {
    await setSubscriptionAttribute(arn, name, value)
    await client.invalidateQueries({ queryKey: keys.subscription(arn) })
  }
  const change = (name: string, value: string) =>
    run(async () => {
      await set(name)(value)
      return undefined
    })
  const queue = data.Protocol === 'sqs'
  const raw = queue || data.Protocol?.startsWith('http')
  return (
    <SpaceBetween size="l">
      <Header variant="h1" actions={<Button onClick={() => setAsking(true)}>Delete</Button>}>
        <Words text={queue ? nameOf(data.Endpoint ?? '') : data.Endpoint} />
      </Header>
      <Container header={<Header variant="h2">Details</Header>}>
        <Pairs
          columns={3}
          items={[
            { label: 'Protocol', value: data.Protocol ?? '–' },
            {
              label: 'Endpoint',
              value: queue ? (
                <Link href={address(['queues', nameOf(data.Endpoint ?? '')])}>
                  <Words text={data.Endpoint} />
                </Link>
              ) : (
                <Words text={data.Endpoint} />
              ),
            },
            {
              label: 'Topic',
              value: (
                <Link href={address(['topics', topic])}>
                  <Words text={topic} />
                </Link>
              ),
            },
            { label: 'Status', value: data.PendingConfirmation === 'true' ? 'Pending confirmation' : 'Confirmed' },
            {
              label: 'ARN',
              value: (
                <span className="break">
                  <Copy text={arn} label="Copy ARN" inline /> {arn}
                </span>
              ),
            },
            { label: 'Subscribed by', value: data.SubscriptionPrincipal ?? data.Owner ?? '–' },
          ]}
        />
      </Container>
      <Container header={<Header variant="h2">Delivery</Header>}>
        <SpaceBetween size="l">
          {raw && (
            <FormField
              label="Raw message delivery"
              description="Delivers the message as published, without the SNS envelope."
            >
              <Toggle
                checked={data.RawMessageDelivery === 'true'}
                onChange={({ detail }) => void change('RawMessageDelivery', String(detail.checked))}
              >
                {data.RawMessageDelivery === 'true' ? 'Enabled' : 'Disabled'}
              </Toggle>
            </FormField>
          )}
          <ScopeField
            scope={data.FilterPolicyScope ?? 'MessageAttributes'}
            choose={(scope) => void change('FilterPolicyScope', scope)}
          />
          <JSONEdit
            label="Filter policy"
            description="Only messages that match are delivered. Without a policy all are."
            value={data.FilterPolicy ?? ''}
            rows={8}
            mayBeEmpty
            example={filterExample}
            load={now('FilterPolicy')}
            save={(text) => set('FilterPolicy')(text || '{}')}
          />
          <JSONEdit
            label="Redrive policy"
            description="Names the queue for messages that could not be delivered after all retries."
            value={data.RedrivePolicy ?? ''}
            rows={4}
            mayBeEmpty
            example={`{\n  "deadLetterTargetArn": "${arn.split(':').slice(0, 2).join(':')}:sqs:${arn.split(':')[3]}:${arn.split(':')[4]}:NAME"\n}`}
            load={now('RedrivePolicy')}
            save={set('RedrivePolicy')}
          />
          {data.Protocol?.startsWith('http') && (
            <JSONEdit
              label="Delivery policy"
              description={`How often a delivery is retried. In effect now: ${data.EffectiveDeliveryPolicy ?? 'the default'}`}
              value={data.DeliveryPolicy ?? ''}
              rows={8}
              mayBeEmpty
              load={now('DeliveryPolicy')}
              save={set('DeliveryPolicy')}
            />
          )}
        </SpaceBetween>
      </Container>
      {asking && (
        <Confirm
          title="Delete this subscription?"
          yes="Delete 1 subscription"
          act={async () => {
            await unsubscribe(arn)
            void client.invalidateQueries({ queryKey: keys.subscriptions })
            notify({ header: 'Subscription deleted' })
            go(address(['topics', topic]))
          }}
          close={() => setAsking(false)}
        >
          Messages that are published and not yet delivered are lost.
        </Confirm>
      )}
    </SpaceBetween>
  )
}

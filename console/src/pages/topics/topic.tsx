import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import Container from '@cloudscape-design/components/container'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import Tabs from '@cloudscape-design/components/tabs'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../api/keys'
import { topicMeasures } from '../../api/metrics'
import { setTopicAttribute, useTopic, useTopicArn } from '../../api/topic'
import { setTopicTags, topicTags } from '../../api/topicactions'
import { useAction } from '../../api/useaction'
import { isLost } from '../../aws/failure'
import type { Range } from '../../data/range'
import type { Tag } from '../../data/tags'
import { notify } from '../../frame/notices'
import type { PageProps } from '../../frame/page'
import { address, go, usePlace } from '../../frame/router'
import { Copied } from '../../parts/copy'
import { Empty } from '../../parts/empty'
import { Graphs } from '../../parts/graphs'
import { JSONEdit } from '../../parts/jsonedit'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { SpanField } from '../../parts/spanfield'
import { TagRows } from '../../parts/tags'
import { Unshown } from '../../parts/unshown'
import { SubscriptionTable } from '../subscriptions/table'
import { DeleteTopic } from './delete'

/** Topic shows one topic: its subscriptions, graphs, policies, tags. */
export default function Topic({ parameters }: PageProps) {
  const name = parameters.topic ?? ''
  const { query } = usePlace()
  const client = useQueryClient()
  const { arn, error: listError } = useTopicArn(name)
  const { data, error, refetch } = useTopic(arn)
  const [asking, setAsking] = useState(false)
  const [range, setRange] = useState<Range>({ hours: 3 })
  if (isLost(listError, arn) || isLost(error, data)) {
    return (
      <Unshown name={name}>
        <Problem error={listError ?? error} what="The topic cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (arn === '') {
    return (
      <Unshown name={name}>
        <Empty title={`There is no topic ${name}`} action={<Button href={address(['topics'])}>All topics</Button>}>
          It may have been deleted.
        </Empty>
      </Unshown>
    )
  }
  if (!data || !arn) {
    return <Spinner size="large" />
  }
  const now = (attribute: string) => async () => (await refetch({ throwOnError: true })).data?.[attribute] ?? ''
  const set = (attribute: string) => async (value: string) => {
    await setTopicAttribute(arn, attribute, value)
    await client.invalidateQueries({ queryKey: keys.topic(arn) })
  }
  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button onClick={() => setAsking(true)}>Delete</Button>
            <Button onClick={() => go(address(['create-subscription'], { topic: arn }))}>Create subscription</Button>
            <Button variant="primary" onClick={() => go(address(['topics', name, 'publish']))}>
              Publish message
            </Button>
          </SpaceBetween>
        }
      >
        {name}
      </Header>
      <Container header={<Header variant="h2">Details</Header>}>
        <Pairs
          columns={3}
          items={[
            { label: 'Type', value: data.FifoTopic === 'true' ? 'FIFO' : 'Standard' },
            { label: 'Display name', value: data.DisplayName || '–' },
            {
              label: 'ARN',
              value: <Copied text={arn} label="Copy ARN" />,
            },
            { label: 'Confirmed subscriptions', value: data.SubscriptionsConfirmed ?? '0' },
            { label: 'Pending', value: data.SubscriptionsPending ?? '0' },
            { label: 'Owner', value: data.Owner ?? '–' },
            ...(data.FifoTopic === 'true'
              ? [
                  {
                    label: 'Content-based deduplication',
                    value: data.ContentBasedDeduplication === 'true' ? 'Enabled' : 'Disabled',
                  },
                ]
              : []),
          ]}
        />
      </Container>
      <Tabs
        activeTabId={query.get('tab') ?? 'subscriptions'}
        onChange={({ detail }) => go(address(['topics', name], { tab: detail.activeTabId }), { replace: true })}
        tabs={[
          { id: 'subscriptions', label: 'Subscriptions', content: <SubscriptionTable topic={arn} /> },
          {
            id: 'monitoring',
            label: 'Monitoring',
            content: (
              <SpaceBetween size="m">
                <div className="choices">
                  <SpanField range={range} choose={setRange} />
                </div>
                <Graphs measures={topicMeasures} names={[name]} range={range} zoom={setRange} />
              </SpaceBetween>
            ),
          },
          {
            id: 'policy',
            label: 'Access policy',
            content: (
              <Container>
                <JSONEdit
                  label="Access policy"
                  description="Lets principals publish and subscribe, in addition to the users and roles of this account whose policies allow it."
                  value={data.Policy ?? ''}
                  load={now('Policy')}
                  save={set('Policy')}
                />
              </Container>
            ),
          },
          {
            id: 'delivery',
            label: 'Delivery',
            content: (
              <Container>
                <SpaceBetween size="l">
                  <JSONEdit
                    label="Delivery policy"
                    description="How often deliveries to HTTP endpoints are retried, for subscriptions without a policy of their own. The default is three times in a minute."
                    value={data.DeliveryPolicy ?? ''}
                    rows={10}
                    mayBeEmpty
                    example={deliveryExample}
                    load={now('DeliveryPolicy')}
                    save={set('DeliveryPolicy')}
                  />
                  <DisplayName value={data.DisplayName ?? ''} save={set('DisplayName')} />
                </SpaceBetween>
              </Container>
            ),
          },
          { id: 'tags', label: 'Tags', content: <Tags arn={arn} /> },
        ]}
      />
      {asking && <DeleteTopic arns={[arn]} close={() => setAsking(false)} done={() => go('/topics')} />}
    </SpaceBetween>
  )
}

const deliveryExample = `{
  "http": {
    "defaultHealthyRetryPolicy": {
      "numRetries": 10,
      "minDelayTarget": 5,
      "maxDelayTarget": 60,
      "backoffFunction": "exponential"
    }
  }
}`

function DisplayName({ value, save }: { value: string; save: (value: string) => Promise<unknown> }) {
  const [name, setName] = useState(value)
  const [error, setError] = useState<unknown>()
  return (
    <SpaceBetween size="s">
      <FormField label="Display name" description="E-mail comes from this name. At most 100 characters.">
        <Input value={name} onChange={({ detail }) => setName(detail.value)} />
      </FormField>
      <Problem error={error} what="The change was not saved" />
      <Button
        disabled={name === value}
        onClick={async () => {
          try {
            setError(undefined)
            await save(name)
            notify({ header: 'Display name saved' })
          } catch (e) {
            setError(e)
          }
        }}
      >
        Save
      </Button>
    </SpaceBetween>
  )
}

function Tags({ arn }: { arn: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: keys.topicTags(arn),
    queryFn: ({ signal }) => topicTags(arn, signal),
  })
  const [edited, setEdited] = useState<Tag[]>()
  const { busy, error: failed, run } = useAction()
  if (isLost(error, data)) {
    return <Problem error={error} what="The tags cannot be shown" retry={() => void refetch()} />
  }
  const save = () =>
    run(
      async () => {
        await setTopicTags(arn, data ?? [], edited ?? [])
        return { header: 'Tags saved' }
      },
      { stale: [keys.topicTags(arn)], done: () => setEdited(undefined) },
    )
  return (
    <Container>
      <SpaceBetween size="m">
        {data ? (
          <TagRows tags={edited ?? data} change={setEdited} empty="The topic has no tags." />
        ) : (
          <Box>
            <Spinner />
          </Box>
        )}
        <Problem error={failed} what="The tags were not saved" />
        <Button disabled={!edited} loading={busy} onClick={() => void save()}>
          Save tags
        </Button>
      </SpaceBetween>
    </Container>
  )
}

import { useCollection } from '@cloudscape-design/collection-hooks'
import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import TextFilter from '@cloudscape-design/components/text-filter'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { nameOf } from '../../api/queues'
import { topicAttributes } from '../../api/topic'
import { useTopics } from '../../api/topics'
import { plural } from '../../data/format'
import { address, go } from '../../frame/router'
import { Bar } from '../../parts/bar'
import { Empty } from '../../parts/empty'
import { Paging } from '../../parts/paging'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { Rows } from '../../parts/rows'
import { Num, Words } from '../../parts/values'
import { DeleteTopic } from './delete'

const pageSize = 25

/** Topics lists the topics of the account. */
export default function Topics() {
  const { data, error, isPending, refetch } = useTopics()
  const [asking, setAsking] = useState(false)
  const topics = (data ?? []).map((arn) => ({ arn, name: nameOf(arn), fifo: arn.endsWith('.fifo') }))
  const { items, filterProps, collectionProps, paginationProps, filteredItemsCount } = useCollection(topics, {
    filtering: {
      empty: (
        <Empty
          title="There are no topics yet"
          action={
            <Button variant="primary" onClick={() => go('/create-topic')}>
              Create topic
            </Button>
          }
        >
          A topic delivers each published message to every queue, web hook and mailbox that subscribes to it.
        </Empty>
      ),
      noMatch: <Empty title="No matching topics" />,
      fields: ['name'],
    },
    pagination: { pageSize },
    sorting: {},
    selection: { trackBy: 'arn' },
  })
  const attributes = useQueries({
    queries: items.map((t) => ({
      ...topicAttributes(t.arn),
      staleTime: 30_000,
    })),
  })
  const of = (arn: string) => attributes[items.findIndex((t) => t.arn === arn)]?.data
  const selected = collectionProps.selectedItems ?? []
  const [one] = selected
  return (
    <>
      <Rows
        {...collectionProps}
        variant="full-page"
        stickyHeader
        selectionType="multi"
        loading={isPending}
        loadingText="Loading topics"
        items={items}
        ariaLabels={{
          tableLabel: 'Topics',
          selectionGroupLabel: 'Topics',
          allItemsSelectionLabel: () => 'Select all topics',
          itemSelectionLabel: (_, t) => `Select ${t.name}`,
        }}
        header={
          <Header
            variant="awsui-h1-sticky"
            counter={data && `(${data.length})`}
            actions={
              <Bar>
                <Refresh />
                <Button disabled={selected.length === 0} onClick={() => setAsking(true)}>
                  Delete
                </Button>
                <Button
                  disabled={selected.length !== 1}
                  onClick={() => go(address(['topics', one?.name ?? '', 'publish']))}
                >
                  Publish message
                </Button>
                <Button variant="primary" onClick={() => go('/create-topic')}>
                  Create topic
                </Button>
              </Bar>
            }
          >
            Topics
          </Header>
        }
        filter={
          <TextFilter
            {...filterProps}
            filteringPlaceholder="Find topics by name"
            filteringAriaLabel="Find topics by name"
            countText={plural(filteredItemsCount ?? 0, 'match', 'matches')}
          />
        }
        pagination={<Paging {...paginationProps} />}
        columnDefinitions={[
          {
            id: 'name',
            header: 'Name',
            cell: (t) => (
              <Link href={address(['topics', t.name])}>
                <Words text={t.name} />
              </Link>
            ),
            sortingField: 'name',
            isRowHeader: true,
          },
          { id: 'type', header: 'Type', cell: (t) => (t.fifo ? 'FIFO' : 'Standard'), sortingField: 'fifo' },
          {
            id: 'confirmed',
            header: 'Subscriptions',
            cell: (t) => <Num value={number(of(t.arn)?.SubscriptionsConfirmed)} />,
          },
          {
            id: 'pending',
            header: 'Pending',
            cell: (t) => <Num value={number(of(t.arn)?.SubscriptionsPending)} />,
          },
          { id: 'arn', header: 'ARN', cell: (t) => <Words text={t.arn} /> },
        ]}
        empty={
          error ? (
            <Problem error={error} what="The topics cannot be listed" retry={() => void refetch()} />
          ) : (
            collectionProps.empty
          )
        }
      />
      {asking && <DeleteTopic arns={selected.map((t) => t.arn)} close={() => setAsking(false)} />}
    </>
  )
}

function number(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text)
}

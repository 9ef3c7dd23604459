import { useCollection } from '@cloudscape-design/collection-hooks'
import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import TextFilter from '@cloudscape-design/components/text-filter'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { keys } from '../../api/keys'
import { nameOf } from '../../api/queues'
import { idOf, isPending, type Subscription, subscribe, unsubscribe, useSubscriptions } from '../../api/subscriptions'
import { useAction } from '../../api/useaction'
import { each } from '../../data/each'
import { plural } from '../../data/format'
import { notify } from '../../frame/notices'
import { address, go } from '../../frame/router'
import { Bar } from '../../parts/bar'
import { Confirm } from '../../parts/confirm'
import { Empty } from '../../parts/empty'
import { Paging } from '../../parts/paging'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { Rows } from '../../parts/rows'
import { Words } from '../../parts/values'

/** SubscriptionTable lists the subscriptions of a topic, of an endpoint, or all. */
export function SubscriptionTable({ topic, full = false }: { topic?: string; full?: boolean }) {
  const client = useQueryClient()
  const { data, error, isPending: loading, refetch } = useSubscriptions(topic)
  const [asking, setAsking] = useState(false)
  const create = () => go(address(['create-subscription'], { topic }))
  const { items, filterProps, collectionProps, paginationProps, filteredItemsCount } = useCollection(data ?? [], {
    filtering: {
      empty: (
        <Empty
          title="There are no subscriptions yet"
          action={
            <Button variant="primary" onClick={create}>
              Create subscription
            </Button>
          }
        >
          Subscribe a queue, and it gets every message that is published to the topic.
        </Empty>
      ),
      noMatch: <Empty title="No matches" />,
      filteringFunction: (s, text) =>
        `${s.Endpoint} ${s.TopicArn} ${s.Protocol}`.toLowerCase().includes(text.toLowerCase()),
    },
    pagination: { pageSize: 50 },
    sorting: {},
    selection: { trackBy: (s: Subscription) => s.SubscriptionArn + (s.Endpoint ?? '') + s.TopicArn },
  })
  const selected = collectionProps.selectedItems ?? []
  const confirmed = selected.filter((s) => !isPending(s))
  const again = () => {
    void client.invalidateQueries({ queryKey: keys.subscriptions })
    void client.invalidateQueries({ queryKey: keys.everyTopic })
  }
  const { run } = useAction('No confirmation was sent')
  const remind = () =>
    run(async () => {
      await each(selected.filter(isPending), (s) => subscribe(s.TopicArn ?? '', s.Protocol ?? '', s.Endpoint ?? ''))
      return { header: 'A new confirmation is on its way' }
    })
  return (
    <>
      <Rows
        {...collectionProps}
        variant={full ? 'full-page' : 'container'}
        stickyHeader={full}
        selectionType="multi"
        loading={loading}
        loadingText="Loading subscriptions"
        items={items}
        ariaLabels={{
          tableLabel: 'Subscriptions',
          selectionGroupLabel: 'Subscriptions',
          allItemsSelectionLabel: () => 'Select all subscriptions',
          itemSelectionLabel: (_, s) => `Select ${s.Endpoint}`,
        }}
        header={
          <Header
            variant={full ? 'awsui-h1-sticky' : 'h2'}
            counter={data && `(${data.length})`}
            actions={
              <Bar>
                <Refresh />
                <Button disabled={!selected.some(isPending)} onClick={remind}>
                  Request confirmation
                </Button>
                <Button disabled={confirmed.length === 0} onClick={() => setAsking(true)}>
                  Delete
                </Button>
                <Button variant={full ? 'primary' : 'normal'} onClick={create}>
                  Create subscription
                </Button>
              </Bar>
            }
          >
            Subscriptions
          </Header>
        }
        filter={
          <TextFilter
            {...filterProps}
            filteringPlaceholder="Find by endpoint, topic or protocol"
            filteringAriaLabel="Find subscriptions"
            countText={plural(filteredItemsCount ?? 0, 'match', 'matches')}
          />
        }
        pagination={<Paging {...paginationProps} />}
        columnDefinitions={[
          {
            id: 'endpoint',
            header: 'Endpoint',
            isRowHeader: true,
            sortingField: 'Endpoint',
            cell: (s) =>
              isPending(s) ? (
                <Words text={s.Endpoint} />
              ) : (
                <Link href={address(['subscriptions', nameOf(s.TopicArn ?? ''), idOf(s.SubscriptionArn ?? '')])}>
                  <Words text={s.Protocol === 'sqs' ? nameOf(s.Endpoint ?? '') : s.Endpoint} />
                </Link>
              ),
          },
          { id: 'protocol', header: 'Protocol', cell: (s) => s.Protocol, sortingField: 'Protocol' },
          ...(topic
            ? []
            : [
                {
                  id: 'topic',
                  header: 'Topic',
                  sortingField: 'TopicArn' as const,
                  cell: (s: Subscription) => (
                    <Link href={address(['topics', nameOf(s.TopicArn ?? '')])}>
                      <Words text={nameOf(s.TopicArn ?? '')} />
                    </Link>
                  ),
                },
              ]),
          {
            id: 'status',
            header: 'Status',
            cell: (s) =>
              isPending(s) ? (
                <StatusIndicator type="pending">Pending confirmation</StatusIndicator>
              ) : (
                <StatusIndicator>Confirmed</StatusIndicator>
              ),
          },
        ]}
        empty={
          error ? (
            <Problem error={error} what="The subscriptions cannot be listed" retry={() => void refetch()} />
          ) : (
            collectionProps.empty
          )
        }
      />
      {asking && (
        <Confirm
          title={`Delete ${plural(confirmed.length, 'subscription')}?`}
          yes={`Delete ${plural(confirmed.length, 'subscription')}`}
          act={async () => {
            try {
              await each(confirmed, (s) => unsubscribe(s.SubscriptionArn ?? ''))
            } finally {
              again()
            }
            notify({ header: `${plural(confirmed.length, 'subscription')} deleted` })
          }}
          close={() => setAsking(false)}
        >
          Messages that are published and not yet delivered are lost.
          {confirmed.length < selected.length && ' Pending subscriptions expire if they are not confirmed.'}
        </Confirm>
      )}
    </>
  )
}

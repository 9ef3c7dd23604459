import { useCollection } from '@cloudscape-design/collection-hooks'
import Button from '@cloudscape-design/components/button'
import Header from '@cloudscape-design/components/header'
import type { TableProps } from '@cloudscape-design/components/table'
import TextFilter from '@cloudscape-design/components/text-filter'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { each } from '../../data/each'
import { plural } from '../../data/format'
import { notify } from '../../frame/notices'
import { Bar } from '../../parts/bar'
import { Confirm } from '../../parts/confirm'
import { Empty } from '../../parts/empty'
import { Paging } from '../../parts/paging'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { Rows } from '../../parts/rows'

interface ListProps<T> {
  title: string
  /** one is what a thing is called: user. */
  one: string
  many?: string
  query: UseQueryResult<T[]>
  nameOf: (item: T) => string
  columns: TableProps.ColumnDefinition<T>[]
  create?: () => void
  remove?: (item: T) => Promise<unknown>
  /** says what goes with it. */
  removeSays?: string
  empty: string
  actions?: ReactNode
}

/** List is a page with a list of users, groups, roles or policies. */
export function List<T>(p: ListProps<T>) {
  const { data, error, isPending, refetch } = p.query
  const [asking, setAsking] = useState(false)
  const many = p.many ?? `${p.one}s`
  const { items, filterProps, collectionProps, paginationProps, filteredItemsCount } = useCollection(data ?? [], {
    filtering: {
      empty: (
        <Empty
          title={`There are no ${many} yet`}
          {...(p.create && {
            action: (
              <Button variant="primary" onClick={p.create}>
                Create {p.one}
              </Button>
            ),
          })}
        >
          {p.empty}
        </Empty>
      ),
      noMatch: <Empty title={`No matching ${many}`} />,
      filteringFunction: (item, text) => p.nameOf(item).toLowerCase().includes(text.toLowerCase()),
    },
    pagination: { pageSize: 50 },
    sorting: {},
    selection: { trackBy: p.nameOf },
  })
  const selected = [...(collectionProps.selectedItems ?? [])]
  return (
    <>
      <Rows
        {...collectionProps}
        variant="full-page"
        stickyHeader
        selectionType="multi"
        loading={isPending}
        loadingText={`Loading ${many}`}
        items={items}
        columnDefinitions={p.columns}
        ariaLabels={{
          tableLabel: p.title,
          selectionGroupLabel: p.title,
          allItemsSelectionLabel: () => `Select all ${many}`,
          itemSelectionLabel: (_, item) => `Select ${p.nameOf(item)}`,
        }}
        header={
          <Header
            variant="awsui-h1-sticky"
            counter={data && `(${data.length})`}
            actions={
              <Bar>
                {p.actions}
                <Refresh />
                {p.remove && (
                  <Button disabled={selected.length === 0} onClick={() => setAsking(true)}>
                    Delete
                  </Button>
                )}
                {p.create && (
                  <Button variant="primary" onClick={p.create}>
                    Create {p.one}
                  </Button>
                )}
              </Bar>
            }
          >
            {p.title}
          </Header>
        }
        filter={
          <TextFilter
            {...filterProps}
            filteringPlaceholder={`Find ${many} by name`}
            filteringAriaLabel={`Find ${many} by name`}
            countText={plural(filteredItemsCount ?? 0, 'match', 'matches')}
          />
        }
        pagination={<Paging {...paginationProps} />}
        empty={
          error ? (
            <Problem error={error} what={`The ${many} cannot be listed`} retry={() => void refetch()} />
          ) : (
            collectionProps.empty
          )
        }
      />
      {asking && (
        <Confirm
          title={selected.length === 1 ? `Delete ${p.nameOf(selected[0] as T)}?` : `Delete ${selected.length} ${many}?`}
          yes={`Delete ${plural(selected.length, p.one, many)}`}
          act={async () => {
            try {
              await each(selected, (item) => p.remove?.(item) ?? Promise.resolve())
            } finally {
              void refetch()
            }
            notify({ header: `${plural(selected.length, p.one, many)} deleted` })
          }}
          close={() => setAsking(false)}
        >
          {p.removeSays}
        </Confirm>
      )}
    </>
  )
}

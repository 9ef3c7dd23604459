import Alert from '@cloudscape-design/components/alert'
import CollectionPreferences from '@cloudscape-design/components/collection-preferences'
import Header from '@cloudscape-design/components/header'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Table from '@cloudscape-design/components/table'
import { memo, useMemo } from 'react'
import type { ListedQueue } from '../../api/queuestate'
import { count } from '../../data/format'
import { useCards, useWide } from '../../frame/narrow'
import { useStored } from '../../frame/preferences'
import type { Action } from './actions'
import { Buttons } from './buttons'
import { card, columns, fewFirst, firstColumns } from './columns'
import { Find, sortBy } from './find'
import type { List } from './list'
import { None } from './none'
import { Pages } from './pages'
import { useRates } from './rates'

interface Looks {
  pageSize: number
  /** columns are those that a person has chosen. */
  columns?: string[]
  wrap: boolean
}

const firstLooks: Looks = { pageSize: 50, wrap: false }

/** cards are the columns on a phone. */
const cards = [card]

/** useLooks returns a person's settings for the table. */
export const useLooks = () => useStored('queues-table', firstLooks)

interface QueueTableProps extends List {
  selected: ListedQueue[]
  select: (queues: ListedQueue[]) => void
  act: (action: Action) => void
}

/**
 * QueueTable is the table of queues. Hundreds of cells are drawn when it is, so it is only when one of its properties changes:
 * what changes by itself, such as what is typed into the filter, has components of its own.
 */
export const QueueTable = memo(function QueueTable(props: QueueTableProps) {
  const { shown, looked, total, denied, error, sorting, selected, select, act } = props
  const [looks, setLooks] = useLooks()
  const rates = useRates(looked)
  const narrow = useCards()
  const plainly = denied !== undefined
  const defs = useMemo(
    () =>
      columns(rates).map((c) => ({
        ...c,
        sortingField: (c.orderBy && !plainly) || c.id === 'name' ? c.id : undefined,
      })),
    [rates, plainly],
  )
  const wide = useWide()
  const first = wide ? firstColumns : fewFirst
  const display = columnDisplay(defs, looks.columns ?? first)
  const none = selected.length === 0
  return (
    <Table
      key={narrow ? 'cards' : wide ? 'wide' : 'table'} // a table keeps the widths of its columns
      variant="full-page"
      stickyHeader
      resizableColumns={!narrow}
      enableKeyboardNavigation
      items={shown}
      columnDefinitions={narrow ? cards : defs}
      {...(!narrow && { columnDisplay: display })}
      wrapLines={looks.wrap || narrow}
      loading={props.loading}
      loadingText="Loading queues"
      selectionType="multi"
      selectedItems={selected}
      onSelectionChange={({ detail }) => select(detail.selectedItems)}
      sortingColumn={{ sortingField: sorting.id }}
      sortingDescending={sorting.descending}
      onSortingChange={({ detail }) =>
        sortBy({ id: detail.sortingColumn.sortingField ?? 'name', descending: detail.isDescending ?? false })
      }
      ariaLabels={{
        tableLabel: 'Queues',
        selectionGroupLabel: 'Choose queues',
        allItemsSelectionLabel: () => 'Choose all queues on this page',
        itemSelectionLabel: (_, q) => `Choose ${q.QueueName}`,
      }}
      header={
        <Header
          variant="awsui-h1-sticky"
          counter={
            total === undefined ? undefined : none ? `(${count(total)})` : `(${selected.length}/${count(total)})`
          }
          actions={<Buttons listed={shown} selected={selected} act={act} />}
        >
          Queues
        </Header>
      }
      filter={
        <SpaceBetween size="s">
          {plainly && !error && (
            <Alert type="info" header="Names and attributes only">
              Rates, reasons and exact numbers require the permission sluice:ListQueueStates. Ask an administrator of
              your account to allow it.
            </Alert>
          )}
          <Find matches={total === undefined ? undefined : props.matches} plainly={plainly} />
        </SpaceBetween>
      }
      pagination={<Pages index={props.index} pages={props.pages} turnTo={props.turnTo} />}
      preferences={
        // A phone shows cards, which have no columns to choose.
        !(narrow && props.pages <= 1) && (
          <CollectionPreferences
            title="Preferences"
            confirmLabel="Apply"
            cancelLabel="Cancel"
            preferences={{ pageSize: looks.pageSize, wrapLines: looks.wrap, contentDisplay: display }}
            pageSizePreference={{
              title: 'Queues on a page',
              options: [20, 50, 100].map((value) => ({ value, label: `${value} queues` })),
            }}
            wrapLinesPreference={{ label: 'Wrap lines' }}
            contentDisplayPreference={{
              title: 'Columns',
              options: defs.map((c) => ({ id: c.id ?? '', label: c.name, alwaysVisible: c.id === 'name' })),
            }}
            onConfirm={({ detail }) => {
              const chosen = detail.contentDisplay?.filter((c) => c.visible).map((c) => c.id)
              setLooks({
                pageSize: detail.pageSize ?? firstLooks.pageSize,
                wrap: detail.wrapLines ?? false,
                // Without a choice they depend on the window.
                ...(chosen && chosen.join() !== first.join() && { columns: chosen }),
              })
            }}
          />
        )
      }
      empty={<None error={error} denied={denied} refetch={props.refetch} />}
    />
  )
})

/** columnDisplay puts the columns that are shown first, in the order that was chosen. */
function columnDisplay(all: { id?: string | undefined }[], visible: string[]) {
  const ids = all.map((c) => c.id ?? '')
  return [
    ...visible.filter((id) => ids.includes(id)).map((id) => ({ id, visible: true })),
    ...ids.filter((id) => !visible.includes(id)).map((id) => ({ id, visible: false })),
  ]
}

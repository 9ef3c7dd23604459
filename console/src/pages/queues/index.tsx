import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import CollectionPreferences from '@cloudscape-design/components/collection-preferences'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Pagination from '@cloudscape-design/components/pagination'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Table from '@cloudscape-design/components/table'
import TextFilter from '@cloudscape-design/components/text-filter'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useStored } from '../../frame/preferences'
import { address, go, usePlace } from '../../frame/router'
import { Empty } from '../../parts/empty'
import { count } from '../../parts/format'
import { Problem } from '../../parts/problem'
import type { ListedQueue } from '../../parts/queues'
import { columns, firstColumns } from './columns'
import type { Action } from './dialogs'
import { filters, useQueues } from './list'
import { useRates } from './rates'

// With the SDK's client, which the list itself does not need.
const Dialog = lazy(() => import('./dialogs').then((m) => ({ default: m.Dialog })))

/** Queues is the list of the account's queues with what they are doing. */
export default function Queues() {
  const { query } = usePlace()
  const client = useQueryClient()
  const typed = query.get('find') ?? ''
  const filter = filters.find((f) => f.value === query.get('only')) ?? filters[0]
  const [looks, setLooks] = useStored('queues-table', { pageSize: 50, columns: firstColumns, wrap: false })
  const [sorting, setSorting] = useState({ id: 'name', descending: false })
  const [selected, setSelected] = useState<ListedQueue[]>([])
  const [action, setAction] = useState<Action>()
  const list = useQueues({
    find: typed,
    only: filter,
    sorted: sorting.id !== 'name' || sorting.descending,
    descending: sorting.descending,
    pageSize: looks.pageSize,
  })
  const rates = useRates(list.page)
  const defs = columns(rates).map((c) => ({
    ...c,
    sortingComparator: undefined,
    sortingField: (c.sortingComparator && !list.denied) || c.id === 'name' ? c.id : undefined,
  }))
  const by = columns(rates).find((c) => c.id === sorting.id)
  const shown = list.show(by?.sortingComparator)

  function show(changes: { find?: string; only?: string }) {
    const next = { find: typed, only: query.get('only') ?? '', ...changes }
    list.turnTo(1)
    go(address(['queues'], next), { replace: true })
  }
  useEffect(() => {
    const names = new Set(shown.map((q) => q.QueueName))
    setSelected((old) => (old.every((q) => names.has(q.QueueName)) ? old : old.filter((q) => names.has(q.QueueName))))
  }, [shown])

  const one = selected.length === 1 ? selected[0] : undefined
  const none = selected.length === 0
  const filtered = typed !== '' || filter !== filters[0]
  return (
    <>
      <Table
        variant="full-page"
        stickyHeader
        resizableColumns
        enableKeyboardNavigation
        items={shown}
        trackBy="QueueName"
        columnDefinitions={defs}
        columnDisplay={columnDisplay(defs, looks.columns)}
        wrapLines={looks.wrap}
        loading={list.loading}
        loadingText="Loading queues"
        selectionType="multi"
        selectedItems={selected}
        onSelectionChange={({ detail }) => setSelected(detail.selectedItems)}
        sortingColumn={{ sortingField: sorting.id }}
        sortingDescending={sorting.descending}
        onSortingChange={({ detail }) => {
          setSorting({ id: detail.sortingColumn.sortingField ?? 'name', descending: detail.isDescending ?? false })
          list.turnTo(1)
        }}
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
              list.total === undefined
                ? undefined
                : none
                  ? `(${count(list.total)})`
                  : `(${selected.length}/${count(list.total)})`
            }
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                <Button
                  iconName="refresh"
                  ariaLabel="Refresh"
                  loading={list.fetching && !list.loading}
                  onClick={() => client.invalidateQueries()}
                />
                <Button disabled={!one} onClick={() => one && go(address(['queues', one.QueueName, 'edit']))}>
                  Edit
                </Button>
                <Button disabled={none} onClick={() => setAction('delete')}>
                  Delete
                </Button>
                <Button disabled={!one} onClick={() => one && go(address(['queues', one.QueueName, 'messages']))}>
                  Send and receive messages
                </Button>
                <ButtonDropdown
                  disabled={none}
                  items={[
                    { id: 'purge', text: 'Purge' },
                    { id: 'pause', text: 'Pause delivery' },
                    { id: 'resume', text: 'Resume delivery' },
                    { id: 'tag', text: 'Add tags' },
                  ]}
                  onItemClick={({ detail }) => setAction(detail.id as Action)}
                >
                  Actions
                </ButtonDropdown>
                <Button variant="primary" onClick={() => go('/create-queue')}>
                  Create queue
                </Button>
              </SpaceBetween>
            }
          >
            Queues
          </Header>
        }
        filter={
          <SpaceBetween size="s">
            {list.denied && !list.error && (
              <Alert type="info" header="These are names, and what SQS itself tells">
                Rates, reasons and exact numbers take the permission sluice:ListQueueStates. Whoever manages your
                account's policies can allow it.
              </Alert>
            )}
            <div className="filters">
              <TextFilter
                filteringText={typed}
                filteringPlaceholder="Find queues by name"
                filteringAriaLabel="Find queues by name"
                countText={
                  filtered && list.total !== undefined
                    ? `${count(list.matches)} ${list.matches === 1 ? 'match' : 'matches'}`
                    : ''
                }
                onChange={({ detail }) => show({ find: detail.filteringText })}
              />
              <Select
                selectedOption={filter ?? null}
                options={list.denied ? filters.filter((f) => f.ofNames) : filters}
                ariaLabel="Show only"
                onChange={({ detail }) => show({ only: detail.selectedOption.value ?? '' })}
              />
            </div>
          </SpaceBetween>
        }
        pagination={
          <Pagination
            currentPageIndex={list.index}
            pagesCount={list.pages}
            openEnd={list.openEnd}
            onChange={({ detail }) => list.turnTo(detail.currentPageIndex)}
          />
        }
        preferences={
          <CollectionPreferences
            title="Preferences"
            confirmLabel="Apply"
            cancelLabel="Cancel"
            preferences={{
              pageSize: looks.pageSize,
              wrapLines: looks.wrap,
              contentDisplay: columnDisplay(defs, looks.columns),
            }}
            pageSizePreference={{
              title: 'Queues on a page',
              options: [20, 50, 100].map((value) => ({ value, label: `${value} queues` })),
            }}
            wrapLinesPreference={{ label: 'Wrap lines' }}
            contentDisplayPreference={{
              title: 'Columns',
              options: defs.map((c) => ({ id: c.id ?? '', label: c.name, alwaysVisible: c.id === 'name' })),
            }}
            onConfirm={({ detail }) =>
              setLooks({
                pageSize: detail.pageSize ?? 50,
                wrap: detail.wrapLines ?? false,
                columns: detail.contentDisplay?.filter((c) => c.visible).map((c) => c.id) ?? firstColumns,
              })
            }
          />
        }
        empty={
          list.error ? (
            <SpaceBetween size="l">
              <Problem error={list.denied ?? list.error} what="The queues cannot be listed" retry={list.refetch} />
              {list.denied && <OpenByName />}
            </SpaceBetween>
          ) : filtered ? (
            <Empty
              title="No queue is like that"
              action={<Button onClick={() => show({ find: '', only: '' })}>Show all queues</Button>}
            />
          ) : (
            <Empty
              title="There are no queues yet"
              action={
                <Button variant="primary" onClick={() => go('/create-queue')}>
                  Create queue
                </Button>
              }
            >
              A queue keeps messages until a consumer has received and deleted them. Programs that speak Amazon SQS find
              it under its URL.
            </Empty>
          )
        }
      />
      {action && (
        <Suspense>
          <Dialog action={action} queues={selected} close={() => setAction(undefined)} />
        </Suspense>
      )}
    </>
  )
}

/** OpenByName is for whoever may use a queue and not list any. */
function OpenByName() {
  const [name, setName] = useState('')
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        if (name.trim()) {
          go(address(['queues', name.trim()]))
        }
      }}
    >
      <div className="search">
        <FormField label="Name of a queue that you may use" stretch>
          <Input value={name} spellcheck={false} onChange={({ detail }) => setName(detail.value)} />
        </FormField>
        <Button formAction="submit">Open</Button>
      </div>
    </form>
  )
}

/** columnDisplay puts the columns that are shown first, in the order that was chosen. */
function columnDisplay(all: { id?: string | undefined }[], visible: string[]) {
  const ids = all.map((c) => c.id ?? '')
  return [
    ...visible.filter((id) => ids.includes(id)).map((id) => ({ id, visible: true })),
    ...ids.filter((id) => !visible.includes(id)).map((id) => ({ id, visible: false })),
  ]
}

import { useCollection } from '@cloudscape-design/collection-hooks'
import Badge from '@cloudscape-design/components/badge'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import Select from '@cloudscape-design/components/select'
import TextFilter from '@cloudscape-design/components/text-filter'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { conditionOf, isComposite } from '../../api/alarm'
import { deleteAlarms, enableActions, useAlarms } from '../../api/alarms'
import { keys } from '../../api/keys'
import { useAction } from '../../api/useaction'
import { count, plural } from '../../data/format'
import { useTight } from '../../frame/narrow'
import { notify } from '../../frame/notices'
import { address, go, usePlace } from '../../frame/router'
import { AlarmMe } from '../../parts/alarmme'
import { Bar } from '../../parts/bar'
import { Confirm } from '../../parts/confirm'
import { Empty } from '../../parts/empty'
import { Paging } from '../../parts/paging'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { Rows } from '../../parts/rows'
import { Ago, Words } from '../../parts/values'
import { State, states } from './state'

/** creations are what there are buttons for, where these have room. */
const creations = [
  { id: 'alarm', text: 'Alarm' },
  { id: 'quick', text: 'Quick alarm' },
  { id: 'composite', text: 'Composite alarm' },
]

/** Alarms lists the alarms of the account. */
export default function Alarms() {
  const { query } = usePlace()
  const client = useQueryClient()
  const { data, error, isPending, refetch } = useAlarms()
  const [asking, setAsking] = useState(false)
  const [alarming, setAlarming] = useState(false)
  const state = query.get('state') ?? ''
  const queue = query.get('queue') ?? ''
  const wanted = (data ?? []).filter(
    (a) =>
      (!state || a.StateValue === state) &&
      (!queue || a.Dimensions?.some((d) => d.Name === 'QueueName' && d.Value === queue)),
  )
  const { items, filterProps, collectionProps, paginationProps, filteredItemsCount } = useCollection(wanted, {
    filtering: {
      empty: (
        <Empty
          title="There are no alarms yet"
          action={
            <Button variant="primary" onClick={() => setAlarming(true)}>
              Quick alarm
            </Button>
          }
        >
          An alarm watches a metric, such as the messages in a dead-letter queue, or other alarms, and notifies a topic.
        </Empty>
      ),
      noMatch: <Empty title="No matches" />,
      filteringFunction: (a, text) =>
        `${a.AlarmName} ${a.AlarmDescription ?? ''}`.toLowerCase().includes(text.toLowerCase()),
    },
    pagination: { pageSize: 50 },
    sorting: {},
    selection: { trackBy: 'AlarmName' },
  })
  const selected = collectionProps.selectedItems ?? []
  const names = selected.map((a) => a.AlarmName ?? '')
  const tight = useTight()
  const create = () => go(address(['create-alarm'], { queue }))
  const combine = () => go(address(['create-composite-alarm'], { of: names.join('\n') }))
  const [only] = selected
  const again = () => void client.invalidateQueries({ queryKey: keys.alarms })
  const { run } = useAction('The actions were not changed')
  const enable = (on: boolean) =>
    run(
      async () => {
        await enableActions(names, on)
        return { header: `Actions of ${plural(names.length, 'alarm')} ${on ? 'enabled' : 'disabled'}` }
      },
      { stale: [keys.alarms] },
    )
  const firing = (data ?? []).filter((a) => a.StateValue === 'ALARM').length
  return (
    <>
      <Rows
        {...collectionProps}
        variant="full-page"
        stickyHeader
        selectionType="multi"
        loading={isPending}
        loadingText="Loading alarms"
        items={items}
        trackBy="AlarmName"
        ariaLabels={{
          tableLabel: 'Alarms',
          selectionGroupLabel: 'Alarms',
          allItemsSelectionLabel: () => 'Select all alarms',
          itemSelectionLabel: (_, a) => `Select ${a.AlarmName}`,
        }}
        header={
          <Header
            variant="awsui-h1-sticky"
            counter={data && `(${data.length})`}
            description={firing > 0 ? `${plural(firing, 'alarm')} firing` : undefined}
            actions={
              <Bar>
                <Refresh />
                <ButtonDropdown
                  disabled={names.length === 0}
                  items={[
                    { id: 'edit', text: 'Edit', disabled: names.length !== 1 },
                    { id: 'copy', text: 'Copy', disabled: names.length !== 1 },
                    { id: 'enable', text: 'Enable actions' },
                    { id: 'disable', text: 'Disable actions' },
                    { id: 'delete', text: 'Delete' },
                  ]}
                  onItemClick={({ detail }) => {
                    const [name = ''] = names
                    if (detail.id === 'edit') {
                      go(address(['alarms', name, 'edit']))
                    } else if (detail.id === 'copy') {
                      go(
                        address([only && isComposite(only) ? 'create-composite-alarm' : 'create-alarm'], {
                          copy: name,
                        }),
                      )
                    } else if (detail.id === 'delete') {
                      setAsking(true)
                    } else {
                      void enable(detail.id === 'enable')
                    }
                  }}
                >
                  Actions
                </ButtonDropdown>
                {tight ? (
                  <ButtonDropdown
                    variant="primary"
                    items={creations}
                    onItemClick={({ detail: { id } }) =>
                      id === 'quick' ? setAlarming(true) : id === 'composite' ? combine() : create()
                    }
                  >
                    Create
                  </ButtonDropdown>
                ) : (
                  [
                    <Button key="quick" onClick={() => setAlarming(true)}>
                      Quick alarm
                    </Button>,
                    <Button key="composite" onClick={combine}>
                      Create composite alarm
                    </Button>,
                    <Button key="alarm" variant="primary" onClick={create}>
                      Create alarm
                    </Button>,
                  ]
                )}
              </Bar>
            }
          >
            Alarms
          </Header>
        }
        filter={
          <div className="filters">
            <TextFilter
              {...filterProps}
              filteringPlaceholder="Find alarms"
              filteringAriaLabel="Find alarms"
              countText={plural(filteredItemsCount ?? 0, 'match', 'matches')}
            />
            <Select
              ariaLabel="State"
              selectedOption={states.find((s) => s.value === state) ?? null}
              options={states}
              onChange={({ detail }) =>
                go(address(['alarms'], { queue, state: detail.selectedOption.value }), { replace: true })
              }
            />
          </div>
        }
        pagination={<Paging {...paginationProps} />}
        columnDefinitions={[
          {
            id: 'name',
            header: 'Name',
            cell: (a) => (
              <Link href={address(['alarms', a.AlarmName ?? ''])}>
                <Words text={a.AlarmName} />
              </Link>
            ),
            sortingField: 'AlarmName',
            isRowHeader: true,
          },
          {
            id: 'state',
            header: 'State',
            minWidth: 130, // the sign beside the word
            cell: (a) => <State state={a.StateValue} />,
            sortingField: 'StateValue',
          },
          {
            id: 'since',
            header: 'Since',
            cell: (a) => <Ago at={a.StateTransitionedTimestamp?.getTime()} />,
            sortingComparator: (a, b) =>
              (a.StateTransitionedTimestamp?.getTime() ?? 0) - (b.StateTransitionedTimestamp?.getTime() ?? 0),
          },
          {
            id: 'about',
            header: 'About',
            cell: (a) => (isComposite(a) ? 'Other alarms' : (a.Dimensions ?? []).map((d) => d.Value).join(', ') || '–'),
          },
          { id: 'condition', header: 'Condition', minWidth: 220, cell: (a) => <Words text={conditionOf(a)} /> },
          {
            id: 'actions',
            header: 'Actions',
            cell: (a) =>
              a.ActionsEnabled === false ? (
                <Badge>Disabled</Badge>
              ) : a.ActionsSuppressedBy ? (
                <Badge>Suppressed</Badge>
              ) : (
                count((a.AlarmActions?.length ?? 0) + (a.OKActions?.length ?? 0))
              ),
          },
        ]}
        empty={
          error ? (
            <Problem error={error} what="The alarms cannot be listed" retry={() => void refetch()} />
          ) : (
            collectionProps.empty
          )
        }
      />
      {asking && (
        <Confirm
          title={names.length === 1 ? `Delete ${names[0]}?` : `Delete ${names.length} alarms?`}
          yes={`Delete ${plural(names.length, 'alarm')}`}
          act={async () => {
            await deleteAlarms(selected)
            notify({ header: `${plural(names.length, 'alarm')} deleted` })
            again()
          }}
          close={() => setAsking(false)}
        >
          {names.length === 1 ? 'Its' : 'Their'} history stays readable for 14 days.
        </Confirm>
      )}
      {alarming && <AlarmMe queue={queue} close={() => setAlarming(false)} />}
    </>
  )
}

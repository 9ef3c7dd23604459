import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import ExpandableSection from '@cloudscape-design/components/expandable-section'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Input from '@cloudscape-design/components/input'
import Link from '@cloudscape-design/components/link'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import StatusIndicator from '@cloudscape-design/components/status-indicator'
import { useState } from 'react'
import { type Entry, type Filter, useEvents } from '../../api/events'
import { nameOf } from '../../api/queues'
import { csv, download } from '../../data/download'
import { count } from '../../data/format'
import { useNarrow } from '../../frame/narrow'
import { address, go, usePlace } from '../../frame/router'
import { Bar } from '../../parts/bar'
import { Empty } from '../../parts/empty'
import { Problem } from '../../parts/problem'
import { Refresh } from '../../parts/refresh'
import { none, Rows } from '../../parts/rows'
import { Time, Words } from '../../parts/values'
import { Records } from './records'

const onlys = [
  { value: 'changes', label: 'Changes' },
  { value: 'all', label: 'Everything' },
  { value: 'reads', label: 'Reads' },
  { value: 'refused', label: 'Refused calls' },
]

const times = [
  { value: '0.5', label: 'Last 30 minutes' },
  { value: '3', label: 'Last 3 hours' },
  { value: '24', label: 'Last day' },
  { value: '168', label: 'Last week' },
  { value: '2160', label: 'Last 90 days' },
]

const services = [
  { value: '', label: 'Any service' },
  ...['sqs', 'sns', 'iam', 'sts', 'monitoring', 'cloudtrail', 'sluice', 'signin'].map((value) => ({
    value,
    label: value,
  })),
]

/** isFiltered reports whether a filter is set that a phone shows only on request. */
const isFiltered = (f: Filter) => [f.service, f.user, f.event, f.resource, f.key].some((text) => text !== '')

/** Activity shows the trail of the account: callers, calls, resources. The filter is in the address, to be shared. */
export default function Activity() {
  const { query } = usePlace()
  const filter: Filter = {
    user: query.get('user') ?? '',
    event: query.get('event') ?? '',
    resource: query.get('resource') ?? '',
    service: query.get('service') ?? '',
    key: query.get('key') ?? '',
    only: query.get('only') ?? 'changes',
    hours: Number(query.get('hours') ?? 24) || 24,
  }
  const { data, error, isPending, isFetchingNextPage, hasNextPage, fetchNextPage, refetch } = useEvents(filter)
  const [selected, setSelected] = useState<Entry[]>([])
  const [opened, setOpened] = useState<Entry[]>([])
  const entries = data?.pages.flatMap((p) => p.entries) ?? []
  const looked = data?.pages.reduce((sum, p) => sum + p.looked, 0) ?? 0
  const show = (change: Record<string, string>) =>
    go(address(['activity'], { ...Object.fromEntries(query), ...change }), { replace: true })
  const saved = selected.length > 0 ? selected : entries
  const narrow = useNarrow()
  const filters = (
    <>
      <Choice label="Service" options={services} value={filter.service} choose={(service) => show({ service })} />
      <Typed label="User" value={filter.user} choose={(user) => show({ user })} />
      <Typed label="Event name" value={filter.event} choose={(event) => show({ event })} />
      <Typed label="Resource name or ARN" value={filter.resource} choose={(resource) => show({ resource })} />
      <Typed label="Access key" value={filter.key} choose={(key) => show({ key })} />
    </>
  )
  return (
    <SpaceBetween size="l">
      <Rows
        variant="full-page"
        stickyHeader
        selectionType="multi"
        selectedItems={selected}
        onSelectionChange={({ detail }) => setSelected(detail.selectedItems.slice(0, 5))}
        trackBy="id"
        loading={isPending}
        loadingText="Searching the trail"
        items={entries}
        ariaLabels={{
          tableLabel: 'Events',
          selectionGroupLabel: 'Events',
          allItemsSelectionLabel: () => 'Select the first five',
          itemSelectionLabel: (_, e) => `Select ${e.name}`,
        }}
        header={
          <Header
            variant="awsui-h1-sticky"
            description="Calls that changed or read the configuration in the last 90 days. Select up to five to compare their records."
            actions={
              <Bar>
                <Refresh />
                <Button disabled={selected.length < 2} onClick={() => setOpened(selected)}>
                  Compare
                </Button>
                <ButtonDropdown
                  disabled={entries.length === 0}
                  items={[
                    { id: 'csv', text: 'Download as CSV' },
                    { id: 'json', text: 'Download as JSON' },
                  ]}
                  onItemClick={({ detail }) =>
                    detail.id === 'csv'
                      ? download('events.csv', 'text/csv', table(saved))
                      : download('events.json', 'application/json', `[${saved.map((e) => e.text).join(',\n')}]\n`)
                  }
                >
                  Download
                </ButtonDropdown>
              </Bar>
            }
          >
            Activity
          </Header>
        }
        filter={
          <div className="choices">
            <Choice label="Show" options={onlys} value={filter.only} choose={(only) => show({ only })} />
            <Choice label="Time" options={times} value={String(filter.hours)} choose={(hours) => show({ hours })} />
            {narrow ? (
              <ExpandableSection headerText="More filters" defaultExpanded={isFiltered(filter)}>
                <div className="choices">{filters}</div>
              </ExpandableSection>
            ) : (
              filters
            )}
          </div>
        }
        columnDefinitions={[
          { id: 'time', header: 'Time', cell: (e) => <Time at={e.time} />, width: 190 },
          {
            id: 'event',
            header: 'Event name',
            isRowHeader: true,
            cell: (e) => (
              <Link
                href="#"
                onFollow={(f) => {
                  f.preventDefault()
                  setOpened([e])
                }}
              >
                <Words text={e.name} />
              </Link>
            ),
          },
          { id: 'user', header: 'User', cell: (e) => <Words text={e.user} /> },
          { id: 'source', header: 'Service', cell: (e) => e.source },
          {
            id: 'about',
            header: 'Resources',
            cell: (e) => (e.resources.length > 0 ? <Words text={e.resources.map(nameOf).join(', ')} /> : none),
          },
          { id: 'from', header: 'From', minWidth: 130, cell: (e) => <Words text={e.from} /> },
          {
            id: 'error',
            header: 'Refused',
            cell: (e) => (e.error ? <Refused code={e.error} /> : none),
          },
        ]}
        footer={
          <Box textAlign="center">
            <SpaceBetween size="xs">
              {hasNextPage ? (
                <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                  Scan more
                </Button>
              ) : undefined}
              {data && (
                <Box variant="small" color="text-body-secondary">
                  {count(entries.length)} shown of {count(looked)} events scanned
                </Box>
              )}
            </SpaceBetween>
          </Box>
        }
        empty={
          error ? (
            <Problem error={error} what="The trail cannot be read" retry={() => void refetch()} />
          ) : (
            <Empty title="No matching events in this time range" />
          )
        }
      />
      {opened.length > 0 && <Records entries={opened} close={() => setOpened([])} />}
    </SpaceBetween>
  )
}

function Refused({ code }: { code: string }) {
  return (
    <div className="why">
      <StatusIndicator type="error" iconAriaLabel="Refused" />
      <Words text={code} />
    </div>
  )
}

function table(entries: Entry[]): string {
  return csv([
    ['Time', 'Event name', 'User', 'Service', 'Resources', 'From', 'Refused', 'Event ID'],
    ...entries.map((e) => [
      new Date(e.time).toISOString(),
      e.name,
      e.user,
      e.source,
      e.resources.join(' '),
      e.from,
      e.error,
      e.id,
    ]),
  ])
}

interface Option {
  value: string
  label: string
}

function Choice(props: { label: string; options: Option[]; value: string; choose: (value: string) => void }) {
  return (
    <FormField label={props.label}>
      <Select
        selectedOption={props.options.find((o) => o.value === props.value) ?? props.options[1] ?? null}
        options={props.options}
        onChange={({ detail }) => props.choose(detail.selectedOption.value ?? '')}
      />
    </FormField>
  )
}

function Typed({ label, value, choose }: { label: string; value: string; choose: (value: string) => void }) {
  const [text, setText] = useState(value)
  const done = () => text !== value && choose(text.trim())
  return (
    <FormField label={label}>
      <Input
        value={text}
        type="search"
        onChange={({ detail }) => {
          setText(detail.value)
          if (detail.value === '' && value) {
            choose('')
          }
        }}
        onKeyDown={({ detail }) => detail.key === 'Enter' && done()}
        onBlur={done}
      />
    </FormField>
  )
}

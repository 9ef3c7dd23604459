import type { MetricAlarm } from '@aws-sdk/client-cloudwatch'
import Button from '@cloudscape-design/components/button'
import ButtonDropdown from '@cloudscape-design/components/button-dropdown'
import Container from '@cloudscape-design/components/container'
import Header from '@cloudscape-design/components/header'
import Link from '@cloudscape-design/components/link'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Spinner from '@cloudscape-design/components/spinner'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { comparisonOf, conditionOf, isComposite } from '../../api/alarm'
import {
  alarmHistory,
  deleteAlarms,
  enableActions,
  measureOf,
  missings,
  setAlarmState,
  useAlarms,
} from '../../api/alarms'
import { keys } from '../../api/keys'
import { fetchLines, lastHours, periodFor } from '../../api/metrics'
import { useAction } from '../../api/useaction'
import { isLost } from '../../aws/failure'
import { notify } from '../../frame/notices'
import type { PageProps } from '../../frame/page'
import { useRefresh } from '../../frame/preferences'
import { address, go } from '../../frame/router'
import { Confirm } from '../../parts/confirm'
import { Empty } from '../../parts/empty'
import { Graph } from '../../parts/graph'
import { RangeField } from '../../parts/graphs'
import { Pairs } from '../../parts/pairs'
import { Problem } from '../../parts/problem'
import { Rows } from '../../parts/rows'
import { Unshown } from '../../parts/unshown'
import { Time, Words } from '../../parts/values'
import { Combined, Parents } from './combined'
import { notified } from './notified'
import { State, states } from './state'
import { Timeline } from './timeline'

/** Alarm shows one alarm: its graph with the threshold, its states over time, its history and definition. */
export default function Alarm({ parameters }: PageProps) {
  const name = parameters.alarm ?? ''
  const { data, error, isPending, refetch } = useAlarms(name)
  const client = useQueryClient()
  const { run } = useAction('The change failed')
  const [asking, setAsking] = useState(false)
  const [hours, setHours] = useState(3)
  const alarm = data?.[0]
  if (isLost(error, data)) {
    return (
      <Unshown name={name}>
        <Problem error={error} what="The alarm cannot be shown" retry={() => void refetch()} />
      </Unshown>
    )
  }
  if (isPending) {
    return <Spinner size="large" />
  }
  const act = (header: string, f: () => Promise<unknown>) =>
    run(
      async () => {
        await f()
        return { header }
      },
      { stale: [keys.alarms, keys.alarmHistory(name)] },
    )
  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        description={alarm?.AlarmDescription}
        actions={
          alarm && (
            <SpaceBetween direction="horizontal" size="xs">
              <ButtonDropdown
                items={[
                  ...states
                    .filter((s) => s.value && s.value !== alarm.StateValue)
                    .map((s) => ({ id: s.value, text: `Set to ${s.label} to test the actions` })),
                  alarm.ActionsEnabled === false
                    ? { id: 'enable', text: 'Enable actions' }
                    : { id: 'disable', text: 'Disable actions' },
                  { id: 'copy', text: 'Copy' },
                  { id: 'delete', text: 'Delete' },
                ]}
                onItemClick={({ detail: { id } }) => {
                  if (id === 'delete') {
                    setAsking(true)
                  } else if (id === 'copy') {
                    go(address([isComposite(alarm) ? 'create-composite-alarm' : 'create-alarm'], { copy: name }))
                  } else if (id === 'enable' || id === 'disable') {
                    void act(`Actions ${id}d`, () => enableActions([name], id === 'enable'))
                  } else {
                    const until = isComposite(alarm)
                      ? 'it stays until an alarm in the rule changes'
                      : 'the next evaluation sets it again'
                    void act(`The state was set: ${until}`, () => setAlarmState(name, id))
                  }
                }}
              >
                Actions
              </ButtonDropdown>
              <Button variant="primary" onClick={() => go(address(['alarms', name, 'edit']))}>
                Edit
              </Button>
            </SpaceBetween>
          )
        }
      >
        {name}
      </Header>
      {alarm && !isComposite(alarm) && <Watched alarm={alarm} hours={hours} choose={setHours} />}
      {alarm && !isComposite(alarm) && <Definition alarm={alarm} />}
      {alarm && isComposite(alarm) && <Combined alarm={alarm} hours={hours} choose={setHours} />}
      {alarm && <Parents name={name} />}
      {!alarm && <Empty title="The alarm no longer exists">Only its history remains.</Empty>}
      <History name={name} hours={hours} state={alarm?.StateValue} />
      {asking && (
        <Confirm
          title={`Delete ${name}?`}
          yes="Delete 1 alarm"
          act={async () => {
            await deleteAlarms(alarm ? [alarm] : [])
            notify({ header: `Alarm ${name} deleted` })
            void client.invalidateQueries({ queryKey: keys.alarms })
            go('/alarms')
          }}
          close={() => setAsking(false)}
        >
          Its history stays readable for 14 days.
        </Confirm>
      )}
    </SpaceBetween>
  )
}

function Watched({ alarm, hours, choose }: { alarm: MetricAlarm; hours: number; choose: (hours: number) => void }) {
  const interval = useRefresh()
  const single = Boolean(alarm.MetricName)
  const { data, error, refetch } = useQuery({
    queryKey: ['GetMetricData', 'alarm', alarm.AlarmName, hours],
    enabled: single,
    refetchInterval: interval && Math.max(interval, 30_000),
    queryFn: async ({ signal }) => {
      const span = lastHours(hours)
      const lines = await fetchLines(
        [
          {
            title: alarm.MetricName ?? '',
            metric: { Namespace: alarm.Namespace, MetricName: alarm.MetricName, Dimensions: alarm.Dimensions },
            statistic: alarm.Statistic ?? alarm.ExtendedStatistic ?? 'Average',
          },
        ],
        span,
        Math.max(alarm.Period ?? 60, periodFor(span)),
        signal,
      )
      return { span, lines }
    },
  })
  return (
    <Container
      header={
        <Header variant="h2" description={alarm.StateReason}>
          <State state={alarm.StateValue} />
        </Header>
      }
    >
      <SpaceBetween size="m">
        <RangeField hours={hours} choose={choose} />
        {single ? (
          <Graph
            title={alarm.MetricName ?? ''}
            unit={measureOf(alarm)?.unit ?? ''}
            span={data?.span ?? lastHours(hours)}
            lines={data?.lines}
            threshold={alarm.Threshold}
            height={240}
            error={error}
            retry={() => void refetch()}
          />
        ) : (
          <pre className="code">{JSON.stringify(alarm.Metrics, undefined, 2)}</pre>
        )}
      </SpaceBetween>
    </Container>
  )
}

function Definition({ alarm }: { alarm: MetricAlarm }) {
  const queue = alarm.Dimensions?.find((d) => d.Name === 'QueueName')?.Value
  return (
    <Container header={<Header variant="h2">Definition</Header>}>
      <Pairs
        columns={3}
        items={[
          { label: 'Condition', value: <Words text={conditionOf(alarm)} /> },
          { label: 'Metric', value: alarm.MetricName ? `${alarm.Namespace} ${alarm.MetricName}` : 'Expression' },
          {
            label: 'About',
            value: queue ? (
              <Link href={address(['queues', queue])}>
                <Words text={queue} />
              </Link>
            ) : (
              (alarm.Dimensions ?? []).map((d) => `${d.Name} ${d.Value}`).join(', ') || '–'
            ),
          },
          { label: 'Statistic', value: alarm.Statistic ?? alarm.ExtendedStatistic ?? '–' },
          { label: 'Comparison', value: comparisonOf(alarm) },
          {
            label: 'Missing points',
            value: missings.find((m) => m.value === (alarm.TreatMissingData ?? 'missing'))?.label,
          },
          ...notified(alarm),
        ]}
      />
    </Container>
  )
}

function History({ name, hours, state }: { name: string; hours: number; state: string | undefined }) {
  const interval = useRefresh()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: keys.alarmHistory(name),
    refetchInterval: interval && Math.max(interval, 15_000),
    queryFn: ({ signal }) => alarmHistory(name, signal),
  })
  return (
    <SpaceBetween size="l">
      {state && <Timeline items={data ?? []} span={lastHours(hours)} state={state} />}
      <Rows
        header={<Header variant="h2">History</Header>}
        loading={isPending}
        loadingText="Loading history"
        items={data ?? []}
        wrapLines
        columnDefinitions={[
          { id: 'time', header: 'Time', cell: (i) => <Time at={i.Timestamp?.getTime()} />, width: 200 },
          { id: 'type', header: 'Type', cell: (i) => i.HistoryItemType, width: 180 },
          { id: 'summary', header: 'Event', cell: (i) => i.HistorySummary },
        ]}
        empty={
          error ? (
            <Problem error={error} what="The history cannot be shown" retry={() => void refetch()} />
          ) : (
            <Empty title="No history yet" />
          )
        }
      />
    </SpaceBetween>
  )
}

import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Header from '@cloudscape-design/components/header'
import Multiselect from '@cloudscape-design/components/multiselect'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Tabs from '@cloudscape-design/components/tabs'
import { useState } from 'react'
import { moreQueueMeasures, queueMeasures, statistics, topicMeasures } from '../../api/metrics'
import { nameOf } from '../../api/queues'
import { useTopics } from '../../api/topics'
import { type Range, rangeIn, rangeWords } from '../../data/range'
import { address, go, usePlace } from '../../frame/router'
import { AlarmMe } from '../../parts/alarmme'
import { Empty } from '../../parts/empty'
import { Graphs, PeriodField, wordOf } from '../../parts/graphs'
import { QueuesPicker } from '../../parts/queuepicker'
import { Refresh } from '../../parts/refresh'
import { SpanField } from '../../parts/spanfield'
import { OwnMetrics } from './own'

/** most is how many queues or topics are compared in one graph. */
const most = 10

/** Monitoring shows the metrics of queues, topics and programs. Its address says what it shows, to be shared. */
export default function Monitoring() {
  const { query } = usePlace()
  const [alarming, setAlarming] = useState(false)
  const tab = query.get('tab') ?? 'queues'
  const range = rangeIn(query)
  const period = Number(query.get('period') ?? 0)
  const statistic = statistics.find((s) => s === query.get('statistic'))
  const queues = list(query.get('queues'))
  const topics = list(query.get('topics'))
  const show = (change: Record<string, string>) =>
    go(address(['monitoring'], { ...Object.fromEntries(query), ...change }), { replace: true })
  const zoom = (chosen: Range) => show(rangeWords(chosen))
  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        description="Metrics are counted in the same commit as the messages, so the numbers are exact."
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Refresh />
            <Button href={address(['alarms'])}>Alarms</Button>
            <Button variant="primary" onClick={() => setAlarming(true)}>
              Quick alarm
            </Button>
          </SpaceBetween>
        }
      >
        Monitoring
      </Header>
      <div className="choices">
        <SpanField range={range} choose={zoom} />
        <FormField label="Statistic">
          <Select
            selectedOption={{ value: statistic ?? '', label: statistic ? wordOf(statistic) : 'Default statistic' }}
            options={[
              { value: '', label: 'Default statistic' },
              ...statistics.map((value) => ({ value, label: wordOf(value) })),
            ]}
            onChange={({ detail }) => show({ statistic: detail.selectedOption.value ?? '' })}
          />
        </FormField>
        <PeriodField period={period} choose={(p) => show({ period: p ? String(p) : '' })} />
      </div>
      <Tabs
        activeTabId={tab}
        onChange={({ detail }) => show({ tab: detail.activeTabId })}
        tabs={[
          {
            id: 'queues',
            label: 'Queues',
            content: (
              <SpaceBetween size="m">
                <QueuesPicker names={queues} most={most} choose={(names) => show({ queues: names.join(',') })} />
                {queues.length === 0 ? (
                  <Empty title="Choose up to ten queues">Their metrics are drawn here, a line for each queue.</Empty>
                ) : (
                  <Graphs
                    measures={[...queueMeasures, ...moreQueueMeasures]}
                    names={queues}
                    {...{ range, zoom, period, statistic }}
                  />
                )}
              </SpaceBetween>
            ),
          },
          {
            id: 'topics',
            label: 'Topics',
            content: (
              <SpaceBetween size="m">
                <TopicsPicker names={topics} choose={(names) => show({ topics: names.join(',') })} />
                {topics.length === 0 ? (
                  <Empty title="Choose up to ten topics">Graphs of publishes and deliveries appear here.</Empty>
                ) : (
                  <Graphs measures={topicMeasures} names={topics} {...{ range, zoom, period, statistic }} />
                )}
              </SpaceBetween>
            ),
          },
          {
            id: 'own',
            label: 'Your own metrics',
            content: <OwnMetrics {...{ range, zoom, period, statistic }} />,
          },
        ]}
      />
      {alarming && <AlarmMe queue={queues[0] ?? ''} close={() => setAlarming(false)} />}
    </SpaceBetween>
  )
}

function list(text: string | null): string[] {
  return text ? text.split(',').slice(0, most) : []
}

function TopicsPicker({ names, choose }: { names: string[]; choose: (names: string[]) => void }) {
  const { data, error } = useTopics()
  return (
    <Multiselect
      ariaLabel="Topics"
      placeholder="Choose topics"
      filteringType="auto"
      statusType={error ? 'error' : data ? 'finished' : 'loading'}
      errorText="The topics cannot be listed."
      empty="There are no topics"
      selectedOptions={names.map((value) => ({ value, label: value }))}
      options={(data ?? []).map(nameOf).map((value) => ({
        value,
        label: value,
        disabled: names.length >= most && !names.includes(value),
      }))}
      onChange={({ detail }) => choose(detail.selectedOptions.map((o) => o.value ?? ''))}
    />
  )
}

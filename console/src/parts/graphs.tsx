import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import ColumnLayout from '@cloudscape-design/components/column-layout'
import Container from '@cloudscape-design/components/container'
import FormField from '@cloudscape-design/components/form-field'
import Modal from '@cloudscape-design/components/modal'
import Select from '@cloudscape-design/components/select'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMarks } from '../api/marks'
import {
  about,
  fetchLines,
  type Measure,
  periodFor,
  periods,
  type Span,
  type Statistic,
  spans,
  statistics,
} from '../api/metrics'
import { isDenied } from '../aws/failure'
import { isFixed, type Range, spanOf } from '../data/range'
import { useRefresh } from '../frame/preferences'
import { go } from '../frame/router'
import { Graph, GraphTitle } from './graph'
import { MarkList } from './marklist'
import { Problem } from './problem'
import { SegmentField } from './segmentfield'
import { SpanField } from './spanfield'

interface GraphsProps {
  measures: Measure[]
  /** names are those of queues or topics: a line for each in every graph. */
  names: string[]
  range: Range
  /** zoom is called with the time that a person has drawn across a graph. */
  zoom: (range: Range) => void
  /** period is a number of seconds, or 0 for one that fits. */
  period?: number
  statistic?: Statistic | undefined
}

/** useLines fetches all lines of the graphs, and again each minute: points are a minute long at least. */
function useLines({ measures, names, range, period = 0, statistic }: Omit<GraphsProps, 'zoom'>) {
  const refresh = useRefresh()
  return useQuery({
    queryKey: ['GetMetricData', measures.map((m) => m.name), names, range, period, statistic],
    enabled: names.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: !isFixed(range) && refresh && Math.max(refresh, 30_000),
    queryFn: async ({ signal }) => {
      const span = spanOf(range)
      const lines = await fetchLines(
        measures.flatMap((m) =>
          names.map((name) => ({ title: name, metric: about(m, name), statistic: statistic ?? m.statistic })),
        ),
        span,
        period || periodFor(span),
        signal,
      )
      return { span, lines: measures.map((_, i) => lines.slice(i * names.length, (i + 1) * names.length)) }
    },
  })
}

/** Graphs shows one graph for each measure. A click on one enlarges it. */
export function Graphs(props: GraphsProps) {
  const { data, error, refetch, isPlaceholderData } = useLines(props)
  const [open, setOpen] = useState<Measure>()
  const marks = useMarks(props.range, props.names)
  const span: Span = data?.span ?? spanOf(props.range)
  if (isDenied(error)) {
    return <Problem error={error} what="The metrics cannot be shown" />
  }
  return (
    <>
      <ColumnLayout columns={props.measures.length > 4 ? 3 : 2} minColumnWidth={280}>
        {props.measures.map((measure, i) => (
          <Container key={measure.name} header={<GraphTitle title={measure.title} open={() => setOpen(measure)} />}>
            <Graph
              title={measure.title}
              unit={measure.unit}
              span={span}
              lines={isPlaceholderData && data?.lines.length !== props.measures.length ? undefined : data?.lines[i]}
              error={error}
              retry={() => void refetch()}
              legend={props.names.length > 1}
              marks={marks}
              zoom={props.zoom}
            />
            <Box variant="small" color="text-body-secondary">
              {wordOf(props.statistic ?? measure.statistic)}: {measure.says}
            </Box>
          </Container>
        ))}
      </ColumnLayout>
      {open && <Enlarged {...props} measure={open} close={() => setOpen(undefined)} />}
    </>
  )
}

/** wordOf writes a statistic as people say it. */
export function wordOf(statistic: string): string {
  return statistic === 'SampleCount' ? 'Sample count' : statistic
}

function Enlarged({ measure, names, range: first, close }: GraphsProps & { measure: Measure; close: () => void }) {
  const [statistic, setStatistic] = useState<Statistic>(measure.statistic)
  const [range, setRange] = useState(first)
  const [period, setPeriod] = useState(0)
  const { data, error, refetch } = useLines({ measures: [measure], names, range, period, statistic })
  const marks = useMarks(range, names)
  return (
    <Modal
      visible
      size="max"
      header={measure.title}
      onDismiss={close}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            {names.length === 1 && measure.namespace !== 'AWS/SNS' && (
              <Button
                onClick={() =>
                  go(`/create-alarm?${new URLSearchParams({ queue: names[0] ?? '', metric: measure.name, statistic })}`)
                }
              >
                Create alarm
              </Button>
            )}
            <Button variant="primary" onClick={close}>
              Close
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <div className="choices">
          <StatisticField statistic={statistic} choose={setStatistic} />
          <SpanField range={range} choose={setRange} />
          <PeriodField period={period} choose={setPeriod} />
        </div>
        <Graph
          title={measure.title}
          unit={measure.unit}
          height={320}
          span={data?.span ?? spanOf(range)}
          lines={data?.lines[0]}
          error={error}
          retry={() => void refetch()}
          legend={names.length > 1}
          marks={marks}
          zoom={setRange}
        />
        <MarkList marks={marks} />
      </SpaceBetween>
    </Modal>
  )
}

function StatisticField({ statistic, choose }: { statistic: Statistic; choose: (s: Statistic) => void }) {
  return (
    <FormField label="Statistic">
      <Select
        selectedOption={{ value: statistic, label: wordOf(statistic) }}
        options={statistics.map((value) => ({ value, label: wordOf(value) }))}
        onChange={({ detail }) => choose(detail.selectedOption.value as Statistic)}
      />
    </FormField>
  )
}

/** RangeField chooses how far back graphs go. */
export function RangeField({ hours, choose }: { hours: number; choose: (hours: number) => void }) {
  return (
    <SegmentField
      label="Time range"
      chosen={String(hours)}
      options={spans.map((s) => ({ id: String(s.hours), text: s.text }))}
      choose={(id) => choose(Number(id))}
    />
  )
}

/** PeriodField chooses how long one point is. */
export function PeriodField({ period, choose }: { period: number; choose: (seconds: number) => void }) {
  const options = [
    { value: '0', label: 'Automatic' },
    ...periods.map((p) => ({ value: String(p.seconds), label: p.text })),
  ]
  return (
    <FormField label="Period">
      <Select
        selectedOption={options.find((o) => o.value === String(period)) ?? null}
        options={options}
        onChange={({ detail }) => choose(Number(detail.selectedOption.value))}
      />
    </FormField>
  )
}

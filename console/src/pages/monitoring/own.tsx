import type { Metric } from '@aws-sdk/client-cloudwatch'
import Container from '@cloudscape-design/components/container'
import Multiselect from '@cloudscape-design/components/multiselect'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fetchLines, ownMetrics, periodFor, type Statistic } from '../../api/metrics'
import { isLost } from '../../aws/failure'
import { isFixed, type Range, spanOf } from '../../data/range'
import { useRefresh } from '../../frame/preferences'
import { Empty } from '../../parts/empty'
import { Graph } from '../../parts/graph'
import { Problem } from '../../parts/problem'

interface OwnMetricsProps {
  range: Range
  zoom: (range: Range) => void
  period: number
  statistic: Statistic | undefined
}

/** nameOfMetric is what a person calls a metric: its namespace, name and dimensions. */
function nameOfMetric(m: Metric): string {
  const dimensions = (m.Dimensions ?? []).map((d) => `${d.Name}=${d.Value}`).join(', ')
  return `${m.Namespace} ${m.MetricName}${dimensions && ` (${dimensions})`}`
}

/** OwnMetrics shows the metrics that programs have sent with PutMetricData. */
export function OwnMetrics({ range, zoom, period, statistic = 'Average' }: OwnMetricsProps) {
  const refresh = useRefresh()
  const [chosen, setChosen] = useState<string[]>([])
  const metrics = useQuery({
    queryKey: ['ListMetrics', 'own'],
    queryFn: ({ signal }) => ownMetrics(signal),
  })
  const shown = (metrics.data ?? []).filter((m) => chosen.includes(nameOfMetric(m)))
  const lines = useQuery({
    queryKey: ['GetMetricData', 'own', chosen, range, period, statistic],
    enabled: shown.length > 0,
    refetchInterval: !isFixed(range) && refresh && Math.max(refresh, 30_000),
    queryFn: async ({ signal }) => {
      const span = spanOf(range)
      const wanted = shown.map((metric) => ({ title: nameOfMetric(metric), metric, statistic }))
      return { span, lines: await fetchLines(wanted, span, period || periodFor(span), signal) }
    },
  })
  if (isLost(metrics.error, metrics.data)) {
    return <Problem error={metrics.error} what="The metrics cannot be listed" retry={() => void metrics.refetch()} />
  }
  if (metrics.data?.length === 0) {
    return (
      <Empty title="There are no metrics of your own">
        Programs send metrics of their own, such as the backlog of each worker, with PutMetricData.
      </Empty>
    )
  }
  return (
    <SpaceBetween size="m">
      <Multiselect
        ariaLabel="Metrics"
        placeholder="Choose metrics"
        filteringType="auto"
        statusType={metrics.data ? 'finished' : 'loading'}
        selectedOptions={chosen.map((value) => ({ value, label: value }))}
        options={(metrics.data ?? []).map(nameOfMetric).map((value) => ({
          value,
          label: value,
          disabled: chosen.length >= 10 && !chosen.includes(value),
        }))}
        onChange={({ detail }) => setChosen(detail.selectedOptions.map((o) => o.value ?? ''))}
      />
      {shown.length > 0 && (
        <Container>
          <Graph
            title="Your own metrics"
            unit=""
            height={320}
            span={lines.data?.span ?? spanOf(range)}
            lines={lines.data?.lines}
            error={lines.error}
            retry={() => void lines.refetch()}
            legend
            zoom={zoom}
          />
        </Container>
      )}
    </SpaceBetween>
  )
}

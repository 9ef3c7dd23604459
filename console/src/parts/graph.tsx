import Box from '@cloudscape-design/components/box'
import Button from '@cloudscape-design/components/button'
import LineChart from '@cloudscape-design/components/line-chart'
import type { Mark } from '../api/marks'
import type { Line, Measure, Span } from '../api/metrics'
import { isDenied, isLost, missing } from '../aws/failure'
import { axisOf } from '../data/axis'
import { bytes, count, duration, instant } from '../data/format'
import { type Range, zoomed } from '../data/range'
import { usePreferences } from '../frame/preferences'
import { Brush } from './brush'

interface GraphProps {
  title: string
  unit: Measure['unit']
  lines: Line[] | undefined
  span: Span
  /** threshold is drawn across the graph, as an alarm has it. */
  threshold?: number
  height?: number
  error?: unknown
  retry?: () => void
  legend?: boolean
  /** marks are drawn as lines from top to bottom. */
  marks?: Mark[]
  /** zoom is called with the time that a person has drawn across. */
  zoom?: (range: Range) => void
}

/** markColors are the colours of marks, by their kind. */
const markColors = {
  alarm: 'var(--mark-alarm)',
  ok: 'var(--mark-ok)',
  deployment: 'var(--mark-deployment)',
  edit: 'var(--mark-edit)',
}

/** amount writes a value in its unit, short enough for an axis. */
export function amount(unit: Measure['unit'], y: number): string {
  if (unit === 'seconds' && y >= 1) {
    return duration(Math.round(y) * 1000)
  }
  if (unit === 'bytes') {
    return bytes(Math.round(y * 10) / 10)
  }
  const rounded = Math.abs(y) >= 100 ? Math.round(y) : Math.round(y * 100) / 100
  return count(rounded)
}

/** Graph draws lines over time. */
export function Graph({
  title,
  unit,
  lines,
  span,
  threshold,
  height = 180,
  error,
  retry,
  legend,
  marks = [],
  zoom,
}: GraphProps) {
  const { zone } = usePreferences()
  const days = span.end.getTime() - span.start.getTime() > 24 * 3600_000
  const top = Math.max(threshold ?? 0, ...(lines ?? []).flatMap((l) => l.points.map((p) => p.y)))
  const { divisor, tick } = axisOf(unit, top)
  const empty = lines?.every((l) => l.points.length === 0)
  return (
    <Brush span={span} choose={zoom && ((a, b) => zoom(zoomed(a, b)))}>
      <LineChart
        ariaLabel={title}
        height={height}
        hideFilter
        hideLegend={!legend}
        xScaleType="time"
        xDomain={[span.start, span.end]}
        yDomain={[0, top > 0 ? (top * 1.1) / divisor : 1]}
        statusType={isLost(error, lines) ? 'error' : lines ? 'finished' : 'loading'}
        loadingText="Loading"
        errorText={
          isDenied(error)
            ? `You may not see these points: this requires the permission ${missing(error) ?? 'cloudwatch:GetMetricData'}.`
            : 'The points could not be loaded.'
        }
        recoveryText={retry && !isDenied(error) ? 'Try again' : ''}
        onRecoveryClick={() => retry?.()}
        empty={
          <Box textAlign="center" color="text-body-secondary">
            No points in this time
          </Box>
        }
        i18nStrings={{
          xTickFormatter: (x) => {
            const text = instant(x.getTime(), zone)
            return days ? text.slice(5, 10) : text.slice(11, 16)
          },
          yTickFormatter: tick,
        }}
        detailPopoverSeriesContent={({ series, y }) => ({ key: series.title, value: amount(unit, y * divisor) })}
        detailPopoverFooter={(x) => (
          <Box variant="small" color="text-body-secondary">
            {instant((x as Date).getTime(), zone)}
          </Box>
        )}
        series={
          empty
            ? []
            : [
                ...(lines ?? []).map((l) => ({
                  type: 'line' as const,
                  title: l.title,
                  data: l.points.map((p) => ({ ...p, y: p.y / divisor })),
                })),
                ...(threshold === undefined
                  ? []
                  : [{ type: 'threshold' as const, title: 'Threshold', y: threshold / divisor }]),
                ...marks
                  .filter((m) => m.at >= span.start.getTime() && m.at <= span.end.getTime())
                  .map((m) => ({
                    type: 'threshold' as const,
                    title: m.text,
                    x: new Date(m.at),
                    color: markColors[m.kind],
                  })),
              ]
        }
      />
    </Brush>
  )
}

/** GraphTitle stands above a small graph, and opens it. */
export function GraphTitle({ title, open }: { title: string; open?: () => void }) {
  return (
    <div className="graph-title">
      <Box variant="h3" fontSize="heading-s">
        {title}
      </Box>
      {open && <Button variant="inline-icon" iconName="expand" ariaLabel={`Enlarge ${title}`} onClick={open} />}
    </div>
  )
}

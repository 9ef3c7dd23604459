import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { firing as alarmsThatFire, type Firing } from '../../api/firing'
import { keys } from '../../api/keys'
import { useWorstQueues } from '../../api/queues'
import { isDenied } from '../../aws/failure'
import { useRefresh } from '../../frame/preferences'

/** often is how often the alarms and the metrics are looked at, at most, in milliseconds. */
const often = { alarms: 15_000, metrics: 60_000 }

/** useLook looks at the queues that need attention most and at the alarms that fire. */
export function useLook() {
  const interval = useRefresh()
  const queues = useWorstQueues()
  const firing = useQuery<Firing[]>({
    queryKey: keys.firing,
    refetchInterval: ({ state }) => !isDenied(state.error) && interval && Math.max(interval, often.alarms),
    queryFn: ({ signal }) => alarmsThatFire(signal),
  })
  return { queues, firing }
}

/** hours is how far back the course of a queue goes, and period how long each of its points is, in seconds. */
const hours = 3
const period = 300

/** useCourses returns how many messages were in queues in the last hours, oldest first, by one request for all of them. */
export function useCourses(names: string[]): Map<string, number[]> | undefined {
  const interval = useRefresh()
  const courses = useQuery<Map<string, number[]>>({
    queryKey: ['GetMetricData', 'courses', names],
    enabled: names.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => !isDenied(state.error) && interval && Math.max(interval, often.metrics),
    queryFn: async ({ signal }) => {
      const { about, fetchLines, lastHours, queueMeasures } = await import('../../api/metrics')
      const visible = queueMeasures[0]
      if (!visible) {
        return new Map<string, number[]>()
      }
      const wanted = names.map((name) => ({ title: name, metric: about(visible, name), statistic: 'Maximum' }))
      const lines = await fetchLines(wanted, lastHours(hours), period, signal)
      return new Map(lines.map((line) => [line.title, line.points.map((p) => p.y)]))
    },
  })
  return courses.data
}

import { useQuery } from '@tanstack/react-query'
import { isDenied } from '../aws/failure'
import { type Course, courseOf, drawn, lastOf, type Trend, trendOf } from '../data/flow'
import { useRefresh } from '../frame/preferences'
import { about, fetchLines, lastHours, moreQueueMeasures, queueMeasures } from './metrics'

/** moving are the metrics of a trend: messages sent, and the metrics of messages that leave a queue. */
const moving = [
  'NumberOfMessagesSent',
  'NumberOfMessagesDeleted',
  'NumberOfMessagesDeadLettered',
  'NumberOfMessagesExpired',
  'NumberOfMessagesMoved',
]

const calls = ['NumberOfMessagesSent', 'NumberOfMessagesReceived']

/** hours is how far back the last send and receive are looked for. */
const hours = 24

function linesOf(queue: string, names: string[], span: ReturnType<typeof lastHours>, signal: AbortSignal) {
  const measures = [...queueMeasures, ...moreQueueMeasures].filter((m) => names.includes(m.name))
  const wanted = measures.map((m) => ({ title: m.name, metric: about(m, queue), statistic: 'Sum' }))
  return fetchLines(wanted, span, 60, signal)
}

/** Flow is how fast messages come and go. */
interface Flow {
  /** trend is the average, if there are enough minutes for one. */
  trend: Trend | undefined
  course: Course
}

/** useFlow returns how fast messages come and go, from the metrics; nothing to a user who may not read them. */
export function useFlow(queue: string): Flow | undefined {
  const interval = useRefresh()
  const flow = useQuery<Flow>({
    queryKey: ['flow', queue],
    refetchInterval: ({ state }) => !isDenied(state.error) && interval && Math.max(interval, 60_000),
    queryFn: async ({ signal }) => {
      const span = lastHours(drawn / 60)
      const lines = await linesOf(queue, moving, span, signal)
      const end = span.end.getTime()
      return { trend: trendOf(lines, end), course: courseOf(lines, end) }
    },
  })
  return flow.data
}

/** useLastCalls returns the last minutes with a send and a receive before the server was started, if they are wanted. */
export function useLastCalls(
  queue: string,
  wanted: boolean,
): { send?: number | undefined; receive?: number | undefined } {
  const found = useQuery({
    queryKey: ['lastCalls', queue],
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const [sent, received] = await linesOf(queue, calls, lastHours(hours), signal)
      return { send: lastOf(sent), receive: lastOf(received) }
    },
  })
  return found.data ?? {}
}

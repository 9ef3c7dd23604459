import type { Line } from '../api/metrics'

/** Trend is how many messages come and go in a minute, on average. */
export interface Trend {
  incoming: number
  outgoing: number
}

/** averaged is over how many minutes a trend goes, and least how many there have to be. */
export const averaged = 10
const least = 3

/**
 * trendOf reads the line of messages sent, and behind it those of messages that left the queue. Each point is of a minute that
 * is over; a minute without a point had no calls. It returns nothing if there are too few minutes.
 */
export function trendOf(lines: Line[], end: number): Trend | undefined {
  const since = end - averaged * 60_000
  const [sent = [], ...gone] = lines.map((line) => line.points.filter((p) => p.x.getTime() >= since))
  const first = Math.min(...[sent, ...gone].flat().map((p) => p.x.getTime()))
  const minutes = Number.isFinite(first) ? Math.round((end - first) / 60_000) : 0
  const sum = (points: Line['points']) => points.reduce((n, p) => n + p.y, 0)
  return minutes < least ? undefined : { incoming: sum(sent) / minutes, outgoing: sum(gone.flat()) / minutes }
}

/** Course is how many messages came and went in each of the last minutes, oldest first. */
export interface Course {
  incoming: number[]
  outgoing: number[]
}

/** drawn is over how many minutes a course goes. */
export const drawn = 30

/** courseOf reads the same lines as trendOf. A minute without a point had no calls. */
export function courseOf([sent, ...gone]: Line[], end: number): Course {
  const counted = (lines: Line[]) => {
    const minutes = new Array<number>(drawn).fill(0)
    for (const { x, y } of lines.flatMap((line) => line.points)) {
      const at = drawn - Math.round((end - x.getTime()) / 60_000)
      if (at >= 0 && at < drawn) {
        minutes[at] = (minutes[at] ?? 0) + y
      }
    }
    return minutes
  }
  return { incoming: counted(sent ? [sent] : []), outgoing: counted(gone) }
}

/** lastOf returns the last minute in which something happened, in milliseconds since 1970. */
export const lastOf = (line: Line | undefined) => line?.points.findLast((p) => p.y > 0)?.x.getTime()

import type { Line } from './metrics'

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

/** lastOf returns the last minute in which something happened, in milliseconds since 1970. */
export const lastOf = (line: Line | undefined) => line?.points.findLast((p) => p.y > 0)?.x.getTime()

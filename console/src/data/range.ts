import type { Span } from '../api/metrics'
import type { Preferences } from '../frame/preferences'

/** Range is the time that graphs are of: the last hours, or one that stays. */
export type Range = { hours: number } | { from: number; to: number }

const minute = 60_000

/** shortest is the shortest range that stays: below it there is nothing to see, as points are a minute long. */
export const shortest = 5 * minute

/** isFixed reports whether a range stays as time goes on. */
export const isFixed = (range: Range): range is { from: number; to: number } => 'from' in range

/** spanOf returns the span of a range. One of hours ends with the last whole minute. */
export function spanOf(range: Range, now = Date.now()): Span {
  if (isFixed(range)) {
    return { start: new Date(range.from), end: new Date(range.to) }
  }
  const end = Math.floor(now / minute) * minute
  return { start: new Date(end - range.hours * 60 * minute), end: new Date(end) }
}

/** zoomed returns the range between two times, in whole minutes, which is not too short and begins at the earlier one. */
export function zoomed(a: number, b: number): Range {
  const from = Math.floor(Math.min(a, b) / minute) * minute
  const to = Math.ceil(Math.max(a, b) / minute) * minute
  const missing = Math.max(0, shortest - (to - from))
  return { from: from - Math.floor(missing / 2 / minute) * minute, to: to + Math.ceil(missing / 2 / minute) * minute }
}

/** rangeIn reads the range in an address. */
export function rangeIn(query: URLSearchParams, hours = 3): Range {
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')]
  const given = Number(query.get('hours'))
  return from < to ? { from, to } : { hours: given > 0 ? given : hours }
}

/** rangeWords writes a range for an address. */
export function rangeWords(range: Range): { from: string; to: string; hours: string } {
  return isFixed(range)
    ? { from: iso(range.from), to: iso(range.to), hours: '' }
    : { from: '', to: '', hours: String(range.hours) }
}

const iso = (at: number) => new Date(at).toISOString().replace('.000', '')

/** parseTime reads a time as a person writes it in their zone, 2026-11-27 02:30, or nothing. */
export function parseTime(text: string, zone: Preferences['zone']): number | undefined {
  const [, day, time] = /^\s*(\d{4}-\d\d-\d\d)[T ]+(\d\d:\d\d)(?::\d\d)?\s*(?:UTC)?\s*$/.exec(text) ?? []
  const at = Date.parse(`${day}T${time}${zone === 'utc' ? 'Z' : ''}`)
  return Number.isNaN(at) ? undefined : at
}

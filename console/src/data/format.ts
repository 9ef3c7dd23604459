import type { Preferences } from '../frame/preferences'

const counting = new Intl.NumberFormat('en')

/** count writes a whole number: 12,345. */
export function count(n: number): string {
  return counting.format(n)
}

const compacting = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** compact writes a large number where there is little room: 200K. */
export function compact(n: number): string {
  return n < 10_000 ? count(n) : compacting.format(n)
}

/** plural writes a number with its noun: 1 message, 12,345 messages. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

/** bytes writes a size for people: 1.4 KiB. */
export function bytes(n: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  let value = n
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return unit === 0
    ? `${count(n)} ${n === 1 ? 'byte' : 'bytes'}`
    : `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`
}

/** duration writes milliseconds in its two largest units: 3 h 20 min. */
export function duration(ms: number): string {
  if (ms < 1000) {
    return ms < 1 ? '0 s' : `${Math.round(ms)} ms`
  }
  let seconds = Math.floor(ms / 1000)
  const parts: string[] = []
  for (const [unit, length] of [
    ['d', 86400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const) {
    if (seconds >= length) {
      parts.push(`${Math.floor(seconds / length)} ${unit}`)
      seconds %= length
    } else if (parts.length > 0) {
      break
    }
    if (parts.length === 2) {
      break
    }
  }
  return parts.join(' ')
}

/** briefly writes milliseconds in their largest unit: 3 h. */
export const briefly = (ms: number): string => duration(Math.max(0, ms)).replace(/^(\d+ \w+) .*$/, '$1')

/** ago writes how long ago a time was. */
export function ago(at: number, now = Date.now()): string {
  const past = now - at
  if (Math.abs(past) < 1000) {
    return 'now'
  }
  return past > 0 ? `${duration(past)} ago` : `in ${duration(-past)}`
}

/** instant writes a time in the zone that was chosen: 2026-11-22 13:05:09. */
export function instant(ms: number, zone: Preferences['zone'], millis = false): string {
  const d = new Date(ms)
  if (Number.isNaN(d.getTime())) {
    return String(ms)
  }
  const local = zone === 'utc' ? d : new Date(ms - d.getTimezoneOffset() * 60_000)
  const text = local.toISOString().replace('T', ' ')
  return `${text.slice(0, millis ? 23 : 19)}${zone === 'utc' ? ' UTC' : ''}`
}

/** timesIn writes a text of the server with its times, 2026-11-22T13:05:09Z, as instant does. */
export function timesIn(text: string, zone: Preferences['zone']): string {
  return text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => instant(Date.parse(time), zone))
}

/** rate writes how often something happens in a second. */
export function rate(perSecond: number): string {
  if (perSecond === 0) {
    return '0/s'
  }
  if (perSecond < 0.1) {
    return `${(perSecond * 60).toFixed(1)}/min`
  }
  return perSecond < 10 ? `${perSecond.toFixed(1)}/s` : `${count(Math.round(perSecond))}/s`
}

/** perMinute writes a rate without digits that say nothing. */
export const perMinute = (n: number) => (n < 10 ? String(Math.round(n * 10) / 10) : count(Math.round(n)))

/** inSentence writes a title after a colon. The code of an error, such as QueueDoesNotExist, stays as it is. */
export const inSentence = (title: string) =>
  /^[A-Z]\w*[a-z][A-Z]\w*$/.test(title) ? title : `${title.charAt(0).toLowerCase()}${title.slice(1)}`

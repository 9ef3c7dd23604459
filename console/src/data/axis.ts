import type { Measure } from '../api/metrics'
import { bytes, count } from './format'

/** Axis is how values of a unit are drawn, so that round numbers stand beside the lines. */
export interface Axis {
  /** divisor is by what values are divided before they are drawn. */
  divisor: number
  /** tick writes a divided value beside the axis; nothing where it would be no whole number of things that are whole. */
  tick: (y: number) => string
}

/** times are the units of an axis of seconds, the largest first. */
const times: [seconds: number, unit: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** sizes are those of an axis of bytes. */
const sizes = [1024 ** 3, 1024 ** 2, 1024, 1]

/** axisOf returns the axis for values up to top. At least two of the unit have to fit. */
export function axisOf(unit: Measure['unit'], top: number): Axis {
  if (unit === 'seconds') {
    const [divisor, name] = times.find(([seconds]) => top >= 2 * seconds) ?? [1, 's']
    return { divisor, tick: (y) => `${number(y)} ${name}` }
  }
  if (unit === 'bytes') {
    const divisor = sizes.find((size) => top >= 2 * size) ?? 1
    return { divisor, tick: (y) => bytes(y * divisor) }
  }
  return { divisor: 1, tick: unit === '' ? number : (y) => (Number.isInteger(y) ? count(y) : '') }
}

const number = (y: number) => count(Math.round(y * 100) / 100)

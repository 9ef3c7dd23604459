import { Fragment, useEffect, useState } from 'react'
import { ago, briefly, count, instant, timesIn } from '../data/format'
import { usePreferences } from '../frame/preferences'

/** Absent replaces a missing value. */
export function Absent() {
  return (
    <span aria-hidden="true" className="absent">
      –
    </span>
  )
}

/** Num is a number whose digits have one width, aligned to the right in tables. */
export function Num({ value }: { value: number | undefined }) {
  return <span className="number">{value === undefined ? <Absent /> : count(value)}</span>
}

/** Time is a time, in the reader's chosen zone. */
export function Time({ at, millis = false }: { at: number | undefined; millis?: boolean }) {
  const { zone } = usePreferences()
  if (at === undefined) {
    return <Absent />
  }
  return (
    <time className="number" dateTime={new Date(at).toISOString()} title={ago(at)}>
      {instant(at, zone, millis)}
    </time>
  )
}

/** Said is a text of the server, with its times in the reader's chosen zone. */
export function Said({ text }: { text: string }) {
  const { zone } = usePreferences()
  return <Words text={withUnits(timesIn(text, zone))} />
}

/** withUnits keeps numbers and their units on one line. */
const withUnits = (text: string) => text.replace(/(\d) (s|min|h|d)\b/g, '$1\u00a0$2')

/**
 * Words is a text whose long names, such as those of metrics and ARNs, go on in the next line where a word in them begins. A name
 * without words, of which others have made many characters, goes on anywhere but near its ends.
 */
export function Words({ text = '' }: { text: string | undefined }) {
  const parts = text
    .split(/(?<=[a-z])(?=[A-Z])|(?<=[:/])(?!\d\d\b)/) // but no time of day
    .flatMap((part) => part.split(/(?<=[^\s-]{12})(?=[^\s-]{12})/u))
  return (
    <span className="break">
      {parts.map((part, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text keep their order
        <Fragment key={i}>
          {i > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  )
}

/** Ago says how long ago a moment was, and goes on counting: in its largest unit, if it is brief. */
export function Ago({ at, brief = false }: { at: number | undefined; brief?: boolean }) {
  const { zone } = usePreferences()
  const now = useNow(at !== undefined)
  if (at === undefined) {
    return <Absent />
  }
  return (
    <time className="number" dateTime={new Date(at).toISOString()} title={instant(at, zone)}>
      {brief ? (at > now + 999 ? `in ${briefly(at - now)}` : briefly(now - at)) : ago(at, now)}
    </time>
  )
}

const tickers = new Set<(now: number) => void>()
let ticking: ReturnType<typeof setInterval> | undefined

/** useNow returns the time, each second. */
export function useNow(on = true): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!on) {
      return
    }
    tickers.add(setNow)
    ticking ??= setInterval(() => {
      if (!document.hidden) {
        const t = Date.now()
        for (const tick of tickers) {
          tick(t)
        }
      }
    }, 1000)
    return () => {
      tickers.delete(setNow)
      if (tickers.size === 0) {
        clearInterval(ticking)
        ticking = undefined
      }
    }
  }, [on])
  return now
}

import { useCallback, useMemo, useSyncExternalStore } from 'react'
import { slow, useQuiet } from './quiet'

/** Preferences are a person's own, and stay in their browser. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  density: 'comfortable' | 'compact'
  zone: 'local' | 'utc'
  /** refresh is how often pages look again, in seconds; 0 is never. */
  refresh: number
  /** singleKeys says that keys such as ? and / do something on every page. */
  singleKeys: boolean
}

const defaults: Preferences = { theme: 'system', density: 'comfortable', zone: 'local', refresh: 5, singleKeys: true }
const key = 'sluice-preferences'

let current = load()
const listeners = new Set<() => void>()

function load(): Preferences {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(key) ?? '{}') }
  } catch {
    return defaults
  }
}

/** setPreferences changes some of them. */
export function setPreferences(some: Partial<Preferences>) {
  current = { ...current, ...some }
  try {
    localStorage.setItem(key, JSON.stringify(current))
  } catch {
    // A browser that keeps nothing: they hold until the page is closed.
  }
  for (const listener of listeners) {
    listener()
  }
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, () => current)
}

/**
 * useRefresh returns the interval for refetchInterval of a query. It is longer while there is no input; in a tab that is not
 * seen, queries rest by themselves.
 */
export function useRefresh(): number | false {
  const { refresh } = usePreferences()
  const quiet = useQuiet()
  return refresh > 0 && Math.max(refresh * 1000, quiet ? slow : 0)
}

/** useStored is a state of a page that stays in the browser, such as which columns a table shows. The fallback is a constant. */
export function useStored<T>(name: string, fallback: T): [T, (value: T) => void] {
  const full = `sluice-${name}`
  const text = useSyncExternalStore(subscribe, () => stored(full))
  const value = useMemo(() => parse<T>(text) ?? fallback, [text, fallback])
  const set = useCallback(
    (next: T) => {
      try {
        localStorage.setItem(full, JSON.stringify(next))
      } catch {
        return // a browser that keeps nothing
      }
      for (const listener of listeners) {
        listener()
      }
    },
    [full],
  )
  return [value, set]
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function parse<T>(stored: string | null): T | undefined {
  try {
    return stored === null ? undefined : (JSON.parse(stored) as T)
  } catch {
    return undefined // written by another version
  }
}

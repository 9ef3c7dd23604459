import { useSyncExternalStore } from 'react'

/** watched returns a hook that reports whether the window is like that. */
function watched(media: string): () => boolean {
  const query = window.matchMedia(media)
  const subscribe = (listener: () => void) => {
    query.addEventListener('change', listener)
    return () => query.removeEventListener('change', listener)
  }
  return () => useSyncExternalStore(subscribe, () => query.matches)
}

/** useNarrow reports whether the window is as narrow as a phone. */
export const useNarrow = watched('(width <= 688px)')

/** useCards reports whether tables have no room for columns, as on a tablet that is held upright. */
export const useCards = watched('(width < 1000px)')

/** useTight reports whether a row of many buttons has no room beside a heading and the navigation. */
export const useTight = watched('(width < 1100px)')

/** useWide reports whether a table beside the navigation has room for columns that are needed less. */
export const useWide = watched('(width >= 1600px)')

import { useSyncExternalStore } from 'react'

/** Overlay is what can be called above every page: the palette of commands, or the list of keys. */
export type Overlay = 'palette' | 'keys'

let current: Overlay | undefined
const listeners = new Set<() => void>()

/** showOverlay shows one of them, or hides it. */
export function showOverlay(overlay: Overlay | undefined) {
  current = overlay
  for (const listener of listeners) {
    listener()
  }
}

export function useOverlay(): Overlay | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}

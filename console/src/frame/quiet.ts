import { useSyncExternalStore } from 'react'

/** after is how long there has to be no input until it is quiet, in milliseconds. */
const after = 120_000

/** slow is how often pages look again then, at most, in milliseconds. */
export const slow = 30_000

const inputs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const

/** Quiet reports whether there was no input for a while. Its owner reports each input by touched, and the passing of time by look. */
export class Quiet {
  private last: number
  private now = false
  private readonly listeners = new Set<() => void>()

  constructor(now: number) {
    this.last = now
  }

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  readonly get = () => this.now

  /** touched notes input. */
  touched(now: number) {
    this.last = now
    this.look(now)
  }

  /** look notes the time. */
  look(now: number) {
    const quiet = now - this.last >= after
    if (quiet !== this.now) {
      this.now = quiet
      for (const listener of this.listeners) {
        listener()
      }
    }
  }
}

const quiet = new Quiet(Date.now())

/** watchInput notes input in this window, from the beginning to the end of the page. */
export function watchInput() {
  for (const input of inputs) {
    window.addEventListener(input, () => quiet.touched(Date.now()), { capture: true, passive: true })
  }
  setInterval(() => quiet.look(Date.now()), after / 8)
}

/** useQuiet reports whether there was no input for two minutes: pages then look again less often. */
export function useQuiet(): boolean {
  return useSyncExternalStore(quiet.subscribe, quiet.get)
}

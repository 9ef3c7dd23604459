import { useEffect } from 'react'
import { leave } from '../aws/session'
import { notify } from './notices'

/** warnBefore is how long before the lock the page says so. */
const warnBefore = 60_000

/** key is where all tabs of a browser note the last input: input in one tab counts for all. */
const key = 'sluice-last-input'

const inputs = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const

/** useIdleLock signs the user out after so many minutes without input, and says so in the last of them. */
export function useIdleLock(minutes: number) {
  useEffect(() => (minutes > 0 ? watch(minutes * 60_000) : undefined), [minutes])
}

/** watch looks every second how long ago the last input was, by the clock: a machine that slept has missed the seconds between. */
function watch(idle: number): () => void {
  let own = Date.now()
  let dismiss: (() => void) | undefined
  const forget = () => {
    dismiss?.()
    dismiss = undefined
  }
  const touched = (event?: Event) => {
    const now = Date.now()
    if (now - last(own) >= idle) {
      look() // too late: what has woken the machine does not count
    } else if (now - own > 1000 && !(dismiss && event?.type === 'pointermove')) {
      // On the way to the button the warning must not go away beneath the pointer.
      own = now
      note(now)
    }
  }
  const look = () => {
    const quiet = Date.now() - last(own)
    if (quiet >= idle) {
      stop()
      void leave(
        `The console was idle for ${Math.round(idle / 60_000)} minutes. Sign in again to continue where you left off.`,
      )
    } else if (quiet >= idle - warnBefore) {
      dismiss ??= notify({
        type: 'warning',
        header: 'You will be signed out in a minute',
        content: 'The console is idle.',
        action: { text: 'Stay signed in', do: () => touched() },
      })
    } else {
      forget()
    }
  }
  note(own)
  const timer = setInterval(look, 1000)
  for (const input of inputs) {
    window.addEventListener(input, touched, { capture: true, passive: true })
  }
  document.addEventListener('visibilitychange', look)
  function stop() {
    clearInterval(timer)
    for (const input of inputs) {
      window.removeEventListener(input, touched, { capture: true })
    }
    document.removeEventListener('visibilitychange', look)
    forget()
  }
  return stop
}

/** last returns the time of the last input, in this tab or in another. */
function last(own: number): number {
  try {
    return Math.max(own, Math.min(Date.now(), Number(localStorage.getItem(key)) || 0))
  } catch {
    return own
  }
}

function note(at: number) {
  try {
    localStorage.setItem(key, String(at))
  } catch {
    // A browser that keeps nothing: each tab is for itself.
  }
}

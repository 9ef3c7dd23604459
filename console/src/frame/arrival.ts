import { useEffect, useRef } from 'react'

const root = () => document.getElementById('root')

/** isLost reports whether what had the focus is gone. */
function isLost(): boolean {
  const focused = document.activeElement
  return focused === null || focused === document.body || focused === root()
}

/**
 * useBeginning makes the keyboard begin at the top of a page that takes the place of another, such as the sign-in. The browser would
 * go on in its middle, where the button was that is gone.
 */
export function useBeginning() {
  useEffect(() => {
    const top = root()
    if (top && isLost()) {
      top.tabIndex = -1
      top.focus({ preventScroll: true })
    }
  }, [])
}

/**
 * useArrival gives the heading of a page that was just opened the focus, if what had it went with the page before: a program that
 * reads the screen says where the reader is, and the keyboard goes on from there. A page whose first field takes it keeps it. The
 * first page is none that was opened: before it is known, page is undefined.
 */
export function useArrival(page: string | undefined) {
  const shown = useRef(page)
  useEffect(() => {
    const before = shown.current
    shown.current = page
    if (before === undefined || before === page) {
      return
    }
    const arrive = () => {
      const heading = document.querySelector<HTMLElement>('main h1')
      const lost = isLost()
      if (lost && !heading) {
        return // its code or its data is still to come
      }
      watcher.disconnect()
      if (lost && heading) {
        heading.tabIndex = -1
        heading.focus({ preventScroll: true })
      }
    }
    const watcher = new MutationObserver(arrive)
    watcher.observe(document.body, { childList: true, subtree: true })
    arrive()
    return () => watcher.disconnect()
  }, [page])
}

import { useEffect, useRef } from 'react'

/**
 * useArrival gives the heading of a page that was just opened the focus, if what had it went with the page before: a program that
 * reads the screen says where the reader is, and the keyboard goes on from there. A page whose first field takes it keeps it.
 */
export function useArrival(page: string) {
  const shown = useRef(page)
  useEffect(() => {
    if (shown.current === page) {
      return
    }
    shown.current = page
    const arrive = () => {
      const heading = document.querySelector<HTMLElement>('main h1')
      const lost = document.activeElement === null || document.activeElement === document.body
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

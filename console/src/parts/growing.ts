import { startTransition, useEffect, useMemo, useState } from 'react'

/**
 * useGrowing returns the first of some items, which fill a window, and all of them when those have been drawn. A table of fifty
 * rows would otherwise keep a person waiting for the rows that are out of sight. Later items are returned at once: a table that
 * has grown does not shrink again.
 */
export function useGrowing<T>(items: T[], first = 15): T[] {
  const [grown, grow] = useState(false)
  const long = items.length > first
  useEffect(() => {
    if (!long || grown) {
      return
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => startTransition(() => grow(true)))
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, [long, grown])
  return useMemo(() => (grown || !long ? items : items.slice(0, first)), [items, grown, long, first])
}

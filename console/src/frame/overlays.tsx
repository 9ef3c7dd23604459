import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { openDialog } from './dialog'
import { Guard } from './guard'
import { pageKeys, typing } from './keys'
import { later } from './later'
import { showOverlay, useOverlay } from './overlay'
import { usePreferences } from './preferences'
import { go } from './router'

const Palette = later(() => import('./palette'))
const KeyList = later(() => import('./keylist'))

/** Overlays handles the keys that work on every page, and shows what they open. */
export function Overlays() {
  const shown = useOverlay()
  const client = useQueryClient()
  const { singleKeys } = usePreferences()
  const after = useRef(false) // g was pressed, and the next key says where to go
  useEffect(() => {
    const simple: Record<string, (e: KeyboardEvent) => void> = {
      '?': () => showOverlay('keys'),
      '/': (e) => {
        const field = document.querySelector<HTMLInputElement>('main input[type=search]')
        if (field) {
          e.preventDefault()
          field.focus()
        }
      },
      r: () => void client.invalidateQueries(),
      c: () => go('/create-queue'),
      g: () => {
        after.current = true
      },
    }
    function onKey(e: KeyboardEvent) {
      if (e.defaultPrevented || e.isComposing || openDialog() || e.altKey) {
        return
      }
      if ((e.ctrlKey || e.metaKey) && !e.shiftKey && e.key.toLowerCase() === 'k') {
        e.preventDefault()
        showOverlay('palette')
        return
      }
      if (!singleKeys || e.ctrlKey || e.metaKey || typing(e.target)) {
        return
      }
      const page = after.current ? pageKeys[e.key] : undefined
      after.current = false
      if (page) {
        go(page)
      } else if (Object.hasOwn(simple, e.key)) {
        simple[e.key]?.(e)
      }
    }
    function onPointer() {
      after.current = false
    }
    window.addEventListener('keydown', onKey)
    window.addEventListener('pointerdown', onPointer)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener('pointerdown', onPointer)
    }
  }, [client, singleKeys])
  useEffect(() => () => showOverlay(undefined), [])
  return (
    <Guard key={shown}>
      {shown === 'palette' && <Palette close={() => showOverlay(undefined)} />}
      {shown === 'keys' && <KeyList close={() => showOverlay(undefined)} />}
    </Guard>
  )
}

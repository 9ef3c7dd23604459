import type { FlashbarProps } from '@cloudscape-design/components/flashbar'
import type { ReactNode } from 'react'
import { useSyncExternalStore } from 'react'
import { wordsOf } from '../aws/failure'

interface Shown extends FlashbarProps.MessageDefinition {
  /** at is when it was shown, in milliseconds, and page where. */
  at: number
  page: string
}

let items: Shown[] = []
let here = ''
let last = 0
const listeners = new Set<() => void>()

function set(next: Shown[]) {
  items = next
  for (const listener of listeners) {
    listener()
  }
}

/** Notice is what is said above the page. */
export interface Notice {
  type?: 'success' | 'info' | 'warning' | 'error'
  header?: ReactNode
  content?: ReactNode
  action?: { text: string; do: () => void }
  /** once says that it takes the place of one with the same header. */
  once?: boolean
}

/** notify shows a notice above the page, and returns what takes it away. */
export function notify({ type = 'success', header, content, action, once = false }: Notice): () => void {
  const id = String(++last)
  const dismiss = () => set(items.filter((item) => item.id !== id))
  set([
    {
      id,
      at: Date.now(),
      page: here,
      type,
      header,
      content,
      dismissible: true,
      dismissLabel: 'Dismiss',
      onDismiss: dismiss,
      ...(action && {
        buttonText: action.text,
        onButtonClick: () => {
          dismiss()
          action.do()
        },
      }),
    },
    ...items.filter((item) => !once || item.header !== header).slice(0, 4),
  ])
  if (type === 'success' && !action) {
    setTimeout(dismiss, 8000)
  }
  return dismiss
}

/** notifyError shows an error above the page. */
export function notifyError(error: unknown, what?: string) {
  const { title, text } = wordsOf(error)
  notify({ type: 'error', header: what ? `${what}: ${title}` : title, content: text })
}

/** fresh is for how long a notice is of the page that is opened next: what is created is shown on a page of its own. */
const fresh = 1000

/** enterPage takes away the notices of the page before, but for errors and what was just said. */
export function enterPage(page: string) {
  here = page
  const now = Date.now()
  const stays = (item: Shown) => item.page === page || item.type === 'error' || now - item.at < fresh
  if (!items.every(stays)) {
    set(items.filter(stays))
  }
}

/** clearNotices takes away all, as when another person signs in. */
export function clearNotices() {
  set([])
}

export function useNotices(): FlashbarProps.MessageDefinition[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => items,
  )
}

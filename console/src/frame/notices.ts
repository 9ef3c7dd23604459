import type { FlashbarProps } from '@cloudscape-design/components/flashbar'
import type { ReactNode } from 'react'
import { useSyncExternalStore } from 'react'
import { wordsOf } from '../aws/failure'

let items: FlashbarProps.MessageDefinition[] = []
let last = 0
const listeners = new Set<() => void>()

function set(next: FlashbarProps.MessageDefinition[]) {
  items = next
  for (const listener of listeners) {
    listener()
  }
}

interface Notice {
  type?: 'success' | 'info' | 'warning' | 'error'
  header?: ReactNode
  content?: ReactNode
  action?: { text: string; do: () => void }
}

/** notify shows a notice above the page, and returns what takes it away. */
export function notify({ type = 'success', header, content, action }: Notice): () => void {
  const id = String(++last)
  const dismiss = () => set(items.filter((item) => item.id !== id))
  set([
    {
      id,
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
    ...items.slice(0, 4),
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

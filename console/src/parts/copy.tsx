import Button from '@cloudscape-design/components/button'
import { useState } from 'react'
import { Words } from './values'

/** copyText copies text to the clipboard, even where the page came over plain HTTP and browsers lack navigator.clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Not allowed: the old way may be.
  }
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('aria-hidden', 'true')
  area.className = 'off-screen'
  document.body.append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } finally {
    area.remove()
  }
}

/** Copied is a text and, before it, the button that copies it. */
export function Copied({ text, label }: { text: string; label: string }) {
  return (
    <span className="why">
      <Copy text={text} label={label} inline />
      <Words text={text} />
    </span>
  )
}

/** Copy is a button that copies. */
export function Copy({ text, label = 'Copy', inline = false }: { text: string; label?: string; inline?: boolean }) {
  const [done, setDone] = useState<boolean>()
  return (
    <Button
      variant={inline ? 'inline-icon' : 'normal'}
      iconName={done === undefined ? 'copy' : done ? 'status-positive' : 'status-negative'}
      ariaLabel={label}
      onClick={async () => {
        setDone(await copyText(text))
        setTimeout(() => setDone(undefined), 1500)
      }}
    >
      {inline ? undefined : label}
    </Button>
  )
}

import Button from '@cloudscape-design/components/button'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { notify } from '../frame/notices'
import { CodeArea } from './codearea'
import { jsonError, pretty } from './json'
import { Problem } from './problem'

interface JSONEditProps {
  label: string
  description?: string
  value: string
  rows?: number
  /** example is put in by a button while there is nothing. */
  example?: string
  save: (value: string) => Promise<unknown>
  /** empty says that it may be taken away. */
  mayBeEmpty?: boolean
}

/** JSONEdit edits a document, such as a policy, and saves it. What the server objects to stays beside it. */
export function JSONEdit({ label, description, value, rows = 14, example, save, mayBeEmpty }: JSONEditProps) {
  const [text, setText] = useState<string>()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const shown = text ?? pretty(value)
  const wrong = shown.trim() === '' ? (mayBeEmpty ? undefined : 'There is nothing to save.') : jsonError(shown)
  const changed = text !== undefined && text !== pretty(value)
  async function submit() {
    setBusy(true)
    setError(undefined)
    try {
      await save(shown.trim())
      setText(undefined)
      notify({ header: `${label} saved` })
    } catch (e) {
      setError(e)
    } finally {
      setBusy(false)
    }
  }
  return (
    <SpaceBetween size="s">
      <CodeArea
        label={label}
        description={description}
        error={changed ? wrong : undefined}
        rows={rows}
        value={shown}
        change={setText}
      />
      <Problem error={error} what="It was not saved" />
      <SpaceBetween direction="horizontal" size="xs">
        <Button variant="primary" disabled={!changed || Boolean(wrong)} loading={busy} onClick={submit}>
          Save
        </Button>
        {changed && <Button onClick={() => setText(undefined)}>Discard changes</Button>}
        {shown.trim() === '' && example && <Button onClick={() => setText(example)}>Begin with an example</Button>}
      </SpaceBetween>
    </SpaceBetween>
  )
}

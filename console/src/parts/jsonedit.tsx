import Button from '@cloudscape-design/components/button'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { useState } from 'react'
import { useAction } from '../api/useaction'
import { jsonError, pretty } from '../data/json'
import { CodeArea } from './codearea'
import { ChangedMeanwhile, useMeanwhile } from './meanwhile'
import { Problem } from './problem'

interface JSONEditProps {
  label: string
  description?: string
  value: string
  rows?: number
  /** example is put in by a button while there is nothing. */
  example?: string
  save: (value: string) => Promise<unknown>
  /** load returns the value that the server has now, for comparison with what was edited. */
  load: () => Promise<string>
  /** empty says that it may be taken away. */
  mayBeEmpty?: boolean
}

/** Edit is text with the value that it was made from. */
interface Edit {
  text: string
  from: string
}

/**
 * JSONEdit edits a document, such as a policy, and saves it, unless it was changed meanwhile: then it says so first. The
 * error of the server stays beside it.
 */
export function JSONEdit({ label, description, value, rows = 14, example, save, load, mayBeEmpty }: JSONEditProps) {
  const [edit, setEdit] = useState<Edit>()
  const { busy, error, run, forget } = useAction()
  const meanwhile = useMeanwhile(load)
  const shown = edit?.text ?? pretty(value)
  const wrong = shown.trim() === '' ? (mayBeEmpty ? undefined : 'There is nothing to save.') : jsonError(shown)
  const changed = edit !== undefined && (edit.text !== pretty(value) || meanwhile.theirs !== undefined)
  const setText = (text: string) => setEdit({ text, from: edit?.from ?? value })
  function discard() {
    setEdit(undefined)
    forget()
    meanwhile.forget()
  }
  async function submit() {
    await run(async () => {
      if (!(await meanwhile.mayReplace(edit?.from ?? value))) {
        return undefined
      }
      await save(shown.trim())
      discard()
      return { header: `${label} saved` }
    })
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
      <ChangedMeanwhile theirs={meanwhile.theirs} />
      <Problem error={error} what="The change was not saved" />
      <SpaceBetween direction="horizontal" size="xs">
        <Button variant="primary" disabled={!changed || Boolean(wrong)} loading={busy} onClick={submit}>
          Save
        </Button>
        {changed && <Button onClick={discard}>Discard changes</Button>}
        {shown.trim() === '' && example && <Button onClick={() => setText(example)}>Begin with an example</Button>}
      </SpaceBetween>
    </SpaceBetween>
  )
}

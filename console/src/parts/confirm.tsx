import Alert from '@cloudscape-design/components/alert'
import FormField from '@cloudscape-design/components/form-field'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import { type ReactNode, useState } from 'react'
import { useAction } from '../api/useaction'
import { useFirstField } from '../frame/firstfield'
import { Dialog } from './dialog'

interface ConfirmProps {
  title: string
  /** yes is what the button says: Delete 3 queues. */
  yes: string
  children: ReactNode
  /** word has to be typed where much would be lost. */
  word?: string
  /** blocked says that there is nothing to do, or that it is not known yet. */
  blocked?: boolean
  /** refused is why the user may not do it: nothing is asked then. */
  refused?: string | undefined
  act: () => Promise<void>
  close: () => void
}

/** Confirm asks before something is done that cannot be undone. It stays open, with the reason, if it is refused. */
export function Confirm({ title, yes, children, word, blocked = false, refused, act, close }: ConfirmProps) {
  const { busy, error, run } = useAction()
  const [typed, setTyped] = useState('')
  const field = useFirstField<InputProps.Ref>()
  const ready = !blocked && !refused && (!word || typed.trim() === word)
  async function submit() {
    if (!ready) {
      return
    }
    await run(
      async () => {
        await act()
        return undefined
      },
      { done: close },
    )
  }
  return (
    <Dialog title={title} yes={yes} act={submit} close={close} busy={busy} ready={ready} error={error}>
      {children}
      {refused && (
        <Alert type="warning" header="Not permitted">
          <span className="break">{refused}</span>
        </Alert>
      )}
      {word && !refused && (
        <FormField label={`Type ${word} to confirm`}>
          <Input
            ref={field}
            value={typed}
            onChange={({ detail }) => setTyped(detail.value)}
            onKeyDown={({ detail }) => detail.key === 'Enter' && submit()}
            autoComplete="off"
            placeholder={word}
          />
        </FormField>
      )}
    </Dialog>
  )
}

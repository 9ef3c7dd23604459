import FormField from '@cloudscape-design/components/form-field'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import { type ReactNode, useState } from 'react'
import { useAction } from '../../api/useaction'
import { useFirstField } from '../../frame/firstfield'
import { Dialog } from '../../parts/dialog'

interface AskProps {
  title: string
  label: string
  yes: string
  children?: ReactNode
  act: (text: string) => Promise<void>
  close: () => void
  type?: 'text' | 'password'
}

/** Ask is a dialog for one word, such as the name of what is made. */
export function Ask({ title, label, yes, children, act, close, type = 'text' }: AskProps) {
  const [text, setText] = useState('')
  const { busy, error, run } = useAction()
  const field = useFirstField<InputProps.Ref>()
  async function submit() {
    if (text.trim() === '') {
      return
    }
    await run(
      async () => {
        await act(type === 'password' ? text : text.trim())
        return undefined
      },
      { done: close },
    )
  }
  return (
    <Dialog title={title} yes={yes} act={submit} close={close} busy={busy} ready={text.trim() !== ''} error={error}>
      <FormField label={label}>
        <Input
          ref={field}
          type={type}
          autoComplete={type === 'password' ? 'new-password' : 'off'}
          value={text}
          onChange={({ detail }) => setText(detail.value)}
          onKeyDown={({ detail }) => detail.key === 'Enter' && void submit()}
        />
      </FormField>
      {children}
    </Dialog>
  )
}

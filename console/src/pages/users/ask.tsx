import FormField from '@cloudscape-design/components/form-field'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import { type ReactNode, useState } from 'react'
import { useAction } from '../../api/useaction'
import { type Named, wrongIdentityName } from '../../data/names'
import { useFirstField } from '../../frame/firstfield'
import { goToFirstWrong } from '../../frame/firstwrong'
import { Dialog } from '../../parts/dialog'
import { NameField } from '../../parts/namefield'

interface AskProps {
  title: string
  label: string
  yes: string
  children?: ReactNode
  act: (text: string) => Promise<void>
  close: () => void
  type?: 'text' | 'password'
  /** names says of what the word is the name. */
  names?: Named
  /** taken are the names in use, compared without case. */
  taken?: readonly (string | undefined)[] | undefined
}

/** Ask is a dialog for one word, such as the name of what is made. */
export function Ask({ title, label, yes, children, act, close, type = 'text', names, taken }: AskProps) {
  const [text, setText] = useState('')
  const [tried, setTried] = useState(false)
  const wrong = names && wrongIdentityName(text.trim(), names)
  const other = taken?.find((name) => name?.toLowerCase() === text.trim().toLowerCase())
  const { busy, error, run } = useAction()
  const field = useFirstField<InputProps.Ref>()
  async function submit() {
    if (text.trim() === '') {
      return
    }
    if (wrong || other) {
      setTried(true)
      goToFirstWrong()
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
      {names ? (
        <NameField
          field={field}
          label={label}
          value={text}
          change={setText}
          wrong={wrong}
          taken={other && `The name is taken by ${other}.`}
          tried={tried && text.trim() !== ''}
          constraint={`Letters, digits and +=,.@_-, at most ${names.most}.`}
          enter={() => void submit()}
        />
      ) : (
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
      )}
      {children}
    </Dialog>
  )
}

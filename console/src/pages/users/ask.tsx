import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import Modal from '@cloudscape-design/components/modal'
import SpaceBetween from '@cloudscape-design/components/space-between'
import { type ReactNode, useState } from 'react'
import { useAction } from '../../api/useaction'
import { useFirstField } from '../../frame/firstfield'
import { Problem } from '../../parts/problem'

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
    <Modal
      visible
      header={title}
      onDismiss={close}
      footer={
        <div className="flow">
          <Button variant="link" onClick={close}>
            Cancel
          </Button>
          <Button variant="primary" loading={busy} disabled={text.trim() === ''} onClick={submit}>
            {yes}
          </Button>
        </div>
      }
    >
      <SpaceBetween size="m">
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
        <Problem error={error} />
      </SpaceBetween>
    </Modal>
  )
}

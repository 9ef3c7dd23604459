import FormField from '@cloudscape-design/components/form-field'
import Input, { type InputProps } from '@cloudscape-design/components/input'
import { type ReactNode, type RefObject, useState } from 'react'

interface NameFieldProps {
  label: string
  value: string
  change: (value: string) => void
  /** wrong says what is wrong with the name as it stands. */
  wrong: string | undefined
  /** taken says that there is such a thing already, as soon as it is known. */
  taken?: string | undefined
  /** tried says that the form was sent: an empty name is wrong only then. */
  tried: boolean
  /** constraint says what a name may be. The mistake takes its place, so that the buttons below stay where they are. */
  constraint?: ReactNode
  description?: ReactNode
  warning?: string | undefined
  disabled?: boolean
  autoFocus?: boolean
  field?: RefObject<InputProps.Ref | null>
  enter?: () => void
}

/** NameField asks for a name, and says what is wrong with it when it is left and while it is mended. */
export function NameField(p: NameFieldProps) {
  const [left, setLeft] = useState(false)
  const wrong = (p.tried || (left && p.value !== '') ? p.wrong : undefined) ?? p.taken
  const warning = wrong ? undefined : p.warning
  return (
    <FormField
      label={p.label}
      errorText={wrong}
      warningText={warning}
      description={p.description}
      constraintText={!wrong && !warning && p.constraint}
    >
      <Input
        {...(p.field && { ref: p.field })}
        value={p.value}
        disabled={p.disabled === true}
        autoFocus={p.autoFocus === true}
        autoComplete={false}
        spellcheck={false}
        onChange={({ detail }) => p.change(detail.value)}
        onBlur={() => setLeft(true)}
        onKeyDown={({ detail }) => detail.key === 'Enter' && p.enter?.()}
      />
    </FormField>
  )
}

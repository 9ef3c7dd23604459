import Button from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import SpaceBetween from '@cloudscape-design/components/space-between'
import Textarea, { type TextareaProps } from '@cloudscape-design/components/textarea'
import { type ReactNode, type RefObject, useRef } from 'react'
import { jsonError, pretty } from '../data/json'
import { mistake } from '../data/mistake'

interface CodeAreaProps {
  label: string
  value: string
  change: (value: string) => void
  rows: number
  description?: ReactNode
  constraint?: ReactNode
  /** error and warning stand below it. */
  error?: string | undefined
  warning?: string | undefined
  field?: RefObject<TextareaProps.Ref | null>
}

/** CodeArea edits JSON: it indents it, and goes to where it stops being JSON. */
export function CodeArea({
  label,
  value,
  change,
  rows,
  description,
  constraint,
  error,
  warning,
  field,
}: CodeAreaProps) {
  const area = useRef<HTMLDivElement>(null)
  const broken = value.trim() !== '' && jsonError(value) !== undefined

  function goThere() {
    const text = area.current?.querySelector('textarea')
    if (text) {
      const { at, line } = mistake(value)
      text.focus()
      text.setSelectionRange(at, Math.min(at + 1, value.length))
      text.scrollTop = (line - 3) * Number.parseFloat(getComputedStyle(text).lineHeight)
    }
  }

  return (
    <FormField
      label={label}
      stretch
      description={description}
      errorText={error}
      warningText={warning}
      constraintText={constraint}
    >
      <SpaceBetween size="xs">
        <div ref={area} className="code-area">
          <Textarea
            {...(field && { ref: field })}
            value={value}
            rows={rows}
            spellcheck={false}
            ariaLabel={label}
            onChange={({ detail }) => change(detail.value)}
          />
        </div>
        {broken ? (
          <Button formAction="none" variant="inline-link" onClick={goThere}>
            Go to the mistake
          </Button>
        ) : (
          <Button
            formAction="none"
            variant="inline-link"
            disabled={value.trim() === '' || value === pretty(value)}
            onClick={() => change(pretty(value))}
          >
            Format
          </Button>
        )}
      </SpaceBetween>
    </FormField>
  )
}

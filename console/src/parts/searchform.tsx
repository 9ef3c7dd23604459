import Button, { type ButtonProps } from '@cloudscape-design/components/button'
import FormField from '@cloudscape-design/components/form-field'
import Input from '@cloudscape-design/components/input'
import { type ReactNode, useEffect, useState } from 'react'

interface SearchFormProps {
  label: string
  help: ReactNode
  button: string
  variant?: ButtonProps.Variant
  /** filter is what was searched for last. */
  filter: string
  busy: boolean
  /** search is given what is wanted now, be it the same. */
  search: (filter: string) => void
}

/** SearchForm asks which messages of a queue are wanted, in the words of filters. */
export function SearchForm({ label, help, button, variant = 'normal', filter, busy, search }: SearchFormProps) {
  const [typed, setTyped] = useState(filter)
  useEffect(() => setTyped(filter), [filter])
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault()
        search(typed)
      }}
    >
      <div className="search">
        <FormField label={label} stretch constraintText={help}>
          <Input
            value={typed}
            type="search"
            spellcheck={false}
            placeholder="All messages"
            onChange={({ detail }) => setTyped(detail.value)}
          />
        </FormField>
        <Button formAction="submit" variant={variant} iconName="search" loading={busy}>
          {button}
        </Button>
      </div>
    </form>
  )
}

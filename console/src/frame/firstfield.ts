import { type RefObject, useEffect, useRef } from 'react'

/**
 * useFirstField returns the ref of the field that a dialog begins with, which gets the focus. Cloudscape's dialogs give it to the
 * button that closes them, after a field's autoFocus: what is then typed is lost, and a space or Enter closes the dialog.
 */
export function useFirstField<Field extends { focus: () => void }>(): RefObject<Field | null> {
  const field = useRef<Field>(null)
  useEffect(() => {
    const timer = setTimeout(() => field.current?.focus()) // after the dialog, and so that it knows where the focus was before
    return () => clearTimeout(timer)
  }, [])
  return field
}

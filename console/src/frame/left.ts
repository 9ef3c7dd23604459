import { useState } from 'react'

/** Left are the fields of a form that a person has left: what is wrong with them is said, and goes on to be while they are mended. */
export interface Left<Field> {
  has: (field: Field) => boolean
  leave: (field: Field) => void
}

/** useLeft knows which fields have been left. */
export function useLeft<Field>(): Left<Field> {
  const [left, setLeft] = useState<ReadonlySet<Field>>(new Set<Field>())
  return {
    has: (field) => left.has(field),
    leave: (field) => setLeft((old) => (old.has(field) ? old : new Set([...old, field]))),
  }
}

/** Sorting is by which column, and which way. */
export interface Sorting {
  id: string
  descending: boolean
}

/** sortingIn reads a sorting in an address: visible, or -visible for the largest first. */
export function sortingIn(text: string | null): Sorting | undefined {
  const descending = text?.startsWith('-') ?? false
  const id = text?.slice(Number(descending))
  return id ? { id, descending } : undefined
}

/** sortingText writes a sorting into an address. */
export const sortingText = ({ id, descending }: Sorting) => `${descending ? '-' : ''}${id}`

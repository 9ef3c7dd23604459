export interface Tag {
  key: string
  value: string
}

/** record makes what SQS takes of the rows; rows without a key are left out. */
export function record(tags: Tag[]): Record<string, string> {
  return Object.fromEntries(tags.filter((t) => t.key !== '').map((t) => [t.key, t.value]))
}

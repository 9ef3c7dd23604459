/** each calls a function for each item of a list, a few at a time, and throws the first error after all have been tried. */
export async function each<T>(list: readonly T[], act: (item: T) => Promise<unknown>, atOnce = 6): Promise<void> {
  const errors: unknown[] = []
  let next = 0
  async function work() {
    while (next < list.length) {
      const item = list[next++] as T
      try {
        await act(item)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, list.length) }, work))
  if (errors.length > 0) {
    const [first] = errors
    if (errors.length > 1 && first instanceof Error) {
      first.message = `${first.message} (and ${errors.length - 1} more of ${list.length} failed)`
    }
    throw first
  }
}

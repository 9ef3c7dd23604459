/** rank returns how well a name matches a text: 0 is best, nothing means no match. A text may omit letters: ordful. */
export function rank(name: string, text: string): number | undefined {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const lower = name.toLowerCase()
  if (words.every((word) => lower.includes(word))) {
    return lower.startsWith(words[0] ?? '') ? 0 : 1
  }
  return words.every((word) => skips(lower, word)) ? 2 : undefined
}

/** ranked returns the items that match a text, the best first. Equals keep their order. */
export function ranked<T>(items: T[], nameOf: (item: T) => string, text: string): T[] {
  if (text.trim() === '') {
    return items
  }
  return items
    .flatMap((item) => {
      const n = rank(nameOf(item), text)
      return n === undefined ? [] : [{ item, n }]
    })
    .sort((a, b) => a.n - b.n)
    .map(({ item }) => item)
}

/** rankedNames returns the names that match a text, the best first and among equals the shortest: orders, then orders-dlq. */
export function rankedNames(names: string[], text: string): string[] {
  const list = text.trim() === '' ? names : names.toSorted((a, b) => a.length - b.length)
  return ranked(list, (name) => name, text)
}

/** skips reports whether a name has the letters of a word in their order. */
function skips(name: string, word: string): boolean {
  let at = 0
  for (const letter of word) {
    at = name.indexOf(letter, at) + 1
    if (at === 0) {
      return false
    }
  }
  return true
}

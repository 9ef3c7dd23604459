/** Line is a line of a comparison: kept, taken away or added. */
export interface Line {
  kind: ' ' | '-' | '+'
  text: string
}

/** longest is how many lines are compared line by line; of longer texts, all lines count as changed. */
const longest = 1000

/** difference compares two texts line by line: the longest common part is kept. */
export function difference(before: string, after: string): Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  if (a.length > longest || b.length > longest) {
    return [...a.map((text): Line => ({ kind: '-', text })), ...b.map((text): Line => ({ kind: '+', text }))]
  }
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: ' ', text: a[i++] ?? '' })
      j++
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: '-', text: a[i++] ?? '' })
    } else {
      lines.push({ kind: '+', text: b[j++] ?? '' })
    }
  }
  return lines
}

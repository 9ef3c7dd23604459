/** token is a term of a filter: an optional minus and field, and a text that may be in quotes. */
const token = /(-?)(?:([\w.*-]+)([:<>]=?))?("(?:[^"\\]|\\.)*"|\S*)/g

/** worded are the fields whose values stand in what is shown of a message's text. */
const worded = /^(body|attr)\b/

/** wordsOf returns the texts that a filter looks for in bodies and attributes, to mark them. */
export function wordsOf(filter: string): string[] {
  const words: string[] = []
  for (const [, not, field, operator, value = ''] of filter.matchAll(token)) {
    if (not || (field && (operator !== ':' || !worded.test(field)))) {
      continue
    }
    const text = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value.replace(/^\*|\*$/g, '')
    if (text) {
      words.push(text)
    }
  }
  return words
}

/** Piece is a part of a text; marked are those that a search looked for. */
export interface Piece {
  text: string
  marked: boolean
}

/** mostMarks bounds the pieces of one text. */
const mostMarks = 500

/** piecesOf divides a text where one of the words is, in any case. */
export function piecesOf(text: string, words: string[]): Piece[] {
  if (words.length === 0) {
    return [{ text, marked: false }]
  }
  const pattern = new RegExp(words.map((w) => w.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'gi')
  const pieces: Piece[] = []
  let at = 0
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) {
      pieces.push({ text: text.slice(at, match.index), marked: false })
    }
    pieces.push({ text: match[0], marked: true })
    at = match.index + match[0].length
    if (pieces.length >= mostMarks) {
      break
    }
  }
  if (at < text.length) {
    pieces.push({ text: text.slice(at), marked: false })
  }
  return pieces
}

/** shownBefore is how much of a text a preview has before the first match. */
const shownBefore = 24

/** previewOf returns the part of a text that a line shows: from its beginning, or from shortly before the first match. */
export function previewOf(text: string, words: string[], length = 300): string {
  const [first, second] = piecesOf(text, words)
  const at = first?.marked || !second ? 0 : (first?.text.length ?? 0)
  const from = Math.max(0, at - shownBefore)
  return `${from > 0 ? '…' : ''}${text.slice(from, from + length)}`
}

/** visible shows the characters that turn the direction of a text round, which would make it read otherwise than it is. */
export function visible(text: string): string {
  return text.replace(
    /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `[U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  )
}

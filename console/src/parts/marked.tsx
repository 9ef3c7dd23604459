import { piecesOf, visible } from '../data/filterwords'

/** Marked is a text with the words marked that a search looked for. */
export function Marked({ text, words }: { text: string; words: string[] }) {
  return (
    <>
      {piecesOf(visible(text), words).map((piece, i) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name
        piece.marked ? <mark key={i}>{piece.text}</mark> : piece.text,
      )}
    </>
  )
}

import { count } from './format'

/** Found is what a search has found so far. */
interface Found {
  /** shown is how many messages are shown, chosen how many of these are chosen. */
  shown: number
  chosen: number
  /** more says that not all messages were looked at, of which there are total. */
  more: boolean
  total: number
  /** filtered says that only some of them are wanted. */
  filtered: boolean
  /** waits says that there was no answer yet. */
  waits: boolean
}

/** counterOf is the number beside the heading of messages: how many of them there are, as far as it is known. */
export function counterOf({ shown, chosen, more, total, filtered, waits }: Found): string | undefined {
  if (chosen > 0) {
    return `(${count(chosen)}/${count(shown)})`
  }
  if (more && !filtered && total > shown) {
    return `(${count(shown)} of ${count(total)})`
  }
  return waits && shown === 0 ? undefined : `(${count(shown)}${more ? '+' : ''})`
}

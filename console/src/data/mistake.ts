/** Mistake is the place where text stops being JSON, and what is expected there. */
export interface Mistake {
  at: number
  line: number
  column: number
  wanted: string
}

const blank = /[ \t\r\n]*/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none in strings
const string = /"(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

const words = {
  value: 'a value',
  first: 'a value or ]',
  name: 'a name in double quotes',
  firstName: 'a name in double quotes or }',
  colon: 'a colon',
  more: 'a comma or ]',
  moreNames: 'a comma or }',
  end: 'nothing more',
} as const

/**
 * mistake finds the first place at which text is not JSON. Browsers say it each in their own way, and some not at all. It
 * expects text that JSON.parse has refused.
 */
export function mistake(text: string): Mistake {
  const open: ('[' | '{')[] = []
  let wanted: keyof typeof words = 'value'
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    at += found?.[0].length ?? 0
    return Boolean(found?.[0])
  }
  const after = () => (open.length === 0 ? 'end' : open.at(-1) === '[' ? 'more' : 'moreNames')
  for (;;) {
    take(blank)
    const c = text[at]
    const closes =
      (c === ']' && (wanted === 'first' || wanted === 'more')) ||
      (c === '}' && (wanted === 'firstName' || wanted === 'moreNames'))
    if (closes) {
      at++
      open.pop()
      wanted = after()
    } else if (wanted === 'value' || wanted === 'first') {
      if (c === '[' || c === '{') {
        at++
        open.push(c)
        wanted = c === '[' ? 'first' : 'firstName'
      } else if (take(string) || take(plain)) {
        wanted = after()
      } else {
        break
      }
    } else if (wanted === 'name' || wanted === 'firstName') {
      if (!take(string)) {
        break
      }
      wanted = 'colon'
    } else if ((wanted === 'colon' && c === ':') || (c === ',' && (wanted === 'more' || wanted === 'moreNames'))) {
      at++
      wanted = wanted === 'moreNames' ? 'name' : 'value'
    } else {
      break
    }
  }
  const before = text.slice(0, at).split('\n')
  return { at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, wanted: words[wanted] }
}

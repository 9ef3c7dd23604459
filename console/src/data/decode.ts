import { jsonError, pretty } from './json'

/** Reading is a way to read a body, with what it says. */
export interface Reading {
  id: string
  label: string
  text: string
}

/** most is how much of a body is decoded: enough to read, and a compressed body cannot become the browser's memory. */
const most = 1 << 20

/** readings returns the ways in which a body can be read, the most telling first. */
export async function readings(body: string): Promise<Reading[]> {
  const found: Reading[] = []
  const add = (label: string, text: string) => {
    if (!found.some((r) => r.text === text)) {
      found.push({ id: label, label, text })
    }
  }
  await look(body, '', add, 0)
  add('As it is', body)
  return found
}

async function look(
  text: string,
  prefix: string,
  add: (label: string, text: string) => void,
  depth: number,
): Promise<void> {
  const label = (name: string) => (prefix ? `${prefix}, ${name}` : name)
  const trimmed = text.trim()
  if (/^[[{"]/.test(trimmed) && jsonError(trimmed) === undefined) {
    add(label('JSON'), readable(pretty(trimmed)))
    return
  }
  if (/^<[?!a-zA-Z]/.test(trimmed) && trimmed.endsWith('>')) {
    add(label('XML'), indentXML(trimmed))
    return
  }
  if (depth < 2 && trimmed.length >= 8 && trimmed.length % 4 === 0 && /^[A-Za-z0-9+/\s]+={0,2}$/.test(trimmed)) {
    const bytes = fromBase64(trimmed)
    if (!bytes) {
      return
    }
    const unzipped = bytes[0] === 0x1f && bytes[1] === 0x8b ? await gunzip(bytes) : undefined
    const name = label(unzipped ? 'gzip in base64' : 'base64')
    const inner = textOf(unzipped ?? bytes)
    if (inner !== undefined) {
      await look(inner, name, add, depth + 1)
      add(name, inner)
    } else if (unzipped) {
      add(`${name}, hex`, hex(unzipped))
    }
  }
}

/** readable resolves the escapes in JSON of characters beyond ASCII that can be shown: Zo\\u00eb is Zoë. */
export function readable(text: string): string {
  return text.replace(/(?:\\u[0-9a-fA-F]{4})+|\\./g, (escapes) => {
    if (!escapes.startsWith('\\u')) {
      return escapes
    }
    return escapes.replace(/\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)|\\u(....)/g, (all, high, low, one) => {
      const units = (high ? [high, low] : [one]).map((digits: string) => Number.parseInt(digits, 16))
      const shown = String.fromCharCode(...units)
      return /^(?![\p{C}\p{Z}])[\u0080-\u{10ffff}]$/u.test(shown) ? shown : all
    })
  })
}

/** indentXML puts each element on a line; what is in it stays as it is. */
function indentXML(text: string): string {
  let depth = 0
  return text
    .replace(/>\s+</g, '><')
    .replace(/(<[^<>]+>)(?=<)/g, '$1\n')
    .split('\n')
    .map((line) => {
      if (/^<\//.test(line)) {
        depth = Math.max(0, depth - 1)
      }
      const shown = '  '.repeat(depth) + line
      if (/^<[^/!?]/.test(line) && !/\/>$|<\//.test(line)) {
        depth++
      }
      return shown
    })
    .join('\n')
}

/** fromBase64 returns the bytes, if the text is base64. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text.replace(/\s/g, '')), (c) => c.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** toBase64 writes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const b of bytes) {
    text += String.fromCharCode(b)
  }
  return btoa(text)
}

/** hex writes bytes in lines of sixteen, as hexdump does. */
export function hex(bytes: Uint8Array, lines = 256): string {
  const out: string[] = []
  for (let i = 0; i < bytes.length && out.length < lines; i += 16) {
    const row = [...bytes.subarray(i, i + 16)]
    const left = row.map((b) => b.toString(16).padStart(2, '0')).join(' ')
    const right = row.map((b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : '.')).join('')
    out.push(`${i.toString(16).padStart(6, '0')}  ${left.padEnd(47)}  ${right}`)
  }
  if (bytes.length > lines * 16) {
    out.push(`... ${bytes.length - lines * 16} bytes more`)
  }
  return out.join('\n')
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those that text does not have
    return /[\x00-\x08\x0e-\x1f]/.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

async function gunzip(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  try {
    const reader = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream('gzip')).getReader()
    const parts: Uint8Array[] = []
    let length = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done) {
        break
      }
      parts.push(value)
      length += value.length
      if (length > most) {
        await reader.cancel()
        break
      }
    }
    const all = new Uint8Array(length)
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  } catch {
    return undefined
  }
}

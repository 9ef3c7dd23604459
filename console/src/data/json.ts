import { mistake } from './mistake'

/** object parses JSON that should be an object. */
export function object(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text ?? '')
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** jsonError returns the line and column of an error in JSON. */
export function jsonError(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    const { line, column, wanted } = mistake(text)
    return `This is not JSON: line ${line}, column ${column} should have ${wanted}.`
  }
}

/**
 * pretty indents JSON as it is written, text by text: through JavaScript's numbers, large ones would become others. Text
 * that is no JSON stays as it is.
 */
export function pretty(text: string): string {
  if (jsonError(text) !== undefined) {
    return text
  }
  let out = ''
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') {
      depth++
      out += token + line()
    } else if (token === '}' || token === ']') {
      depth--
      out = /[{[]\s*$/.test(out) ? out.trimEnd() + token : out + line() + token
    } else if (token === ',') {
      out += token + line()
    } else {
      out += token === ':' ? ': ' : token
    }
  }
  return out
}

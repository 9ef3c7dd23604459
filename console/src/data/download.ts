import type { Message } from '../api/message'

/** download saves text as a file. */
export function download(name: string, type: string, text: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** csv writes rows for spreadsheets. A value that a spreadsheet would take for a formula gets an apostrophe before it. */
export function csv(rows: (string | number | undefined)[][]): string {
  const cell = (value: string | number | undefined) => {
    const text = String(value ?? '')
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** messagesAsCSV is a table of messages, one a row. */
export function messagesAsCSV(messages: Message[]): string {
  const time = (at: number | undefined) => (at === undefined ? '' : new Date(at).toISOString())
  return csv([
    ['MessageId', 'State', 'Sent', 'ReceiveCount', 'Size', 'MessageGroupId', 'Attributes', 'Body'],
    ...messages.map((m) => [
      m.MessageId,
      m.State,
      time(m.SentTimestamp),
      m.ReceiveCount,
      m.Size,
      m.MessageGroupId,
      JSON.stringify(m.MessageAttributes ?? {}),
      m.Body,
    ]),
  ])
}

import { count } from './format'

interface Counted {
  Visible: number
  InFlight: number
  Delayed: number
  DeadLetters?: number
}

/** report is a text about a queue to send to others: its state, in a sentence and numbers, and its URL. */
export function report(queue: string, said: string[], n: Counted, link: string): string {
  const numbers = [
    `${count(n.Visible)} available`,
    `${count(n.InFlight)} in flight`,
    ...(n.Delayed > 0 ? [`${count(n.Delayed)} delayed`] : []),
    ...(n.DeadLetters ? [`${count(n.DeadLetters)} dead letters`] : []),
  ]
  return `${queue}: ${said.join(' ')}\n${numbers.join(', ')}\n${link}`
}

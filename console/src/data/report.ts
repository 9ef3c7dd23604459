import { count } from './format'

interface Counted {
  Visible: number
  InFlight: number
  Delayed: number
  DeadLetters?: number
}

/** report is what a person sends to others about a queue: how it is, in a sentence and numbers, and where to see it. */
export function report(queue: string, said: string[], n: Counted, link: string): string {
  const numbers = [
    `${count(n.Visible)} available`,
    `${count(n.InFlight)} in flight`,
    ...(n.Delayed > 0 ? [`${count(n.Delayed)} delayed`] : []),
    ...(n.DeadLetters ? [`${count(n.DeadLetters)} dead letters`] : []),
  ]
  return `${queue}: ${said.join(' ')}\n${numbers.join(', ')}\n${link}`
}

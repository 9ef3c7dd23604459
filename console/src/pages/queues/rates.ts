import { useMemo, useState } from 'react'
import type { QueuePage } from '../../api/queuepage'

interface Sample {
  at: number
  sent: number
  deleted: number
}

const kept = 31

/** Rates are how often messages came and went, between the looks at the queues. */
class Rates {
  private readonly samples = new Map<string, Sample[]>()

  add(page: QueuePage) {
    for (const q of page.Queues) {
      if (!q.State) {
        continue
      }
      const list = this.samples.get(q.QueueName) ?? []
      const last = list.at(-1)
      if (last && page.Timestamp <= last.at) {
        continue
      }
      const { Sent, Deleted } = q.State.Totals
      if (last && (Sent < last.sent || Deleted < last.deleted)) {
        list.length = 0 // the server was started anew and counts from zero
      }
      list.push({ at: page.Timestamp, sent: Sent, deleted: Deleted })
      if (list.length > kept) {
        list.shift()
      }
      this.samples.set(q.QueueName, list)
    }
  }

  /** of returns messages a second, the newest last. */
  of(queue: string, direction: 'in' | 'out'): number[] {
    const list = this.samples.get(queue) ?? []
    const rates: number[] = []
    for (let i = 1; i < list.length; i++) {
      const [a, b] = [list[i - 1] as Sample, list[i] as Sample]
      const n = direction === 'in' ? b.sent - a.sent : b.deleted - a.deleted
      rates.push((n * 1000) / (b.at - a.at))
    }
    return rates
  }
}

/** RateOf returns how often messages came to a queue or went, the newest last. */
export type RateOf = (queue: string, direction: 'in' | 'out') => number[]

/** useRates collects them from each answer. To add one twice changes nothing. */
export function useRates(answers: QueuePage[]): RateOf {
  const [rates] = useState(() => new Rates())
  return useMemo(() => {
    for (const answer of answers) {
      rates.add(answer)
    }
    return (queue, direction) => rates.of(queue, direction)
  }, [rates, answers])
}

import type { Activity } from '../api/queuestate'

/** late is how old the oldest message is at least where consumers are too slow, and veryLate where that needs no rates. */
const late = 5 * 60_000
const veryLate = 3600_000

/** left is the number of messages that left a queue. */
export const left = (a: Activity) => a.Deleted + a.DeadLettered + a.Expired + a.Moved

/** growth is how many more messages arrived than left, if that is more than chance. */
function growth(a: Activity | undefined): number {
  const grows = a ? a.Sent - left(a) : 0
  return a && grows >= Math.max(1, 0.05 * a.Sent) ? grows : 0
}

interface Consumed {
  Visible: number
  OldestMessageTimestamp?: number
  LastMinute?: Activity
}

/**
 * behind says by how many messages a queue fell behind in the last minute: 0 if the oldest message waits for very long all the same, and
 * undefined if consumers keep up.
 */
export function behind({ Visible, OldestMessageTimestamp: at, LastMinute }: Consumed, now: number): number | undefined {
  const old = at === undefined ? 0 : now - at
  const grows = old >= late ? growth(LastMinute) : 0
  return Visible > 0 && (grows > 0 || old >= veryLate) ? grows : undefined
}

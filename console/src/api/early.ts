/** longest is how long an answer is kept for whom it was asked, in milliseconds. */
const longest = 5000

/** Early keeps an answer that was requested before the part of the page exists that needs it. */
export class Early<T> {
  private kept: { key: string; answer: Promise<T>; until: number } | undefined

  /** keep keeps the answer for a key. */
  keep(key: string, answer: Promise<T>, now = Date.now()) {
    answer.catch(() => {}) // the part that takes it sees the error
    this.kept = { key, answer, until: now + longest }
  }

  /** take returns the answer for a key, once and soon. */
  take(key: string, now = Date.now()): Promise<T> | undefined {
    const kept = this.kept
    if (kept?.key !== key) {
      return undefined
    }
    this.kept = undefined
    return now <= kept.until ? kept.answer : undefined
  }
}

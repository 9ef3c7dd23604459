import { isLate, isUnanswered, isUnknownKey } from '../aws/failure'
import { consoleCall, doubtKeys } from '../aws/session'
import { notify } from './notices'

/** pause is how long it takes until the server is asked again whether it answers, in milliseconds. */
const pause = 3000

/** silence is how long an idle page hears nothing from the server before it checks whether the server answers, and how long it waits for that. */
const silence = 10_000

/** returns are called when the server answers again. */
const returns = new Set<() => void>()

let dismiss: (() => void) | undefined
let heard = Date.now()

/** failed is called for each query that has failed in the end. That the server does not answer is said above every page, once. */
export function failed(error: unknown) {
  if (isUnknownKey(error)) {
    void doubtKeys()
  } else if (isLate(error)) {
    void answers().then((there) => there || unanswered()) // it may be this one answer that takes so long
  } else if (isUnanswered(error)) {
    unanswered()
  }
}

function unanswered() {
  if (!dismiss) {
    dismiss = notify({
      type: 'error',
      header: 'The server does not answer',
      content: 'This page shows its last answer. Retrying.',
    })
    void waitForServer() // the page that is shown then may ask for nothing
  }
}

/** answered is called for each answer: the server is up. If it was down, pages repeat their missed requests at once. */
export function answered() {
  heard = Date.now()
  if (dismiss) {
    dismiss()
    dismiss = undefined
    for (const again of returns) {
      again()
    }
  }
}

/** onReturn calls again when the server answers again, and returns a function that ends that. */
export function onReturn(again: () => void): () => void {
  returns.add(again)
  return () => returns.delete(again)
}

/** waitForServer returns when the server answers, and whether that took more than one request. */
export async function waitForServer(): Promise<boolean> {
  for (let again = false; ; again = true) {
    if (await answers()) {
      return again
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** answers checks whether the server answers, even with a refusal. */
async function answers(): Promise<boolean> {
  try {
    await consoleCall('GET', 'settings', undefined, silence)
  } catch (error) {
    if (isUnanswered(error)) {
      return false
    }
  }
  answered()
  return true
}

/** watchServer asks whether the server answers when nothing else has for a while, and returns what ends that. */
export function watchServer(): () => void {
  let asking = false
  const look = async () => {
    if (asking || dismiss || document.hidden || Date.now() - heard < silence) {
      return
    }
    asking = true
    // One request may be lost.
    if (!(await answers()) && !(await answers())) {
      unanswered()
    }
    asking = false
  }
  const timer = setInterval(look, silence / 2)
  return () => clearInterval(timer)
}

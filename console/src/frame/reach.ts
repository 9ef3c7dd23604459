import { isUnanswered, isUnknownKey } from '../aws/failure'
import { consoleCall, doubtKeys } from '../aws/session'
import { notify } from './notices'

/** pause is how long it takes until the server is asked again whether it answers, in milliseconds. */
const pause = 3000

let dismiss: (() => void) | undefined

/** failed is called for each query that has failed in the end. That the server does not answer is said above every page, once. */
export function failed(error: unknown) {
  if (isUnknownKey(error)) {
    void doubtKeys()
  } else if (isUnanswered(error) && !dismiss) {
    dismiss = notify({
      type: 'error',
      header: 'The server does not answer',
      content: 'This page shows its last answer. Retrying.',
    })
    void waitForServer() // the page that is shown then may ask for nothing
  }
}

/** answered is called for each answer: the server is there again. */
export function answered() {
  dismiss?.()
  dismiss = undefined
}

/** waitForServer returns when the server answers, and whether it had to be asked more than once. */
export async function waitForServer(): Promise<boolean> {
  for (let again = false; ; again = true) {
    try {
      await consoleCall('GET', 'settings')
      answered()
      return again
    } catch (error) {
      if (!isUnanswered(error)) {
        return again
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

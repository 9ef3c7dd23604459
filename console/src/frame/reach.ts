import { isUnanswered, isUnknownKey } from '../aws/failure'
import { doubtKeys } from '../aws/session'
import { notify } from './notices'

let dismiss: (() => void) | undefined

/** failed is called for each query that has failed in the end. That the server does not answer is said above every page, once. */
export function failed(error: unknown) {
  if (isUnknownKey(error)) {
    void doubtKeys()
  } else if (isUnanswered(error)) {
    dismiss ??= notify({
      type: 'error',
      header: 'The server does not answer',
      content: 'This page shows its last answer. Retrying.',
    })
  }
}

/** answered is called for each answer: the server is there again. */
export function answered() {
  dismiss?.()
  dismiss = undefined
}

import { isUnanswered, isUnknownKey } from '../aws/failure'
import { doubtKeys } from '../aws/session'
import { notify } from './notices'

let dismiss: (() => void) | undefined

/** failed is told of each question that has failed in the end. That the server does not answer is said above every page, once. */
export function failed(error: unknown) {
  if (isUnknownKey(error)) {
    void doubtKeys()
  } else if (isUnanswered(error)) {
    dismiss ??= notify({
      type: 'error',
      header: 'The server does not answer',
      content: 'What is shown here is what it said last. The page goes on asking.',
    })
  }
}

/** answered is told of each answer: the server is there again. */
export function answered() {
  dismiss?.()
  dismiss = undefined
}

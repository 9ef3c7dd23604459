import Alert from '@cloudscape-design/components/alert'
import Button from '@cloudscape-design/components/button'
import { isDenied, wordsOf } from '../aws/failure'
import { inSentence } from '../data/format'
import { Words } from './values'

/** Problem says why something could not be shown or done, and offers a retry unless permission is missing. */
export function Problem({ error, what, retry }: { error: unknown; what?: string; retry?: () => void }) {
  if (!error) {
    return null
  }
  const { title, text } = wordsOf(error)
  return (
    <Alert
      type={isDenied(error) ? 'warning' : 'error'}
      header={what ? `${what}: ${inSentence(title)}` : title}
      action={retry && !isDenied(error) && <Button onClick={retry}>Try again</Button>}
    >
      <Words text={text} />
    </Alert>
  )
}

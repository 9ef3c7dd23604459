import Alert from '@cloudscape-design/components/alert'
import { useState } from 'react'
import { pretty } from '../data/json'

/** Meanwhile keeps a save from replacing what another person or program has saved since the document was loaded. */
export interface Meanwhile {
  /** theirs is the document that the next save replaces although it was not loaded, once the page has shown it. */
  theirs: string | undefined
  /** mayReplace reports whether the document is still as it was loaded, or as the page has shown it. */
  mayReplace: (loaded: string) => Promise<boolean>
  forget: () => void
}

/** useMeanwhile compares with what load returns. */
export function useMeanwhile(load: () => Promise<string>): Meanwhile {
  const [theirs, setTheirs] = useState<string>()
  return {
    theirs,
    mayReplace: async (loaded) => {
      const now = pretty(await load())
      if (now === pretty(loaded) || now === theirs) {
        return true
      }
      setTheirs(now)
      return false
    },
    forget: () => setTheirs(undefined),
  }
}

/** ChangedMeanwhile shows what the next save replaces. */
export function ChangedMeanwhile({ theirs }: { theirs: string | undefined }) {
  if (theirs === undefined) {
    return null
  }
  return (
    <Alert type="warning" header="It changed in the meantime. Your text was not saved">
      Saving again replaces this version, which was saved after you began:
      <pre className="code">{theirs || 'It was removed.'}</pre>
    </Alert>
  )
}

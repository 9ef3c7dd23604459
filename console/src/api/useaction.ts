import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { perhapsDone } from '../aws/failure'
import { type Notice, notify, notifyError } from '../frame/notices'

/** After is what follows when something has been done. */
interface After {
  /** stale are the keys of the answers that are not true any more. */
  stale?: readonly QueryKey[]
  /** done is called last: to close a dialog, or to go to another page. */
  done?: () => void
}

/** Action is something that a person has the server do: whether it is being done, and why it failed last. */
export interface Action {
  busy: boolean
  error: unknown
  /** run does it, unless it is being done. It shows the result of act as a notice. A failure is kept as the error, and nothing follows. */
  run: (act: () => Promise<Notice | undefined>, after?: After) => Promise<void>
  /** forget clears the error. */
  forget: () => void
}

/**
 * useAction returns an action of a form or a dialog, which shows its error. Elsewhere a notice says what failed, which begins with the
 * words of failed.
 */
export function useAction(failed?: string): Action {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  async function run(act: () => Promise<Notice | undefined>, { stale = [], done }: After = {}) {
    if (busy) {
      return
    }
    setBusy(true)
    setError(undefined)
    try {
      const notice = await act()
      await Promise.all(stale.map((queryKey) => client.invalidateQueries({ queryKey })))
      if (notice) {
        notify(notice)
      }
      done?.()
    } catch (error) {
      const e = perhapsDone(error)
      if (failed === undefined) {
        setError(e)
      } else {
        notifyError(e, failed)
      }
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, run, forget: () => setError(undefined) }
}

import { useCallback, useEffect, useRef, useState } from 'react'
import type { Message } from '../../../api/message'
import { peek, type State } from '../../../api/peek'
import { serverTime } from '../../../aws/call'

const pageSize = 50

/** kept is how many messages are shown while following. */
const kept = 500

interface Found {
  messages: Message[]
  cursor: string | undefined
  scanned: number
  total: number
  withoutBodies: boolean
}

/** Look is what was found so far, and how to find more. */
export interface Look extends Pick<Found, 'messages' | 'scanned' | 'total'> {
  more: boolean
  busy: boolean
  further: () => void
  again: () => void
}

const nothing: Found = { messages: [], cursor: undefined, scanned: 0, total: 0, withoutBodies: false }

/** useLook looks into a queue, page by page, or follows what is sent to it. */
export function useLook(
  queue: string,
  filter: string,
  state: State | '',
  follow: boolean,
): Look & { error: unknown; withoutBodies: boolean } {
  const [look, setLook] = useState(nothing)
  const [busy, setBusy] = useState(!follow)
  const [error, setError] = useState<unknown>()
  const stop = useRef<AbortController>(null)

  const further = useCallback(
    async (from: Found) => {
      stop.current?.abort()
      const controller = new AbortController()
      stop.current = controller
      setBusy(true)
      setError(undefined)
      const wanted = { QueueUrl: queue, ...(filter && { Filter: filter }), ...(state && { States: [state] }) }
      try {
        let now = from
        const enough = from.messages.length + pageSize
        do {
          const out = await peek(
            { ...wanted, Max: enough - now.messages.length, ...(now.cursor && { Cursor: now.cursor }) },
            controller.signal,
          )
          now = {
            messages: [...now.messages, ...out.Messages],
            cursor: out.Cursor,
            scanned: now.scanned + out.Scanned,
            total: out.Total,
            withoutBodies: out.withoutBodies,
          }
          setLook(now)
        } while (now.cursor && now.messages.length < enough)
      } catch (e) {
        if (!controller.signal.aborted) {
          setError(e)
        }
      } finally {
        if (stop.current === controller) {
          setBusy(false)
        }
      }
    },
    [queue, filter, state],
  )

  // A later scan is for what is wanted then.
  const latest = useRef({ further, look })
  latest.current = { further, look }

  useEffect(() => {
    if (!follow) {
      void further(nothing) // what was found before is shown until there is an answer
      return () => stop.current?.abort()
    }
    stop.current?.abort()
    setLook(nothing)
    setBusy(false)
    setError(undefined)
    const controller = new AbortController()
    followMessages(queue, filter, state, controller.signal, (found, withoutBodies) =>
      setLook((old) => {
        const known = new Set(old.messages.map((m) => m.MessageId))
        const fresh = found.filter((m) => !known.has(m.MessageId)).reverse()
        return { ...nothing, withoutBodies, messages: [...fresh, ...old.messages].slice(0, kept) }
      }),
    ).catch((e: unknown) => !controller.signal.aborted && setError(e))
    return () => controller.abort()
  }, [further, follow, queue, filter, state])

  return {
    messages: look.messages,
    scanned: look.scanned,
    total: look.total,
    withoutBodies: look.withoutBodies,
    busy,
    error,
    more: look.cursor !== undefined,
    further: useCallback(() => void latest.current.further(latest.current.look), []),
    again: useCallback(() => void latest.current.further(nothing), []),
  }
}

/** followMessages looks each second for messages that were sent since it began, by the server's clock. */
async function followMessages(
  queue: string,
  filter: string,
  state: State | '',
  signal: AbortSignal,
  take: (found: Message[], withoutBodies: boolean) => void,
) {
  await peek({ QueueUrl: queue, Max: 1 }, signal) // after which the server's time is known
  const since = serverTime().toISOString().slice(0, 19)
  let cursor: string | undefined
  while (!signal.aborted) {
    if (document.hidden) {
      await rest(signal)
      continue
    }
    const out = await peek(
      {
        QueueUrl: queue,
        Filter: `${filter} sent>=${since}`.trim(),
        Max: 200,
        ...(state && { States: [state] }),
        ...(cursor && { Cursor: cursor }),
      },
      signal,
    )
    take(out.Messages, out.withoutBodies)
    cursor = out.Cursor
    if (!cursor) {
      await rest(signal)
    }
  }
}

function rest(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 1000)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

import { Failure } from './failure'

/** patience is how long an answer may take, in milliseconds. The server answers each request in far less, but for long polls. */
export const patience = 30_000

/** within asks, and gives up when the answer takes longer than time, or when stop says so. A server that hangs keeps no page waiting. */
export async function within<T>(
  time: number,
  ask: (signal: AbortSignal) => Promise<T>,
  stop?: AbortSignal,
): Promise<T> {
  const asked = new AbortController()
  const stopped = () => asked.abort(stop?.reason)
  let late = false
  const timer = setTimeout(() => {
    late = true
    asked.abort()
  }, time)
  stop?.aborted ? stopped() : stop?.addEventListener('abort', stopped)
  try {
    return await ask(asked.signal)
  } catch (error) {
    throw late ? new Failure('NoAnswerInTime', `No answer came within ${Math.round(time / 1000)} seconds.`, 0) : error
  } finally {
    clearTimeout(timer)
    stop?.removeEventListener('abort', stopped)
  }
}

/** textOf waits for a whole answer, whose text can be late as well. */
export async function textOf(asked: Promise<Response>) {
  const answer = await asked
  return { ok: answer.ok, status: answer.status, date: answer.headers.get('date'), text: await answer.text() }
}

/** Sender is one of the SDK's clients, as far as it matters here. */
interface Sender {
  send(command: object, options?: { abortSignal?: AbortSignal }): Promise<unknown>
}

/** patient has a client of the SDK give up as within does. A long poll may take longer by as much as it waits. */
export function patient<C extends object>(client: C): C {
  const sender = client as Sender
  const send = sender.send.bind(sender)
  sender.send = (command, options) =>
    within(
      patience + waitOf(command),
      (abortSignal) => send(command, { ...options, abortSignal }),
      options?.abortSignal,
    )
  return client
}

/** waitOf returns how long a command has the server wait, in milliseconds. */
function waitOf(command: { input?: { WaitTimeSeconds?: number } }): number {
  return (command.input?.WaitTimeSeconds ?? 0) * 1000
}

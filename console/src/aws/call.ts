import { Sha256 } from '@aws-crypto/sha256-browser'
import { HttpRequest } from '@smithy/protocol-http'
import { SignatureV4 } from '@smithy/signature-v4'
import { Failure } from './failure'
import { patience, textOf, within } from './patience'
import { endpoint } from './place'
import { credentials, settingsNow } from './session'

/** ahead is how far this machine's clock is ahead of the server's, in milliseconds, or slightly more. */
let ahead = 0

/** serverTime returns the server's time, by its last answer: late by a second or two, but never early. */
export const serverTime = () => new Date(Date.now() - ahead)

/** Service is a service that is called without the SDK: its name in signatures, and the prefix of its targets. */
interface Service {
  name: string
  target: string
}

/**
 * call calls an operation of a service that speaks JSON. It takes less code than the SDK's client of the service, so the first view
 * calls nothing in another way. Times are numbers of seconds.
 */
export async function call<T>(to: Service, operation: string, input: object, signal?: AbortSignal): Promise<T> {
  const body = JSON.stringify(input)
  const url = new URL(`${endpoint}/`)
  const signer = new SignatureV4({
    service: to.name,
    region: settingsNow()?.region ?? 'us-east-1',
    credentials,
    sha256: Sha256,
  })
  const signed = await signer.sign(
    new HttpRequest({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      headers: {
        host: url.host,
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `${to.target}.${operation}`,
      },
      body,
    }),
  )
  const { host: _, ...headers } = signed.headers
  const post = (asked: AbortSignal) =>
    textOf(fetch(url, { method: 'POST', headers, body, credentials: 'omit', signal: asked }))
  const { ok, status, text, date } = await within(patience, post, signal)
  const stamped = Date.parse(date ?? '')
  if (!Number.isNaN(stamped)) {
    ahead = Date.now() - stamped
  }
  if (ok) {
    return JSON.parse(text) as T
  }
  throw refusal(text, status)
}

function refusal(text: string, status: number): Failure {
  try {
    const parsed = JSON.parse(text) as { __type?: string; message?: string; Message?: string }
    const code = (parsed.__type ?? 'Error').replace(/^.*#/, '')
    return new Failure(code, parsed.message ?? parsed.Message ?? code, status)
  } catch {
    return new Failure('NoAnswer', `The server answered ${status}.`, status)
  }
}

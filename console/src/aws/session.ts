import { Failure } from './failure'
import { patience, textOf, within } from './patience'
import { consoleApi } from './place'
import { refusedByProvider } from './refusal'

/** Settings are what the server tells every visitor, before they sign in. */
export interface Settings {
  version: string
  region: string
  partition?: string
  account?: string
  signIn: ('link' | 'keys' | 'password' | 'oidc')[]
  oidc?: { name: string }
  idleMinutes?: number
  noUndo?: boolean
}

/** Session is the identity of the signed-in user. */
export interface Session {
  arn: string
  account: string
  user?: string
  method?: string
  expires?: string | number
}

/** Proof is the evidence with which a person signs in. */
export type Proof =
  | { link: string }
  | { password: { account: string; user: string; password: string; code?: string } }
  | { signed: { url: string; headers: Record<string, string>; body: string } }

export type SignIn =
  | { status: 'starting' }
  | { status: 'out'; reason?: string; settings?: Settings; error?: unknown }
  | { status: 'in'; session: Session; settings: Settings }

interface Keys {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration: Date
}

let current: SignIn = { status: 'starting' }
const listeners = new Set<() => void>()

function become(next: SignIn) {
  current = next
  keys = undefined
  for (const listener of listeners) {
    listener()
  }
  if (next.status === 'in') {
    credentials().catch(() => {}) // they come while the page is drawn, which asks again if they did not
  }
}

/** signIn is the state of the sign-in, for useSyncExternalStore. */
export const signIn = {
  get: () => current,
  subscribe(listener: () => void) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

/** request calls one of the console's own endpoints, which know the session's cookie. */
async function request<T>(method: string, path: string, body?: object, time = patience): Promise<T> {
  const ask = (signal: AbortSignal) =>
    textOf(
      fetch(`${consoleApi}/${path}`, {
        method,
        signal,
        credentials: 'same-origin',
        headers: { 'X-Sluice-Console': '1', ...(body && { 'Content-Type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const { ok, status, text } = await within(time, ask)
  let parsed: Record<string, unknown> = {}
  try {
    parsed = text ? JSON.parse(text) : {}
  } catch {
    parsed = { code: 'NoAnswer' } // of something between here and the server: its status says enough
  }
  if (!ok) {
    const message = parsed.message ?? parsed.Message ?? parsed.error ?? `The server answered ${status}.`
    throw new Failure(String(parsed.code ?? parsed.__type ?? 'SignInFailed'), String(message), status)
  }
  return parsed as T
}

/** call is request for the pages about sessions. */
export const consoleCall = request

/** start finds the session, by a sign-in link or by the cookie of before. */
export async function start() {
  let settings: Settings | undefined
  const asked = request<Settings>('GET', 'settings').then((s) => {
    settings = s
    return s
  })
  asked.catch(() => {}) // it is waited for below
  try {
    await reallyLeave()
    const link = /^#k=([\w.~-]+)/.exec(location.hash)?.[1]
    const refused = /^#oidc=(\w+)/.exec(location.hash)?.[1]
    if (link || refused) {
      history.replaceState(null, '', `${location.pathname}#/`)
    }
    if (link) {
      try {
        await signedIn(request<Session>('POST', 'session', { link }), asked)
      } catch (error) {
        if (!(await resume(asked))) {
          become({ status: 'out', settings: await asked, error })
        }
      }
    } else if (!(await resume(asked))) {
      const known = await asked
      const error = refused && refusedByProvider(refused, known.oidc?.name)
      become({ status: 'out', settings: known, ...(error && { error }) })
    }
  } catch (error) {
    become({ status: 'out', error, ...(settings && { settings }) })
  }
}

/** startAgain finds the session as a page does that is loaded: nothing stays of an earlier attempt. */
export function startAgain() {
  become({ status: 'starting' })
  void start()
}

/** watchLinks signs in by a link that is opened in a tab which shows the sign-in: only the fragment of its address changes. */
export function watchLinks() {
  window.addEventListener('hashchange', () => {
    if (current.status === 'out' && location.hash.startsWith('#k=')) {
      startAgain()
    }
  })
}

/** signedIn waits for what is asked at the same time. */
async function signedIn(session: Promise<Session>, settings: Promise<Settings>) {
  const [mine, known] = await Promise.all([session, settings])
  become({ status: 'in', session: mine, settings: known })
}

async function resume(settings: Promise<Settings>): Promise<boolean> {
  try {
    await signedIn(request<Session>('GET', 'session'), settings)
    return true
  } catch (error) {
    if (error instanceof Failure && (error.status === 401 || error.status === 403)) {
      return false
    }
    throw error
  }
}

/** enter signs in. */
export async function enter(proof: Proof) {
  const settings = settingsNow() ?? (await request<Settings>('GET', 'settings'))
  await leaving
  keep(left, null) // another session takes the cookie's place
  become({ status: 'in', session: await request<Session>('POST', 'session', proof), settings })
}

/** leave signs out. Whether or not the server hears of it, nothing is shown any more. */
export async function leave(reason = 'You have signed out.') {
  ended(reason)
  leaving = request('DELETE', 'session').catch(() => {
    keep(left, '1') // the server is not there: the session is ended as soon as it is again
  })
  await leaving
}

/** leaving is over when the cookie is gone that a new session replaces. */
let leaving: Promise<unknown> = Promise.resolve()

/** left records that the user has signed out, and the server does not know. */
const left = 'sluice-left'

function keep(key: string, value: string | null) {
  try {
    value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value)
  } catch {
    // A browser that keeps nothing.
  }
}

async function reallyLeave() {
  try {
    if (!localStorage.getItem(left)) {
      return
    }
  } catch {
    return
  }
  await request('DELETE', 'session')
  keep(left, null)
}

function ended(reason: string) {
  const settings = settingsNow()
  become({ status: 'out', reason, ...(settings && { settings }) })
}

/** settingsNow returns the server's settings once they are known. */
export function settingsNow(): Settings | undefined {
  return current.status === 'starting' ? undefined : current.settings
}

/** sessionNow returns the session; pages are only shown during one. */
export function sessionNow(): Session {
  if (current.status !== 'in') {
    throw new Error('There is no session.')
  }
  return current.session
}

let keys: Promise<Keys> | undefined

/** renewBefore is how long before their end credentials are renewed. */
const renewBefore = 3 * 60_000

/** credentials returns keys of the session for the AWS SDK. They live for 15 minutes and are renewed in time. */
export async function credentials(): Promise<Keys> {
  const known = keys
  if (known) {
    const k = await known
    if (k.expiration.getTime() - Date.now() > renewBefore) {
      return k
    }
  }
  if (keys === known) {
    keys = fetchKeys()
    keys.catch(() => {
      keys = undefined
    })
  }
  return keys as Promise<Keys>
}

let doubted = false

/** doubtKeys is called when the server does not know the keys: it requests new ones, and if the session has ended, the page says so. */
export async function doubtKeys() {
  if (doubted || current.status !== 'in') {
    return
  }
  doubted = true
  keys = undefined
  try {
    await credentials()
  } catch {
    // They are asked for again with the next request.
  } finally {
    doubted = false
  }
}

async function fetchKeys(): Promise<Keys> {
  interface Answer {
    AccessKeyId: string
    SecretAccessKey: string
    SessionToken?: string
    Expiration: string | number
  }
  const asked = current
  try {
    const a = await request<Answer>('POST', 'credentials', {})
    return {
      accessKeyId: a.AccessKeyId,
      secretAccessKey: a.SecretAccessKey,
      ...(a.SessionToken && { sessionToken: a.SessionToken }),
      expiration: new Date(typeof a.Expiration === 'number' ? a.Expiration * 1000 : a.Expiration),
    }
  } catch (error) {
    // A session that has ended meanwhile, or made way for another, has nothing left to end.
    if (error instanceof Failure && error.status === 401 && current === asked) {
      ended('Your session has ended. Sign in again to continue where you left off.')
    }
    throw error
  }
}

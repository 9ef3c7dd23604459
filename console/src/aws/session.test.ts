import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentials, enter, leave, settingsNow, signIn } from './session'

/** serve replaces the server. The function that it returns waits for a request and answers it. */
function serve() {
  const waiting: { what: string; answer: (status: number, body: object) => void }[] = []
  globalThis.fetch = ((url: string, { method }: RequestInit) =>
    new Promise<Response>((resolve) => {
      waiting.push({
        what: `${method} ${url.slice(url.lastIndexOf('/') + 1)}`,
        answer: (status, body) => resolve(new Response(JSON.stringify(body), { status })),
      })
    })) as typeof fetch
  return async (what: string, status = 200, body: object = {}) => {
    for (;;) {
      const index = waiting.findIndex((w) => w.what === what)
      if (index >= 0) {
        waiting.splice(index, 1)[0]?.answer(status, body)
        await new Promise((resolve) => setTimeout(resolve))
        return
      }
      await new Promise((resolve) => setTimeout(resolve))
    }
  }
}

async function signedIn(answered: ReturnType<typeof serve>) {
  const entered = enter({ link: 'x' })
  if (!settingsNow()) {
    await answered('GET settings', 200, { signIn: [] })
  }
  await answered('POST session', 200, { arn: 'arn:aws:iam::000000000000:root', account: '000000000000' })
  await entered
}

test('a refusal of keys that arrives after the end of the session changes nothing', async () => {
  const answered = serve()
  await signedIn(answered)
  const refused = assert.rejects(credentials())
  const left = leave('You were idle.')
  await answered('DELETE session')
  await left
  await answered('POST credentials', 401, { code: 'NoSession' })
  await refused
  const state = signIn.get()
  assert.deepEqual([state.status, state.status === 'out' && state.reason], ['out', 'You were idle.'])
})

test('a refusal of keys for an earlier session does not end the next one', async () => {
  const answered = serve()
  await signedIn(answered)
  const refused = assert.rejects(credentials())
  const left = leave()
  await answered('DELETE session')
  await left
  await signedIn(answered)
  await answered('POST credentials', 401, { code: 'NoSession' })
  await refused
  assert.equal(signIn.get().status, 'in')
})

test('a refusal of keys ends the session that they were for', async () => {
  const answered = serve()
  await signedIn(answered)
  const refused = assert.rejects(credentials())
  await answered('POST credentials', 401, { code: 'NoSession' })
  await refused
  assert.equal(signIn.get().status, 'out')
})

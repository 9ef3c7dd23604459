import assert from 'node:assert/strict'
import { scenario } from '../rig.mjs'

const password = 'a password of the person'

/** elsewhere is what the browser says of the provider's own page, which has no icon. */
const elsewhere = /favicon\.ico|autocomplete/

async function signIn(page, endpoint, user) {
  await page.goto(`${endpoint}/console/`)
  await page.getByRole('link', { name: 'Sign in with Our provider' }).click()
  await page.getByLabel('Username:').fill(user)
  await page.getByLabel('Password:').fill(password)
  await page.getByRole('button', { name: 'Login' }).click()
}

scenario(
  'sign in by an identity provider, see the session, sign out',
  async ({ page, context, endpoint, open, audit, picture }) => {
    await page.goto(`${endpoint}/console/`)
    await page.getByRole('link', { name: 'Sign in with Our provider' }).waitFor()
    await audit()
    await picture('signin-provider')
    await signIn(page, endpoint, 'ann')
    await page.getByRole('heading', { level: 1, name: /What needs attention/ }).waitFor()
    await page.getByRole('button', { name: 'admin/ann@example.com' }).waitFor()
    const cookies = await context.cookies(endpoint)
    assert.deepEqual(
      cookies.map((c) => [c.name.replace(/-\d+$/, ''), c.httpOnly, c.sameSite]),
      [['sluice', true, 'Strict']],
    )
    await open('/sessions')
    await page.getByRole('cell', { name: 'Identity provider' }).waitFor()
    await page.reload()
    await page.getByRole('cell', { name: 'Identity provider' }).waitFor()
    await page.getByRole('button', { name: 'admin/ann@example.com' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('You have signed out').waitFor()
  },
  { as: null, expected: new RegExp(`${elsewhere.source}|401 \\(`) },
)

scenario(
  'who has no role, or no name, is told so, and stays out',
  async ({ page, endpoint, audit }) => {
    await signIn(page, endpoint, 'bob')
    await page.getByText('You have no role here').waitFor()
    await page.getByText('Our provider knows you').waitFor()
    assert.equal(new URL(page.url()).hash, '#/')
    await audit()
    await signIn(page, endpoint, 'eve')
    await page.getByText('Your name is missing').waitFor()
    await page.goto(`${endpoint}/console/api/oidc/callback?state=x&code=y`)
    await page.getByText('The sign-in has expired').waitFor()
    await page.goto(`${endpoint}/console/?x#oidc=constructor`)
    await page.getByText('You were not signed in').waitFor()
  },
  { as: null, expected: new RegExp(`${elsewhere.source}|401 \\(`) },
)

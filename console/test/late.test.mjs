// The server takes requests, and answers none of them.
import assert from 'node:assert/strict'
import { endpoint, newAccount } from './api.mjs'
import { scenario } from './rig.mjs'

/** hold keeps requests of the API from their answers. wait returns when there is one, go lets them go on. */
async function hold(page, address = `${endpoint}/`) {
  const held = []
  const api = (url) => (address.endsWith('api/') ? url.href.startsWith(address) : url.href === address)
  const keep = (route) => void held.push(route)
  await page.route(api, keep)
  return {
    async wait() {
      while (held.length === 0) {
        await new Promise((again) => setTimeout(again, 20))
      }
    },
    async go() {
      await page.unroute(api, keep)
      await Promise.allSettled(held.map((route) => route.continue()))
    },
  }
}

const late = 31_000

scenario(
  'a page whose data do not come says so, and asks again',
  async ({ page, open, button }) => {
    await page.clock.install()
    for (const [address, shown] of [
      ['/users', 'There are no users yet'],
      ['/topics', 'There are no topics yet'],
      ['/queues', 'There are no queues yet'],
    ]) {
      const server = await hold(page)
      await open(address)
      await server.wait()
      await page.clock.fastForward(late)
      await page.getByText('No answer came within 30 seconds.').first().waitFor()
      await server.go()
      await button('Try again').first().click()
      await page.getByText(shown).first().waitFor()
    }
  },
  { as: newAccount, expected: /40[03]/ },
)

scenario(
  'a form whose change gets no answer says that it may have been made, and keeps what was typed',
  async ({ page, open, button }) => {
    await page.clock.install()
    await open('/create-topic')
    await page.getByLabel('Name', { exact: true }).fill('perhaps')
    const server = await hold(page)
    await button('Create topic').click()
    await server.wait()
    await page.clock.fastForward(late)
    await page.getByText('The change may have been made: check before you repeat it.').waitFor()
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'perhaps')
    await server.go()
    await button('Create topic').click()
    await page.getByRole('heading', { name: 'perhaps', level: 1 }).waitFor()
  },
  { as: newAccount },
)

scenario(
  'the sign-in asks again, and forgets the error when there is an answer',
  async ({ page, button, audit }) => {
    await page.clock.install()
    const server = await hold(page, `${endpoint}/console/api/`)
    await page.goto(`${endpoint}/console/`)
    await server.wait()
    await page.clock.fastForward(late)
    await page.getByText('No answer came within 30 seconds.').waitFor()
    await audit()
    await server.go()
    await button('Try again').click()
    await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    assert.equal(await page.getByText('No answer came within 30 seconds.').count(), 0)
  },
  { as: null, expected: /401/ },
)

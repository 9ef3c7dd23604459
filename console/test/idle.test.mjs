import assert from 'node:assert/strict'
import { scenario } from './rig.mjs'

scenario(
  'who is away for an hour is warned, can stay, and is signed out in the end, in all tabs',
  async ({ page, context, endpoint, button, picture }) => {
    await page.clock.install()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: /What needs attention/ }).waitFor()
    // From here on no time passes but that of the test, however slow the machine is.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000)
    await page.clock.fastForward('57:00')
    await page.clock.runFor(2000)
    assert.equal(await button('Stay signed in').count(), 0)
    await page.clock.fastForward('01:30')
    await page.clock.runFor(2000)
    await button('Stay signed in').waitFor()
    await picture('idle')
    await button('Stay signed in').click()
    await page.clock.fastForward('58:00')
    await page.clock.runFor(2000)
    await page.getByRole('heading', { level: 1, name: /What needs attention/ }).waitFor()
    assert.equal(await button('Stay signed in').count(), 0)

    const ended = page.waitForResponse((r) => r.request().method() === 'DELETE')
    await page.clock.fastForward('10:00')
    await page.clock.runFor(2000)
    await page.getByText('The console was idle for 60 minutes').waitFor()
    assert.equal(await page.getByRole('heading', { name: /What needs attention/ }).count(), 0)
    await ended
    const other = await context.newPage()
    await other.goto(`${endpoint}/console/`)
    await other.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
  },
  // The page of this test is an hour ahead of the server, which refuses what it has signed.
  // Axe waits by the page's clock, which stands still.
  { expected: /40[13] \(/, audit: false },
)

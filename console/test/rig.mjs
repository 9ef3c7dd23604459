// What every test in a browser has: a page of somebody who has signed in, and the demands that hold for all of them. No
// request leaves the server, nothing violates its Content Security Policy, the page reports no error, no text of messages
// becomes a program, and axe finds nothing wrong.
import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'
import { endpoint, root, signInLink } from './api.mjs'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const origin = new URL(endpoint).origin

let browser

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.SLUICE_TEST_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
})
after(() => browser?.close())

/**
 * scenario is a test in a page. Options: as, whose keys sign in, or null for nobody; viewport, dark; expected, a pattern of
 * the addresses and messages of errors that belong to the test.
 */
export function scenario(name, run, options = {}) {
  test(name, { timeout: 120_000 }, async () => {
    const { as = root, viewport = { width: 1280, height: 860 }, dark = false, expected } = options
    const context = await browser.newContext({
      viewport,
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(15_000)
    const page = await context.newPage()
    const wrong = []
    const note = (text) => expected?.test(text) || wrong.push(text)
    page.on('request', (r) => {
      if (!r.url().startsWith(`${origin}/`) && !r.url().startsWith('data:') && !r.url().startsWith('blob:')) {
        wrong.push(`a request has left the server: ${r.url()}`)
      }
    })
    page.on('console', (m) => ['error', 'warning'].includes(m.type()) && note(`${m.text()} ${m.location().url}`))
    page.on('pageerror', (e) => note(`the page has failed: ${e.message}`))
    page.on('dialog', (d) => {
      wrong.push(`text has become a program: ${d.message()}`)
      void d.dismiss()
    })
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (e) =>
        console.error(`CSP: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`),
      )
    })
    const keys = typeof as === 'function' ? await as() : as
    const tools = {
      page,
      context,
      endpoint,
      open: (address) => open(page, address),
      audit: () => audit(page),
      picture: (file) => picture(page, file),
      button: (label) => page.getByRole('button', { name: label, exact: true }),
    }
    try {
      if (keys) {
        await page.goto(await signInLink(keys))
        await page.getByRole('heading', { level: 1 }).first().waitFor()
      }
      await run(tools)
      if (options.audit !== false) {
        await audit(page)
      }
    } catch (error) {
      await picture(page, `failed-${name.replace(/\W+/g, '-')}`)
      if (wrong.length > 0) {
        error.message += `\nthe page also says:\n${wrong.join('\n')}`
      }
      throw error
    } finally {
      await context.close()
    }
    assert.deepEqual(wrong, [])
  })
}

/** open shows an address of the console, and waits until the page has something to say. */
async function open(page, address) {
  await page.goto(`${endpoint}/console/#${address}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
}

/** audit has axe look at the page as it is. */
async function audit(page) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() =>
    // The bar that Cloudscape has on phones gives its nav an attribute that a nav has not; it is not ours to mend.
    globalThis.axe.run(
      { exclude: ['nav[aria-orientation]'] },
      {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
        resultTypes: ['violations'],
      },
    ),
  )
  const told = violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 300)).join('\n  ')}`)
  assert.deepEqual(told, [])
}

/** picture keeps a picture of the page, if pictures are asked for. */
async function picture(page, file) {
  const folder = process.env.SLUICE_CONSOLE_PICTURES
  if (folder) {
    await mkdir(folder, { recursive: true })
    await page.screenshot({ path: `${folder}/${file}.png`, animations: 'disabled' })
  }
}

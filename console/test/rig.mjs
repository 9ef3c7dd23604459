// What every test in a browser has: a page of somebody who has signed in, and the demands that hold for all of them. No
// request leaves the server, nothing violates its Content Security Policy, the page reports no error, no text of messages
// becomes a program, and axe finds nothing wrong.
//
// A test waits for what the page shows, never for a time: on a busy machine everything takes many times as long.
import assert from 'node:assert/strict'
import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'
import { endpoint, root, signInLink } from './api.mjs'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const origin = new URL(endpoint).origin
/** The places that pages may be at: the server's, and where there is one the identity provider's. */
const places = [origin, process.env.SLUICE_CONSOLE_PROVIDER].filter(Boolean)

/** patience is how long one step may take, longest how long a whole test may: only what never comes takes so long. */
const patience = 120_000
const longest = 900_000

let browser

before(async () => {
  browser = await chromium.launch({
    executablePath: process.env.SLUICE_TEST_CHROMIUM ?? '/usr/bin/chromium',
    // Containers have little shared memory, or no processor for graphics.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    timeout: patience,
  })
})
after(() => browser?.close())

/** freshContext is a browser that has not seen anything yet. */
export const freshContext = () => browser.newContext({ viewport: { width: 1280, height: 860 } })

/**
 * scenario is a test in a page. Options: as, whose keys sign in, or null for none; viewport, dark; expected, a pattern of
 * the addresses and messages of errors that belong to the test.
 */
export function scenario(name, run, options = {}) {
  test(name, { timeout: longest }, async () => {
    const { as = root, viewport = { width: 1280, height: 860 }, dark = false, expected } = options
    const context = await browser.newContext({
      viewport,
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
    })
    context.setDefaultTimeout(patience)
    const page = await context.newPage()
    const wrong = []
    const note = (text) => expected?.test(text) || wrong.push(text)
    page.on('request', (r) => {
      if (
        !places.some((place) => r.url().startsWith(`${place}/`)) &&
        !r.url().startsWith('data:') &&
        !r.url().startsWith('blob:')
      ) {
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
      error.message += `\nthe page is ${page.url()} and shows:\n${await shown(page)}`
      if (wrong.length > 0) {
        error.message += `\nit also says:\n${wrong.join('\n')}`
      }
      throw error
    } finally {
      await context.close()
    }
    assert.deepEqual(wrong, [])
  })
}

/**
 * open shows an address of the console, and waits until the page has something to say. It loads everything anew: a page that
 * only gets another fragment goes on to show what it did for a moment, and a test might click there.
 */
async function open(page, address) {
  await page.goto('about:blank')
  await page.goto(`${endpoint}/console/#${address}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
}

/** choose ticks the box of a row. */
export async function choose(row) {
  await row.getByRole('checkbox').click()
  await row.getByRole('checkbox', { checked: true }).waitFor()
}

/** shown is the text of a page, for what is said of a test that has failed. */
async function shown(page) {
  try {
    return (await page.locator('body').innerText({ timeout: 5000 })).slice(0, 3000)
  } catch (error) {
    return `nothing: ${error.message}`
  }
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

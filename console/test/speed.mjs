// What a person waits for in the console, from the moment that the browser gets a key or a click to the frame that shows what
// it has led to; and what an open tab costs the server. The figures are printed, and none is judged. TestSpeed in test/console
// runs it.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { signInLink } from './api.mjs'
import { freshContext, scenario } from './rig.mjs'

const queues = Number(process.env.SLUICE_SPEED_QUEUES)
const seconds = Number(process.env.SLUICE_SPEED_SECONDS)
const server = process.env.SLUICE_SPEED_SERVER
const rounds = 10

const nameOf = (i) => `speed-${String(i).padStart(5, '0')}`

function say(what, times, unit = 'ms') {
  const sorted = times.toSorted((a, b) => a - b)
  const of = (share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(unit === 'ms' ? 0 : 1)
  console.log(`says: ${what}: ${of(0.5)} ${unit}, at most ${of(1)} ${unit} (${times.length} times)`)
}

/** install gives a page until(), which waits for rows and tells when they have been drawn. */
function install() {
  const rows = () => [...document.querySelectorAll('table tbody tr')].filter((row) => row.querySelector('th, td a'))
  /** holds: enough rows, and not more than most; the first has a text, or is not what it was. */
  const holds = (wanted) => {
    const now = rows()
    const first = now[0]?.textContent
    return (
      now.length >= wanted.rows &&
      now.length <= (wanted.most ?? now.length) &&
      (!wanted.first || first.includes(wanted.first)) &&
      first !== wanted.not
    )
  }
  globalThis.firstRow = () => rows()[0]?.textContent
  globalThis.until = (wanted, since) =>
    new Promise((resolve, reject) => {
      setTimeout(
        () => reject(new Error(`not ${JSON.stringify(wanted)}, but ${rows().length} rows: ${globalThis.firstRow()}`)),
        120_000,
      )
      let began = since
      const begin = (e) => {
        began ??= e.timeStamp
      }
      // An option is chosen, and gone, before a click would follow.
      const events = ['keydown', 'mouseup', 'click']
      for (const name of events) {
        addEventListener(name, begin, { capture: true })
      }
      const observer = new MutationObserver(look)
      function look() {
        if (began === undefined || !holds(wanted)) {
          return
        }
        observer.disconnect()
        for (const name of events) {
          removeEventListener(name, begin, { capture: true })
        }
        // A frame's callback runs before the frame is drawn, and what it puts off runs after.
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
      }
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
      look()
    })
}

/** timed returns how long it takes from the first key or click of act until the rows that are wanted have been drawn. */
async function timed(page, wanted, act) {
  await page.evaluate((w) => {
    globalThis.measured = globalThis.until(w)
  }, wanted)
  await act()
  return page.evaluate(() => globalThis.measured)
}

scenario(
  'the first view, with nothing in the browser',
  async () => {
    const times = []
    let bytes = 0
    for (let i = 0; i < rounds; i++) {
      const context = await freshContext()
      const page = await context.newPage()
      await page.addInitScript(install)
      await page.addInitScript(() => {
        globalThis.drawn = globalThis.until({ rows: 1 }, 0)
      })
      await page.goto(await signInLink())
      times.push(await page.evaluate(() => globalThis.drawn))
      bytes = await page.evaluate(() =>
        performance
          .getEntries()
          .filter((e) => e.transferSize !== undefined && !e.name.includes('/api/') && e.initiatorType !== 'fetch')
          .reduce((n, e) => n + e.encodedBodySize, 0),
      )
      await context.close()
    }
    say('first view: from opening a sign-in link to the drawn home page', times)
    console.log(`says: first view: ${(bytes / 1024).toFixed(0)} KB of files, compressed`)
    assert.ok(bytes > 100_000, 'the browser says how much it has loaded')
  },
  { as: null, audit: false },
)

scenario(
  'a long list of queues',
  async ({ page, open }) => {
    await page.addInitScript(install)
    await open('/queues')
    await page.evaluate(() => globalThis.until({ rows: 50, first: 'speed-00000' }, 0))
    const find = page.getByRole('searchbox', { name: 'Find queues by name' })
    const names = Array.from({ length: queues }, (_, i) => nameOf(i))
    const last = String(queues - 1)
    const typed = []
    for (let i = 0; i < rounds; i++) {
      await find.focus()
      for (let n = 1; n <= 3; n++) {
        const first = names.find((name) => name.includes(last.slice(0, n)))
        typed.push(await timed(page, { rows: 1, first }, () => page.keyboard.press(last[n - 1])))
      }
      await page.keyboard.press('Control+a')
      typed.push(await timed(page, { rows: 50, first: names[0] }, () => page.keyboard.press('Delete')))
    }
    say('find queues by name: a change of the text', typed)

    const turned = []
    const pages = Math.min(4, Math.floor(queues / 50) - 1)
    for (let i = 0; i < rounds; i++) {
      for (let n = 1; n <= pages; n++) {
        turned.push(
          await timed(page, { rows: 50, first: nameOf(50 * n) }, () =>
            page.getByRole('button', { name: 'Next page' }).click(),
          ),
        )
      }
      for (let n = pages - 1; n >= 0; n--) {
        turned.push(
          await timed(page, { rows: 50, first: nameOf(50 * n) }, () =>
            page.getByRole('button', { name: 'Previous page' }).click(),
          ),
        )
      }
    }
    say('turn to the next page, or back', turned)

    await page.mouse.move(700, 500)
    await page.evaluate(() => {
      globalThis.frames = []
      let last = performance.now()
      const frame = (now) => {
        globalThis.frames.push(now - last)
        last = now
        globalThis.watched = requestAnimationFrame(frame)
      }
      requestAnimationFrame(frame)
    })
    for (let i = 0; i < 60; i++) {
      await page.mouse.wheel(0, i < 30 ? 100 : -100)
    }
    const frames = await page.evaluate(() => {
      cancelAnimationFrame(globalThis.watched)
      return globalThis.frames.slice(1)
    })
    say('scroll: from one frame to the next', frames)

    // Only the first queue has messages: it is the last, and then the first.
    const header = page.locator('th:visible').getByText('Available', { exact: true }).last()
    const sorted = []
    await page.evaluate(atTop)
    for (let i = 0; i < 2 * rounds; i++) {
      sorted.push(await timed(page, { rows: 50, first: nameOf((i + 1) % 2) }, () => header.click()))
    }
    say('sort all queues by a number', sorted)
    const only = page.getByRole('button', { name: /^Show only/ })
    const selected = []
    for (let i = 0; i < rounds; i++) {
      await only.click()
      const option = page.getByRole('option', { name: i % 2 ? 'All queues' : 'Not empty' })
      await option.waitFor()
      selected.push(await timed(page, i % 2 ? { rows: 50 } : { rows: 1, most: 1 }, () => option.click()))
    }
    say('show only some of all queues, or all again', selected)
  },
  { audit: false },
)

scenario(
  'a page of messages',
  async ({ page, open }) => {
    await page.addInitScript(install)
    for (const [rows, what] of [
      [10, 'a window full of messages'],
      [50, '50 messages'],
    ]) {
      const times = []
      for (let i = 0; i < rounds; i++) {
        await open('/queues/speed-00000')
        await page.getByText('Messages available').first().waitFor()
        times.push(await timed(page, { rows }, () => page.getByRole('tab', { name: 'Browse messages' }).click()))
      }
      say(`look inside: from the click to ${what}`, times)
    }
    const again = []
    const search = page.getByLabel('Search messages')
    for (let i = 1; i <= rounds; i++) {
      // Further on than the first messages of the page before, which came from sixteen senders at once.
      await search.fill(`body.order.id>=${i * 1000}`)
      const not = await page.evaluate(() => globalThis.firstRow())
      again.push(await timed(page, { rows: 50, not }, () => search.press('Enter')))
    }
    say('search: a page of 50', again)
  },
  { audit: false },
)

scenario(
  'what an open tab costs the server',
  async ({ page, open }) => {
    const received = await counted(page)
    await page.goto('about:blank')
    const idle = await busy()
    console.log(`says: the server without a tab: ${idle.toFixed(2)}% of a core, for ${seconds} s`)
    for (const [address, shown] of [
      ['/home', /queues checked at/],
      ['/queues', nameOf(0)],
      [`/queues/${nameOf(0)}`, 'Messages available'],
    ]) {
      await open(address)
      await page.getByText(shown).first().waitFor()
      const before = received()
      const share = await busy()
      const kilobytes = (received() - before) / 1024 / (seconds / 5)
      console.log(`says: with ${address} open: ${share.toFixed(2)}%, and ${kilobytes.toFixed(1)} KB every 5 s`)
    }
  },
  { audit: false },
)

/** atTop scrolls to the top, in a page, and waits until what the wheel has asked for is over. */
async function atTop() {
  for (let still = 0; still < 10; still++) {
    if (window.scrollY !== 0) {
      window.scrollTo(0, 0)
      still = 0
    }
    await new Promise(requestAnimationFrame)
  }
}

/** counted returns a function that says how many bytes a page has got from the server. */
async function counted(page) {
  let bytes = 0
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  return () => bytes
}

/** busy returns how much of a core the server takes for some seconds. */
async function busy() {
  const before = await ticks()
  await new Promise((wait) => setTimeout(wait, seconds * 1000))
  return (await ticks()) / seconds - before / seconds
}

/** ticks returns the time that the server has worked, in hundredths of a second, where the system says so. */
async function ticks() {
  try {
    const fields = (await readFile(`/proc/${server}/stat`, 'utf8')).replace(/^.*\)/, '').trim().split(' ')
    return Number(fields[11]) + Number(fields[12])
  } catch {
    return Number.NaN
  }
}

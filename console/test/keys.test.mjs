import assert from 'node:assert/strict'
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { CreateQueueCommand } from '@aws-sdk/client-sqs'
import { endpoint, iam, root, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const client = sqs()
const topics = new SNSClient({ endpoint, region: 'us-east-1', credentials: root })

scenario('go to a queue, a topic and a page by a few letters', async ({ page, open, audit, picture }) => {
  await client.send(new CreateQueueCommand({ QueueName: 'parcels-inbound' }))
  await topics.send(new CreateTopicCommand({ Name: 'parcels-posted' }))
  await open('/queues')
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: 'Command palette' })
  const chosen = page.getByRole('option', { selected: true })
  await page.getByRole('option', { name: 'Create queue' }).waitFor()
  await page.locator('input[role=combobox]:focus').waitFor()
  await page.keyboard.type('parcels')
  await page.getByRole('option', { name: 'parcels-inbound' }).waitFor()
  await page.getByRole('option', { name: 'parcels-posted' }).waitFor()
  await audit()
  await picture('palette')
  await page.keyboard.press('ArrowDown')
  await chosen.getByText('parcels-posted').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'parcels-posted', level: 1 }).waitFor()
  // A screen reader announces the page.
  await page.locator('h1:focus').getByText('parcels-posted').waitFor()

  await page.keyboard.press('Control+k')
  await field.fill('inbound')
  await page.getByRole('option', { name: 'parcels-inbound' }).click()
  await page.getByRole('heading', { name: 'parcels-inbound', level: 1 }).waitFor()

  await page.keyboard.press('Control+k')
  await field.fill('browse m')
  await chosen.getByText('Browse messages: parcels-inbound').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('The queue has no messages').waitFor()

  await page.getByRole('button', { name: /^Command palette/ }).click()
  await field.fill('nothing is called so')
  await page.getByText('No matches').waitFor()
  await audit()
  await page.keyboard.press('Escape')
  await field.waitFor({ state: 'detached' })
})

scenario('keys', async ({ page, open, button, audit }) => {
  await open('/queues')
  await page.keyboard.press('?')
  const list = page.getByRole('dialog', { name: 'Keys' })
  await list.getByText('Go to Alarms').waitFor()
  await audit()
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByRole('heading', { name: /^Alarms/, level: 1 }).waitFor()
  await page.keyboard.press('c')
  await page.getByRole('heading', { name: 'Create queue', level: 1 }).waitFor()
  // In a field they are letters.
  await page.getByLabel('Name', { exact: true }).press('g')
  await page.keyboard.press('a')
  await page.keyboard.press('?')
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'ga?')

  // Also where there are lists with a search field, which are dialogs to Cloudscape.
  await open('/create-alarm')
  await page.keyboard.press('?')
  await list.waitFor()
  await page.keyboard.press('Escape')
  await list.waitFor({ state: 'detached' })
  // What is wrong gets the focus, be it out of sight.
  await button('Next').click()
  await page.locator('button[aria-invalid=true]:focus').waitFor()

  await open('/queues')
  await page.keyboard.press('/')
  await page.getByRole('searchbox', { name: 'Find queues by name' }).waitFor()
  await page.keyboard.type('c?')
  await page.waitForURL(/find=c%3F/)
  await page.keyboard.press('Escape')

  await open('/queues')
  await page.keyboard.press('?')
  await list.getByText('Keys without Ctrl or Cmd').click()
  await list.getByRole('button', { name: 'Done' }).click()
  await list.waitFor({ state: 'detached' })
  await page.keyboard.press('c')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command palette' }).waitFor()
  assert.match(page.url(), /#\/queues$/)
})

scenario('look again, by the button and by the key', async ({ page, open, button }) => {
  await open('/topics')
  await page.getByRole('heading', { name: /^Topics/, level: 1 }).waitFor()
  await topics.send(new CreateTopicCommand({ Name: 'made-by-a-program' }))
  await button('Refresh').click()
  await page.getByRole('link', { name: 'made-by-a-program' }).waitFor()

  await open('/users')
  await button('Refresh').waitFor()
  await iam('CreateUser', { UserName: 'made-first' })
  await button('Refresh').click()
  await page.getByRole('link', { name: 'made-first' }).waitFor()
  await iam('CreateUser', { UserName: 'made-next' })
  await page.keyboard.press('r')
  await page.getByRole('link', { name: 'made-next' }).waitFor()
})

scenario(
  'by the keyboard alone: past the navigation, to a row, and back from dialogs',
  async ({ page, open, button }) => {
    await client.send(new CreateQueueCommand({ QueueName: 'reached-by-keys' }))
    await open('/queues?find=reached-by-keys')
    const link = page.getByRole('link', { name: 'reached-by-keys' })
    await link.waitFor()
    await page.keyboard.press('Tab')
    await page.locator('button:focus', { hasText: 'Skip to the page' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: 'Queues' }).waitFor()
    await page.keyboard.press('Tab')
    await page.locator('main button:focus').waitFor()

    // Where a dialog was opened, the keyboard goes on when it is closed.
    await page.getByRole('checkbox', { name: 'Choose reached-by-keys' }).focus()
    await page.keyboard.press('Space')
    for (const [name, ...keys] of [
      ['Delete', 'Enter'],
      ['Actions', 'Enter', 'Enter'],
    ]) {
      await page.locator('button:not([disabled]):not([aria-disabled=true])', { hasText: name }).first().waitFor()
      await button(name).focus()
      for (const key of keys) {
        await page.keyboard.press(key)
      }
      await page.getByRole('dialog').locator('input:focus').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.locator('button:focus', { hasText: name }).waitFor()
    }
    await page.keyboard.press('Control+k')
    await page.locator('input[role=combobox]:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('button:focus', { hasText: 'Actions' }).waitFor()
  },
)

scenario('after the sign-in the first stop of the keyboard is the link past the navigation', async ({ page }) => {
  const first = page.locator('button:focus', { hasText: 'Skip to the page' })
  await page.keyboard.press('Tab')
  await first.waitFor()
})

scenario(
  'so it is after the sign-in by a form, whose button is gone',
  async ({ page, button }) => {
    await page.goto(`${endpoint}/console/`)
    await page.getByLabel('Access key ID').fill(root.accessKeyId)
    await page.getByLabel('Secret access key').fill(root.secretAccessKey)
    await button('Sign in').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /What needs attention/, level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    await page.locator('button:focus', { hasText: 'Skip to the page' }).waitFor()
  },
  { as: null, expected: /40[13] \(/ },
)

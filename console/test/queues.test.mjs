import assert from 'node:assert/strict'
import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { iam, newAccount, sqs } from './api.mjs'
import { choose, scenario } from './rig.mjs'

const client = sqs()

async function attributes(queue) {
  return (await client.send(new GetQueueAttributesCommand({ QueueUrl: queue, AttributeNames: ['All'] }))).Attributes
}

async function filled(queue, bodies, more = {}) {
  await client.send(new CreateQueueCommand({ QueueName: queue, ...more }))
  for (const MessageBody of bodies) {
    await client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody }))
  }
}

scenario('create a queue with its dead-letter queue', async ({ page, open, button, audit }) => {
  await open('/queues')
  await page.getByRole('button', { name: 'Create queue' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('made')
  await page.getByRole('spinbutton', { name: 'Default visibility timeout' }).fill('45')
  await page.getByRole('spinbutton', { name: 'Receive message wait time' }).fill('20')
  await page
    .getByRole('group', { name: 'Dead-letter queue' })
    .or(page.getByRole('radiogroup', { name: 'Dead-letter queue' }))
    .first()
    .getByText('Enabled')
    .click()
  await page.getByLabel('Maximum receives').fill('3')
  await audit()
  await page.getByRole('button', { name: 'Create queue' }).last().click()
  await page.getByText('Created made').waitFor()
  const made = await attributes('made')
  assert.equal(made.VisibilityTimeout, '45')
  assert.equal(made.ReceiveMessageWaitTimeSeconds, '20')
  assert.equal(JSON.parse(made.RedrivePolicy).maxReceiveCount, 3)
  assert.match(made.RedrivePolicy, /:made-dead"/)
  assert.equal((await attributes('made-dead')).MessageRetentionPeriod, '1209600')
  await page.getByText('The queue is empty.').waitFor()
  await button('Edit').click()
  await page.getByRole('spinbutton', { name: 'Delivery delay' }).fill('7')
  await button('Save').click()
  await page.getByText('Saved made').waitFor()
  assert.equal((await attributes('made')).DelaySeconds, '7')
})

scenario('a list that is looked at again asks for what has changed', async ({ page, open }) => {
  await filled('still-1', [])
  await filled('still-2', [])
  await open('/queues?find=still-')
  await page.getByRole('row', { name: /still-2/ }).waitFor()
  // The first answers may have them: a queue that was made a moment ago still changes.
  await page.waitForResponse(async (r) => {
    const asked = r.request().postDataJSON()
    if (asked?.Since === undefined || asked.Contains !== 'still-') {
      return false
    }
    const { Queues, Unchanged } = await r.json()
    return Queues.length === 0 && Unchanged === 2
  })
  await client.send(new SendMessageCommand({ QueueUrl: 'still-2', MessageBody: 'news' }))
  await page
    .getByRole('row', { name: /still-2/ })
    .getByText('No consumer')
    .waitFor()
  await page.getByRole('row', { name: /still-1/ }).waitFor()
})

scenario('create a FIFO queue', async ({ page, open }) => {
  await open('/create-queue')
  await page.getByText('First in, first out').click()
  await page.getByLabel('Name', { exact: true }).fill('ordered')
  await page.getByText('Enable content-based deduplication').click()
  await page.getByText('Enable high throughput FIFO').click()
  await page.getByRole('button', { name: 'Create queue' }).last().click()
  await page.getByText('Created ordered.fifo').waitFor()
  const made = await attributes('ordered.fifo')
  assert.equal(made.ContentBasedDeduplication, 'true')
  assert.equal(made.DeduplicationScope, 'messageGroup')
  assert.equal(made.FifoThroughputLimit, 'perMessageGroupId')
})

scenario('a queue as code', async ({ page, open, button }) => {
  await open('/create-queue')
  await page.getByLabel('Name', { exact: true }).fill('coded')
  await button('Copy as').click()
  await page.getByRole('menuitem', { name: 'AWS CLI' }).click()
  await page.getByText('aws sqs create-queue --queue-name coded').waitFor()
})

scenario('what is wrong with a form is said beside it', async ({ page, open }) => {
  await open('/create-queue')
  await page.getByLabel('Name', { exact: true }).fill('a b')
  await page.getByRole('spinbutton', { name: 'Default visibility timeout' }).fill('50000')
  await page.getByRole('button', { name: 'Create queue' }).last().click()
  await page.getByText(plainName).waitFor()
  await page.getByText('It must be a whole number. From 0 seconds to 12 hours.').waitFor()
})

const plainName = 'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length'

scenario('a name is judged when it is left and while it is mended, as the server would', async ({ page, open }) => {
  await open('/create-queue')
  const name = page.getByLabel('Name', { exact: true })
  const said = (text) => page.getByText(text, { exact: true })
  await name.fill('a b')
  assert.equal(await said(plainName).count(), 0)
  await name.press('Tab')
  await said(plainName).waitFor()
  await assert.rejects(client.send(new CreateQueueCommand({ QueueName: 'a b' })), { message: plainName })
  await name.fill('a-b')
  await said(plainName).waitFor({ state: 'detached' })
  await name.fill('a.fifo')
  await said('Only the names of FIFO queues end in .fifo.').waitFor()
  await page.getByText('First in, first out').click()
  await said('Only the names of FIFO queues end in .fifo.').waitFor({ state: 'detached' })
  await name.fill('a b')
  const refusal = await client
    .send(new CreateQueueCommand({ QueueName: 'a b.fifo', Attributes: { FifoQueue: 'true' } }))
    .catch((error) => error.message)
  await said(refusal).waitFor()
  const delay = page.getByRole('spinbutton', { name: 'Delivery delay' })
  await delay.fill('901')
  await delay.press('Tab')
  await said('It must be a whole number. From 0 seconds to 15 minutes.').waitFor()

  await open('/create-topic')
  await name.fill('a b')
  await name.press('Tab')
  await page.getByText(/^Names must be made up of only/).waitFor()
  await page.getByText('For queues. Each group in order').click()
  await page.getByText(/^Fifo Topic names must end with .fifo/).waitFor()
  await name.fill('a')
  await said('It will be a.fifo: names of FIFO topics end in .fifo.').waitFor()

  await open('/roles')
  await page.getByRole('button', { name: 'Create role' }).first().click()
  const role = page.getByLabel('Role name')
  await role.fill('a b')
  await role.press('Tab')
  const refused = await iam('CreateRole', { RoleName: 'a b', AssumeRolePolicyDocument: '{}' }).catch((e) => e.message)
  await said(/<Message>(.*)<\/Message>/.exec(refused)[1]).waitFor()
})

scenario('the list: find, columns, purge, delete', async ({ page, open, button }) => {
  await filled('listed-a', ['1', '2', '3'])
  await filled('listed-b', [])
  await open('/queues?find=listed')
  const row = page.getByRole('row', { name: /listed-a/ })
  await row.getByText('3', { exact: true }).waitFor()
  await choose(row)
  await button('Actions').click()
  await page.getByRole('menuitem', { name: 'Purge' }).click()
  await page.getByText('which has 3 messages now').waitFor()
  await page.getByPlaceholder('purge').fill('purge')
  await button('Purge').click()
  await page.getByText('Purged listed-a').waitFor()
  await row.getByText('Empty').waitFor()
  await button('Undo').click()
  await row.getByText('3', { exact: true }).waitFor()
  await choose(page.getByRole('row', { name: /listed-b/ }))
  await button('Delete').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Delete 2 queues?').waitFor()
  await page.getByPlaceholder('delete').fill('delete')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No matches').waitFor()
  await page.getByText('Deleted 2 queues').waitFor()
  await button('Undo').last().click()
  await row.getByText('3', { exact: true }).waitFor()
  await page.getByRole('row', { name: /listed-b/ }).waitFor()
})

scenario('the list: any page of many', async ({ page, open, button, audit, picture }) => {
  const names = Array.from({ length: 150 }, (_, i) => `paged-${String(i).padStart(3, '0')}`)
  await Promise.all(names.map((QueueName) => client.send(new CreateQueueCommand({ QueueName }))))
  const first = (i) => page.locator('tbody tr').first().getByRole('link', { name: names[i] }).waitFor()
  await open('/queues?find=paged')
  await first(0)
  await page.getByRole('button', { name: /^Page 3 / }).click()
  await first(100)
  await button('Preferences').click()
  await page.getByRole('radio', { name: '20 queues' }).check()
  await button('Apply').click()
  await first(0)
  await page.getByText('1 of 8', { exact: true }).waitFor()
  const typed = page.getByRole('spinbutton', { name: 'Page' })
  await typed.fill('5')
  await typed.press('Enter')
  await first(80)
  await page.getByText('5 of 8', { exact: true }).waitFor()
  await button('Next page').click()
  await first(100)
  assert.equal(await typed.inputValue(), '6')
  await audit()
  await picture('pages')

  // Another list begins at its first page, and one of few pages has no field for their numbers.
  const find = page.getByRole('searchbox', { name: 'Find queues by name' })
  await find.fill('paged-1')
  await first(100)
  await typed.waitFor({ state: 'detached' })
  await find.fill('paged')
  await first(0)
  assert.equal(await typed.inputValue(), '1')

  // Where the queues of a page are gone, the last page is shown.
  await typed.fill('8')
  await typed.press('Enter')
  await first(140)
  const gone = names.splice(110)
  await Promise.all(gone.map((QueueUrl) => client.send(new DeleteQueueCommand({ QueueUrl }))))
  await button('Refresh').click()
  await first(100)
  await Promise.all(names.map((QueueUrl) => client.send(new DeleteQueueCommand({ QueueUrl }))))
})

scenario('the list: the worst first, and the order in the address', async ({ page, open }) => {
  await filled('worst-a', [])
  await filled('worst-b', ['1'])
  await filled('worst-c', ['1', '2'])
  const first = (name) => page.locator('tbody tr').first().getByRole('link', { name }).waitFor()
  await open('/queues?find=worst')
  await first('worst-c')
  await page
    .getByRole('row', { name: /worst-a/ })
    .getByText('Empty')
    .waitFor()
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').first().press('Enter')
  await first('worst-a')
  assert.match(page.url(), /sort=name/)
  await open('/queues?find=worst&sort=-name')
  await first('worst-c')
})

let crowd
const crowded = async () => {
  crowd ??= await filledWithMany()
  return crowd
}

/** filledWithMany makes an account with more queues than are put in order for each letter. The last one has a message. */
async function filledWithMany() {
  const credentials = await newAccount()
  const many = sqs(credentials)
  const names = Array.from({ length: 1001 }, (_, i) => `crowd-${String(i).padStart(4, '0')}`)
  const left = names.values()
  const create = async () => {
    for (const QueueName of left) {
      await many.send(new CreateQueueCommand({ QueueName }))
    }
  }
  await Promise.all(Array.from({ length: 8 }, create))
  await many.send(new SendMessageCommand({ QueueUrl: names.at(-1), MessageBody: 'one' }))
  return credentials
}

scenario(
  'the list: of many queues the worst first, and what is found of them by name',
  async ({ page, open }) => {
    const first = (name) => page.locator('tbody tr').first().getByRole('link', { name }).waitFor()
    await open('/queues')
    await first('crowd-1000')
    const find = page.getByRole('searchbox', { name: 'Find queues by name' })
    await find.fill('00')
    await first('crowd-0000')
    const available = page.getByRole('columnheader', { name: 'Available' }).getByRole('button').first()
    await available.press('Enter')
    await page.locator('th[aria-sort="ascending"]').getByText('Available').first().waitFor()
    await available.press('Enter')
    await first('crowd-1000')
    await find.fill('000')
    await first('crowd-1000')
  },
  { as: crowded, audit: false },
)

scenario(
  'the list on a phone has states and counters',
  async ({ page, open, audit, button }) => {
    await filled('card-a', ['1', '2'])
    await open('/queues?find=card-a')
    await page.getByText('2 available, 0 in flight').waitFor()
    await page.getByText('No consumer').waitFor()
    await audit()
    await button('Create queue').waitFor()
    assert.equal(await button('Delete').count(), 0)
    await choose(page.getByRole('row', { name: /card-a/ }))
    await button('Delete').waitFor()
  },
  { viewport: { width: 390, height: 844 } },
)

scenario('pause, and undo', async ({ page, open, button }) => {
  await filled('paused', ['x'])
  await open('/queues/paused')
  await button('Actions').click()
  await page.getByRole('menuitem', { name: 'Pause delivery' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause delivery' }).click()
  await page.getByText('Delivery is paused.').first().waitFor()
  await button('Undo').click()
  await page.getByText('Delivery is paused.').first().waitFor({ state: 'detached' })
})

scenario(
  'phone and dark',
  async ({ open, picture }) => {
    await open('/queues')
    await picture('phone')
  },
  { viewport: { width: 390, height: 844 }, dark: true },
)

// A name that is taken is refused in its field, before anything is sent.
import assert from 'node:assert/strict'
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { CreateQueueCommand } from '@aws-sdk/client-sqs'
import { endpoint, iam, newAccount, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

let mine
const account = async () => {
  mine = await newAccount()
  const client = sqs(mine)
  for (const QueueName of ['orders', 'orders-longer', 'other-dead']) {
    await client.send(new CreateQueueCommand({ QueueName }))
  }
  const topics = new SNSClient({ endpoint, region: 'us-east-1', credentials: mine })
  await topics.send(new CreateTopicCommand({ Name: 'events' }))
  return mine
}

scenario(
  'the form of a queue and that of a topic say that a name is taken',
  async ({ page, open, button, audit }) => {
    const changes = []
    page.on('request', (r) => /Create/.test(r.headers()['x-amz-target'] ?? '') && changes.push(r.url()))
    await open('/create-queue')
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('orders')
    await page.getByText('There is already a queue orders.').waitFor()
    await audit()
    await button('Create queue').last().click()
    await page.getByText('Correct the fields that show errors.', { exact: true }).waitFor()
    await name.fill('orders-') // of which others are the beginning
    await page.getByText('There is already a queue').waitFor({ state: 'detached' })

    await name.fill('other')
    await page.getByRole('radiogroup', { name: 'Dead-letter queue', exact: true }).getByText('Enabled').click()
    await page.getByText('There is already a queue other-dead.').waitFor()
    await page.getByText('Choose a queue').click()
    await page.getByText('There is already a queue').waitFor({ state: 'detached' })

    await open('/create-topic')
    await page.getByLabel('Name', { exact: true }).fill('events')
    await button('Create topic').click()
    await page.getByText('There is already a topic events.').waitFor()
    assert.deepEqual(changes, [])
  },
  { as: account },
)

scenario(
  'the dialog for a new user says that a name is taken, in whatever case',
  async ({ page, open, button }) => {
    await iam('CreateUser', { UserName: 'Taken' })
    await open('/users')
    await page.getByRole('link', { name: 'Taken' }).waitFor()
    await button('Create user').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('User name').fill('taken')
    await dialog.getByText('The name is taken by Taken.').waitFor()
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await dialog.getByLabel('User name').fill('taken-not')
    await dialog.getByRole('button', { name: 'Create user' }).click()
    await page.getByRole('heading', { name: 'taken-not', level: 1 }).waitFor()
  },
  { expected: /404/ }, // the user has no password
)

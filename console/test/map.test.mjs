import assert from 'node:assert/strict'
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { endpoint, newAccount, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

// An account of its own has nothing that other tests have left.
let mine
let id
const account = async () => {
  mine = await newAccount()
  return mine
}

async function create(QueueName, dead) {
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: arn(dead), maxReceiveCount: 3 })
  const { QueueUrl } = await sqs(mine).send(
    new CreateQueueCommand({ QueueName, ...(dead && { Attributes: { RedrivePolicy } }) }),
  )
  id = new URL(QueueUrl).pathname.split('/').at(-2)
}

const arn = (name) => `arn:aws:sqs:us-east-1:${id}:${name}`

async function world() {
  await create('orders-dead')
  await create('orders', 'orders-dead')
  await create('bills')
  await create('unrelated')
  const topics = new SNSClient({ endpoint, region: 'us-east-1', credentials: mine })
  const { TopicArn } = await topics.send(new CreateTopicCommand({ Name: 'events' }))
  for (const name of ['orders', 'bills']) {
    await topics.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: arn(name) }))
  }
  await sqs(mine).send(new SendMessageCommand({ QueueUrl: 'bills', MessageBody: 'x' }))
  await sqs(mine).send(new SendMessageCommand({ QueueUrl: 'orders-dead', MessageBody: 'x' }))
}

scenario(
  'map: every box is a link, by the keyboard too, and the worst comes first',
  async ({ page, open, audit, picture }) => {
    await world()
    await open('/map')
    for (const [name, href] of [
      ['events Topic', '#/topics/events'],
      ['orders 1 dead letter, 0 available', '#/queues/orders'],
      ['orders-dead Has 1 dead letter', '#/queues/orders-dead'],
      ['bills No consumer, 1 available', '#/queues/bills'],
      ['No consumer Nothing receives', '#/queues/bills/consumers'],
      ['unrelated 0 available', '#/queues/unrelated'],
    ]) {
      const box = page.getByRole('link', { name, exact: true })
      await box.waitFor()
      assert.equal(await box.getAttribute('href'), href)
    }
    assert.equal(await page.locator('.island').count(), 2)
    assert.equal(await page.locator('.island .way').count(), 4)
    await audit()
    await picture('map')
    await page.getByRole('searchbox', { name: 'Find a queue or a topic' }).fill('unrel')
    await page.getByRole('link', { name: /^orders 1/ }).waitFor({ state: 'detached' })
    await page.getByRole('searchbox', { name: 'Find a queue or a topic' }).fill('nothing like it')
    await page.getByText('No matches').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('link', { name: /^bills No/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'bills', level: 1 }).waitFor()
  },
  { as: account },
)

scenario(
  'map on a phone is a list',
  async ({ page, open, audit }) => {
    await world()
    await open('/map')
    await page.getByText('moves failed messages to').waitFor()
    await page.getByText('gets messages of').first().waitFor()
    await page.getByRole('link', { name: 'orders-dead' }).first().waitFor()
    assert.equal(await page.locator('.island').count(), 0)
    assert(await page.evaluate(() => document.documentElement.scrollWidth <= 390))
    await audit()
  },
  { as: account, viewport: { width: 390, height: 844 } },
)

scenario(
  'map of three hundred queues',
  async ({ page, open, audit, picture }) => {
    for (let i = 0; i < 10; i++) {
      await create(`dead-${i}`)
    }
    for (let i = 0; i < 290; i++) {
      await create(`queue-${i}`, i < 200 ? `dead-${i % 10}` : undefined)
    }
    await open('/map')
    await page.getByRole('link', { name: /^dead-9 0/ }).waitFor()
    assert.equal(await page.locator('.island').count(), 40)
    await page.getByRole('button', { name: 'Show 40 more of 100' }).click()
    await page.getByRole('button', { name: 'Show 20 more of 100' }).click()
    assert.equal(await page.locator('.island').count(), 100)
    assert.equal(await page.locator('.island .box').count(), 300)
    await audit()
    await picture('map-large')
  },
  { as: account, dark: true },
)

// Forms say what they still need.
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import { CreateQueueCommand } from '@aws-sdk/client-sqs'
import { endpoint, newAccount, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

let topic
const account = async () => {
  const mine = await newAccount()
  await sqs(mine).send(new CreateQueueCommand({ QueueName: 'only.fifo', Attributes: { FifoQueue: 'true' } }))
  const topics = new SNSClient({ endpoint, region: 'us-east-1', credentials: mine })
  topic = (await topics.send(new CreateTopicCommand({ Name: 'events' }))).TopicArn
  return mine
}

scenario(
  'a button that cannot send yet says why, and a list without a queue that fits',
  async ({ page, open, button, audit }) => {
    await open('/queues/only.fifo/messages')
    await button('Send message').hover()
    await page.getByText('Enter a message body.').filter({ visible: true }).first().waitFor()
    await page.getByLabel('Message body').fill('x')
    await button('Send message').focus() // by the keyboard, too
    await page.getByText('Enter a message group ID.').filter({ visible: true }).first().waitFor()
    await audit()
    await page.getByLabel('Message group ID').fill('g')
    await page.getByText('Enter a message group ID.').first().waitFor({ state: 'detached' })

    await open(`/create-subscription?topic=${encodeURIComponent(topic)}`)
    await page.getByLabel('Endpoint').click()
    await page.getByText('No standard queues: a standard topic cannot send to FIFO queues').waitFor()

    await open('/queues/only.fifo/browse?filter=age%3E%3Ex')
    await page.getByText('Not searched: ValidationException').first().waitFor()
  },
  { as: account, expected: /400/ },
)

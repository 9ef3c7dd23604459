import assert from 'node:assert/strict'
import {
  CreateTopicCommand,
  GetSubscriptionAttributesCommand,
  GetTopicAttributesCommand,
  ListSubscriptionsByTopicCommand,
  SetTopicAttributesCommand,
  SNSClient,
} from '@aws-sdk/client-sns'
import { CreateQueueCommand, GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { endpoint, eventually, root, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const queues = sqs()
const topics = new SNSClient({ endpoint, region: 'us-east-1', credentials: root })

async function topic(Name, Attributes = {}) {
  return (await topics.send(new CreateTopicCommand({ Name, Attributes }))).TopicArn
}

function receive(QueueUrl) {
  return eventually(
    `a message of ${QueueUrl}`,
    async () => (await queues.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }))).Messages?.[0],
    (message) => message !== undefined,
  )
}

scenario('save a policy that was changed meanwhile', async ({ page, open, button }) => {
  const TopicArn = await topic('contested')
  const policy = (Sid) =>
    JSON.stringify({
      Version: '2012-10-17',
      Statement: [{ Sid, Effect: 'Allow', Principal: '*', Action: 'SNS:Publish', Resource: TopicArn }],
    })
  const kept = async () => (await topics.send(new GetTopicAttributesCommand({ TopicArn }))).Attributes.Policy
  await open('/topics/contested')
  await page.getByRole('tab', { name: 'Access policy' }).click()
  await page.getByRole('textbox', { name: 'Access policy' }).fill(policy('mine'))
  await topics.send(
    new SetTopicAttributesCommand({ TopicArn, AttributeName: 'Policy', AttributeValue: policy('theirs') }),
  )
  await button('Save').click()
  await page.getByText('It changed in the meantime').waitFor()
  await page.getByText('"theirs"').waitFor()
  assert.match(await kept(), /theirs/)
  await button('Save').click()
  await page.getByText('Access policy saved').waitFor()
  assert.match(await kept(), /mine/)
  await page.getByRole('textbox', { name: 'Access policy' }).fill(policy('again'))
  await button('Save').click()
  await page.waitForFunction(() => !document.body.innerText.includes('Discard changes'))
  assert.match(await kept(), /again/)
})

scenario('create a topic, subscribe a queue to it, publish', async ({ page, open, button, audit, picture }) => {
  await queues.send(new CreateQueueCommand({ QueueName: 'listener' }))
  await open('/topics')
  await button('Create topic').first().click()
  await page.getByLabel('Name', { exact: true }).fill('news')
  await audit()
  await button('Create topic').click()
  await page.getByText('Topic news created').waitFor()

  await open('/create-subscription')
  await page.getByRole('button', { name: /Choose a Topic/ }).click()
  await page.getByRole('option', { name: 'news', exact: true }).click()
  await page.getByRole('button', { name: /Choose a queue/ }).click()
  await page.getByRole('option', { name: 'listener' }).click()
  await page.getByText('"aws:SourceArn"').waitFor()
  await page.getByLabel('Policy', { exact: true }).fill('{"kind": ["good"]}')
  await audit()
  await page.getByRole('main').getByRole('button', { name: 'Create subscription' }).last().click()
  await page.getByText('listener subscribes news').waitFor()
  await page.getByText('Confirmed', { exact: true }).waitFor()
  await picture('topic')

  await button('Publish message').click()
  await page.getByLabel('Message body', { exact: true }).fill('it is out')
  await button('Add new attribute').click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('kind')
  await page.getByRole('textbox', { name: 'Value', exact: true }).fill('good')
  await button('Publish message').click()
  await page.getByText('Message published to news').waitFor()
  const message = await receive('listener')
  assert.equal(JSON.parse(message.Body).Message, 'it is out')
})

scenario('subscribe queues from the list, as the guide does', async ({ page, open, button, audit }) => {
  const arn = await topic('events')
  for (const QueueName of ['first', 'second']) {
    await queues.send(new CreateQueueCommand({ QueueName }))
  }
  await open('/subscribe-queue?queues=first,second')
  await page.getByRole('heading', { name: 'Subscribe Queues to SNS Topic' }).waitFor()
  await page.getByRole('button', { name: /Choose a Topic/ }).click()
  await page.getByRole('option', { name: 'events' }).click()
  await audit()
  await button('Subscribe').click()
  const dialog = page.getByRole('dialog', { name: 'Topic Subscription Result' })
  await dialog.getByText('2 queues now get what is published to events.').waitFor()
  await dialog.getByRole('button', { name: 'OK' }).click()
  await page.getByRole('heading', { name: /^Subscriptions/ }).waitFor()
  const { Subscriptions } = await topics.send(new ListSubscriptionsByTopicCommand({ TopicArn: arn }))
  assert.equal(Subscriptions.length, 2)
  const { Attributes } = await queues.send(
    new GetQueueAttributesCommand({ QueueUrl: 'first', AttributeNames: ['Policy'] }),
  )
  assert.equal(JSON.parse(Attributes.Policy).Statement[0].Condition.ArnEquals['aws:SourceArn'], arn)
})

scenario('change how a subscription delivers, and delete the topic', async ({ page, open, button, audit }) => {
  const arn = await topic('changing')
  await queues.send(new CreateQueueCommand({ QueueName: 'changed' }))
  await open(`/create-subscription?topic=${arn}`)
  await page.getByRole('button', { name: /Choose a queue/ }).click()
  await page.getByRole('option', { name: 'changed' }).click()
  await page.getByRole('main').getByRole('button', { name: 'Create subscription' }).last().click()
  await page.getByRole('link', { name: 'changed' }).click()
  await page.getByRole('heading', { name: 'Delivery' }).waitFor()
  await page.getByRole('textbox', { name: 'Filter policy' }).fill('{"kind": [{"suffix": "x"}]}')
  await audit()
  await button('Save').first().click()
  await page.getByText('Filter policy saved').waitFor()
  const { Subscriptions } = await topics.send(new ListSubscriptionsByTopicCommand({ TopicArn: arn }))
  const { Attributes } = await topics.send(
    new GetSubscriptionAttributesCommand({ SubscriptionArn: Subscriptions[0].SubscriptionArn }),
  )
  assert.deepEqual(JSON.parse(Attributes.FilterPolicy), { kind: [{ suffix: 'x' }] })

  await open('/topics/changing')
  await button('Delete').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByPlaceholder('delete me').fill('delete me')
  await dialog.getByRole('button', { name: 'Delete 1 topic' }).click()
  await page.getByText('1 topic deleted').waitFor()
})

scenario(
  'what the server refuses of a policy stays beside it',
  async ({ page, open, button }) => {
    await topic('strict')
    await open('/topics/strict?tab=policy')
    await page.getByRole('textbox', { name: 'Access policy' }).fill('{"Statement": [')
    await page.getByText(/This is not JSON/).waitFor()
    await page.getByRole('textbox', { name: 'Access policy' }).fill('{"Statement": [{"Effect": "Perhaps"}]}')
    await button('Save').click()
    await page.getByText(/The change was not saved/).waitFor()
  },
  { expected: /400 \(/ },
)

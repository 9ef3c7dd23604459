import assert from 'node:assert/strict'
import { CloudWatchClient, PutMetricAlarmCommand } from '@aws-sdk/client-cloudwatch'
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ListQueueTagsCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { endpoint, root, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const client = sqs()
const place = { endpoint, region: 'us-east-1', credentials: root }
const topics = new SNSClient(place)
const alarms = new CloudWatchClient(place)

scenario('overview: rates, alarms and the topics that feed a queue', async ({ page, open, audit, picture }) => {
  await client.send(new CreateQueueCommand({ QueueName: 'fed' }))
  await client.send(new SendMessageCommand({ QueueUrl: 'fed', MessageBody: 'x' }))
  await open('/queues/fed')
  // The last minute that has ended may be the message's own.
  const rates = page.getByText(/^[01] a minute$/)
  await rates.first().waitFor()
  assert.equal(await rates.count(), 2)
  assert.equal(await page.getByText('Fed by topics').count(), 0)

  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: 'fed', AttributeNames: ['QueueArn'] }),
  )
  const { TopicArn } = await topics.send(new CreateTopicCommand({ Name: 'feeds' }))
  await topics.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: Attributes.QueueArn }))
  await alarms.send(
    new PutMetricAlarmCommand({
      AlarmName: 'fed-old',
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: 'fed' }],
      Statistic: 'Maximum',
      Period: 60,
      EvaluationPeriods: 1,
      Threshold: 300,
      ComparisonOperator: 'GreaterThanThreshold',
    }),
  )
  await page.keyboard.press('r')
  await page.getByRole('heading', { name: /^Fed by topics/ }).waitFor()
  await page.getByRole('link', { name: 'feeds', exact: true }).waitFor()
  await page.getByRole('link', { name: 'fed-old' }).waitFor()
  await page.getByText('ApproximateAgeOfOldestMessage > 300 for 1 minute').waitFor()
  await audit()
  await picture('overview')
})

scenario('a queue that is well says so in green, and of its failures beside it', async ({ page, open, audit }) => {
  await client.send(new CreateQueueCommand({ QueueName: 'well-dead' }))
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: 'well-dead', AttributeNames: ['QueueArn'] }),
  )
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: Attributes.QueueArn, maxReceiveCount: 3 })
  await client.send(new CreateQueueCommand({ QueueName: 'well', Attributes: { RedrivePolicy } }))
  await client.send(new SendMessageCommand({ QueueUrl: 'well-dead', MessageBody: 'x' }))
  await open('/queues/well')
  const box = (kind, text) =>
    page.locator(`[class*="type-${kind}"]`).filter({ has: page.getByText(text, { exact: true }) })
  await box('success', 'The queue is empty.').waitFor()
  const failed = box('warning', '1 message failed and moved to well-dead.')
  await audit()
  await failed.getByRole('link', { name: 'Redrive' }).click()
  await page.getByRole('heading', { name: 'well-dead', level: 1 }).waitFor()
  await page.getByRole('tab', { name: 'Redrive', selected: true }).waitFor()
})

scenario('a long name changes nothing of the layout, and all tabs fit', async ({ page, open, picture }) => {
  const places = []
  for (const QueueName of ['short.fifo', `${'long-'.repeat(15)}.fifo`]) {
    await client.send(new CreateQueueCommand({ QueueName, Attributes: { FifoQueue: 'true' } }))
    await open(`/queues/${QueueName}`)
    await page.getByText('The queue is empty.').waitFor()
    const left = async (locator) => (await locator.boundingBox()).x
    places.push(await left(page.getByRole('button', { name: 'Edit', exact: true })))
    const tabs = page.getByRole('tablist', { name: 'Parts of the queue' })
    assert.equal(await tabs.getByRole('tab').count(), 9)
    const [width, room] = await tabs.evaluate((e) => [e.scrollWidth, e.clientWidth])
    assert.ok(width <= room, `the tabs take ${width} of ${room} pixels`)
    await picture(QueueName.slice(0, 5))
  }
  assert.equal(places[0], places[1])
})

scenario('a note is for all who see the queue', async ({ page, open, button, audit }) => {
  await client.send(new CreateQueueCommand({ QueueName: 'noted' }))
  await open('/queues/noted')
  await button('Add a note').click()
  const dialog = page.getByRole('dialog', { name: 'Note' })
  await dialog.getByRole('textbox', { name: 'Note' }).fill('Team red, runbook 7')
  await page.getByText('A tag cannot have ,').waitFor()
  await dialog.getByRole('textbox', { name: 'Note' }).fill('Team red: see runbook 7')
  await audit()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Team red: see runbook 7').waitFor()
  const { Tags } = await client.send(new ListQueueTagsCommand({ QueueUrl: 'noted' }))
  assert.deepEqual(Tags, { note: 'Team red: see runbook 7' })
  await button('Edit note').click()
  await dialog.getByRole('textbox', { name: 'Note' }).fill('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await button('Add a note').waitFor()
})

// Every page has room: at no width does a page, or a table in it, scroll sideways. SLUICE_CONSOLE_PICTURES keeps pictures of
// all of them, dark and light.
import assert from 'node:assert/strict'
import { CloudWatchClient, PutMetricAlarmCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch'
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns'
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs'
import { endpoint, newAccount, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const widths = [1920, 1280, 768, 390]
const dead = 'failed-payments-of-customers-in-europe'
const source = 'payments-of-customers-in-europe'
const fifo = 'orders-by-customer.fifo'
const topic = 'events-of-the-shop-that-many-services-want'
/** longest are names that have as many characters as they may, and no place to break. */
const longest = { queue: 'W'.repeat(80), topic: 'T'.repeat(256), alarm: 'A'.repeat(255) }

const addresses = [
  '/home',
  '/map',
  '/queues',
  '/create-queue',
  `/queues/${source}`,
  `/queues/${source}/messages`,
  `/queues/${source}/browse`,
  `/queues/${source}/consumers`,
  `/queues/${source}/monitoring`,
  `/queues/${source}/access`,
  `/queues/${source}/tags`,
  `/queues/${source}/edit`,
  `/queues/${dead}`,
  `/queues/${dead}/redrive`,
  `/queues/${fifo}`,
  `/queues/${fifo}/browse`,
  `/queues/${fifo}/groups`,
  `/queues/${longest.queue}`,
  '/topics',
  `/topics/${topic}`,
  '/subscriptions',
  '/create-subscription',
  '/monitoring',
  '/alarms',
  '/alarms/many-payments-of-customers-in-europe-wait',
  '/create-alarm',
  '/activity',
  '/cluster',
  '/users',
  '/groups',
  '/roles',
  '/policies',
  '/limits',
  '/sessions',
]

let mine
const account = async () => {
  mine ??= await filled()
  return mine
}

/** filled makes an account with something on every page. */
async function filled() {
  const credentials = await newAccount()
  const client = sqs(credentials)
  const create = async (QueueName, Attributes = {}) => {
    await client.send(new CreateQueueCommand({ QueueName, Attributes }))
    const asked = new GetQueueAttributesCommand({ QueueUrl: QueueName, AttributeNames: ['QueueArn'] })
    return (await client.send(asked)).Attributes.QueueArn
  }
  const deadLetterTargetArn = await create(dead)
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 3 })
  const arn = await create(source, { RedrivePolicy, VisibilityTimeout: '600' })
  await create(fifo, { FifoQueue: 'true', ContentBasedDeduplication: 'true' })
  await create(longest.queue)
  const send = (QueueUrl, of) =>
    client.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: Array.from({ length: 10 }, (_, i) => ({
          Id: String(i),
          MessageBody: JSON.stringify({
            order: { id: 4711000 + i, customer: `c-${i % 3}` },
            note: 'lorem ipsum '.repeat(20),
          }),
          MessageAttributes: {
            tenant: { DataType: 'String', StringValue: 'acme-incorporated-of-delaware' },
            'content-type': { DataType: 'String', StringValue: 'application/json' },
          },
          ...of(i),
        })),
      }),
    )
  await send(source, (i) => (i === 9 ? { DelaySeconds: 900 } : {}))
  await send(dead, () => ({}))
  await send(fifo, (i) => ({ MessageGroupId: `customer-with-a-long-name-${i % 3}` }))
  await client.send(new ReceiveMessageCommand({ QueueUrl: source, MaxNumberOfMessages: 3 }))
  await client.send(new ReceiveMessageCommand({ QueueUrl: fifo, MaxNumberOfMessages: 1 }))
  const topics = new SNSClient({ endpoint, region: 'us-east-1', credentials })
  const { TopicArn } = await topics.send(new CreateTopicCommand({ Name: topic }))
  await topics.send(new CreateTopicCommand({ Name: longest.topic }))
  await topics.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint: arn }))
  const alarms = new CloudWatchClient({ endpoint, region: 'us-east-1', credentials })
  const alarm = (AlarmName, queue) =>
    alarms.send(
      new PutMetricAlarmCommand({
        AlarmName,
        Namespace: 'AWS/SQS',
        MetricName: 'ApproximateNumberOfMessagesVisible',
        Dimensions: [{ Name: 'QueueName', Value: queue }],
        Statistic: 'Maximum',
        Period: 60,
        EvaluationPeriods: 1,
        Threshold: 1000,
        ComparisonOperator: 'GreaterThanThreshold',
        TreatMissingData: 'ignore', // the state that is set stays
      }),
    )
  await alarm('many-payments-of-customers-in-europe-wait', source)
  await alarm(longest.alarm, longest.queue)
  await alarms.send(new SetAlarmStateCommand({ AlarmName: longest.alarm, StateValue: 'ALARM', StateReason: 'a test' }))
  return credentials
}

/** sideways returns what is wider than its place: the page, or a part of it that scrolls. */
function sideways() {
  const root = document.documentElement
  const found = root.scrollWidth > window.innerWidth ? [`the page: ${root.scrollWidth}`] : []
  for (const e of document.querySelectorAll('*')) {
    const { overflowX } = getComputedStyle(e)
    const scrolls = overflowX === 'auto' || overflowX === 'scroll'
    // Tabs have arrows on phones, code keeps its lines, and the map is as wide as it is. A table's bar and header go with it.
    const apart = e.closest('.hex, [role="tablist"], .island, [class*="sticky-scrollbar"], [class*="header-secondary"]')
    if (scrolls && e.scrollWidth > e.clientWidth + 1 && !apart) {
      const what = e.querySelector('table')?.getAttribute('aria-label') ?? e.className
      found.push(`${what}: ${e.scrollWidth} in ${e.clientWidth}`)
    }
  }
  return found
}

for (const dark of [false, true]) {
  scenario(
    `no page scrolls sideways, ${dark ? 'dark' : 'light'}`,
    async ({ page, open, picture }) => {
      const wrong = []
      for (const address of addresses) {
        await page.setViewportSize({ width: widths[0], height: 900 })
        await open(address)
        await page.waitForLoadState('networkidle')
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 })
          await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn))))
          for (const what of await page.evaluate(sideways)) {
            wrong.push(`${address} at ${width}: ${what}`)
          }
          await picture(`width-${address.slice(1).replaceAll('/', '-')}-${width}${dark ? '-dark' : ''}`)
        }
      }
      assert.deepEqual(wrong, [])
    },
    { as: account, dark, audit: false, expected: /403/ },
  )
}

scenario(
  'on a phone the buttons of a page stand beside its heading',
  async ({ page, open }) => {
    for (const address of ['/home', '/queues', '/map', '/topics', '/users', '/sessions']) {
      await open(address)
      await page.waitForLoadState('networkidle')
      const [heading, refresh] = await Promise.all([
        page.getByRole('heading', { level: 1 }).boundingBox(),
        page.getByRole('button', { name: 'Refresh', exact: true }).boundingBox(),
      ])
      const { top, bottom } = { top: heading.y, bottom: heading.y + heading.height }
      assert.ok(refresh.y < bottom && refresh.y + refresh.height > top, `${address}: Refresh has a row of its own`)
    }
  },
  { as: account, viewport: { width: 390, height: 844 } },
)

import { CloudWatchClient, PutMetricAlarmCommand, SetAlarmStateCommand } from '@aws-sdk/client-cloudwatch'
import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand, TagQueueCommand } from '@aws-sdk/client-sqs'
import { endpoint, newAccount, newUser, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

// An account of its own has nothing that other tests have left.
let mine
const account = async () => {
  mine = await newAccount()
  return mine
}

scenario(
  'home: nothing, all is well, and what needs attention with what to do',
  async ({ page, button, audit, picture }) => {
    await page.getByRole('heading', { name: 'What needs attention', level: 1 }).waitFor()
    await page.getByText('There are no queues yet').waitFor()

    const client = sqs(mine)
    const create = (QueueName, Attributes = {}) => client.send(new CreateQueueCommand({ QueueName, Attributes }))
    await create('fine')
    await page.keyboard.press('r')
    await page.getByText('All is well').waitFor()
    await page.getByText('No queue needs attention and no alarm fires, as of').waitFor()
    await page.getByText(/^1 queue checked at/).waitFor()
    await audit()

    await create('failed-orders')
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: 'failed-orders', AttributeNames: ['QueueArn'] }),
    )
    await create('orders', {
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: Attributes.QueueArn, maxReceiveCount: 3 }),
    })
    await create('waiting')
    await create('halted')
    await client.send(new TagQueueCommand({ QueueUrl: 'halted', Tags: { 'sluice:delivery': 'paused' } }))
    for (const [QueueUrl, n] of [
      ['failed-orders', 2],
      ['waiting', 3],
    ]) {
      for (let i = 0; i < n; i++) {
        await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' }))
      }
    }
    const watch = new CloudWatchClient({ endpoint, region: 'us-east-1', credentials: mine })
    await watch.send(
      new PutMetricAlarmCommand({
        AlarmName: 'fine-old',
        Namespace: 'AWS/SQS',
        MetricName: 'ApproximateAgeOfOldestMessage',
        Dimensions: [{ Name: 'QueueName', Value: 'fine' }],
        Statistic: 'Maximum',
        Period: 60,
        EvaluationPeriods: 1,
        Threshold: 1e9,
        ComparisonOperator: 'LessThanThreshold',
        TreatMissingData: 'breaching', // the state that is set stays
      }),
    )
    await watch.send(new SetAlarmStateCommand({ AlarmName: 'fine-old', StateValue: 'ALARM', StateReason: 'a test' }))
    await button('Refresh').click()

    // What is in alarm comes first, then failures, then queues without a consumer, then what is paused.
    const rows = page.getByRole('table', { name: 'What needs attention' }).locator('tbody tr')
    const row = async (i, ...texts) => {
      for (const text of texts) {
        await rows.nth(i).getByText(text).first().waitFor()
      }
    }
    await row(0, 'fine', 'In alarm: ApproximateAgeOfOldestMessage < 1000000000 for 1 minute.', 'fine-old', 'See alarm')
    await row(1, 'failed-orders', '2 messages failed in orders.')
    await row(2, 'waiting', 'No consumer has received since the server started. 3 messages wait')
    await row(3, 'halted', 'Delivery is paused. No messages wait.')
    await audit()
    await picture('home')

    await button('Resume delivery: halted').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume delivery' }).click()
    await rows.nth(3).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Redrive: failed-orders' }).click()
    await page.getByRole('heading', { name: 'failed-orders', level: 1 }).waitFor()
    await page.getByRole('tab', { name: 'Redrive', selected: true }).waitFor()
  },
  { as: account },
)

scenario(
  'home on a phone',
  async ({ page, audit }) => {
    await sqs(mine).send(new CreateQueueCommand({ QueueName: 'small' }))
    await sqs(mine).send(new SendMessageCommand({ QueueUrl: 'small', MessageBody: 'x' }))
    await page.keyboard.press('r')
    await page.getByText('No consumer has received').waitFor()
    await page.getByRole('link', { name: 'See consumers: small' }).waitFor()
    await audit()
  },
  { as: account, viewport: { width: 390, height: 844 } },
)

scenario(
  'home says what its user may not see',
  async ({ page, audit }) => {
    await page.getByText('sluice:ListQueueStates').first().waitFor()
    await page.getByText('cloudwatch:DescribeAlarms').first().waitFor()
    await audit()
    await page.getByRole('link', { name: 'See the list of queues' }).click()
    await page.getByRole('heading', { name: /^Queues/, level: 1 }).waitFor()
  },
  {
    as: () => newUser(`lost-${process.pid}`, [{ Effect: 'Allow', Action: 'sqs:ListQueues', Resource: '*' }]),
    expected: /40[03] \(/,
  },
)

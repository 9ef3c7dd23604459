import assert from 'node:assert/strict'
import { CloudTrailClient, LookupEventsCommand } from '@aws-sdk/client-cloudtrail'
import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  PutMetricAlarmCommand,
  PutMetricDataCommand,
} from '@aws-sdk/client-cloudwatch'
import { CreateQueueCommand, SendMessageCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { endpoint, eventually, root, sluice, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const queues = sqs()
const metrics = new CloudWatchClient({ endpoint, region: 'us-east-1', credentials: root })

async function alarm(name) {
  const { MetricAlarms } = await metrics.send(new DescribeAlarmsCommand({ AlarmNames: [name] }))
  return MetricAlarms[0]
}

async function queue(QueueName) {
  await queues.send(new CreateQueueCommand({ QueueName }))
  await queues.send(new SendMessageCommand({ QueueUrl: QueueName, MessageBody: 'x' }))
}

scenario('look at the metrics of queues', async ({ page, open, audit, picture }) => {
  await queue('busy')
  await queue('calm')
  await open('/monitoring')
  await page.getByText('Choose up to ten queues').waitFor()
  await page
    .getByRole('button', { name: /Queues/ })
    .last()
    .click()
  await page.getByRole('option', { name: 'busy' }).click()
  await page.getByRole('option', { name: 'calm' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Messages available' }).waitFor()
  await page.getByRole('heading', { name: 'Messages dead-lettered' }).waitFor()
  assert.match(page.url(), /queues=busy%2Ccalm/)
  await audit()
  await picture('monitoring')
  await page.getByRole('button', { name: 'Enlarge Messages sent' }).click()
  const dialog = page.getByRole('dialog', { name: 'Messages sent' })
  await dialog.getByRole('button', { name: /Statistic/ }).click()
  await page.getByRole('option', { name: 'Average' }).click()
  await dialog.getByRole('button', { name: '1 d' }).click()
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
})

scenario('draw across a graph to zoom, type a range, and see marks', async ({ page, open, button, audit, picture }) => {
  await queue('zoomed')
  await sluice('PutMark', { Text: 'orders v42' })
  await queues.send(new SetQueueAttributesCommand({ QueueUrl: 'zoomed', Attributes: { VisibilityTimeout: '60' } }))
  const trail = new CloudTrailClient({ endpoint, region: 'us-east-1', credentials: root })
  const events = async (name) => {
    const LookupAttributes = [{ AttributeKey: 'EventName', AttributeValue: name }]
    return (await trail.send(new LookupEventsCommand({ LookupAttributes }))).Events.length
  }
  for (const name of ['PutMark', 'SetQueueAttributes']) {
    await eventually(
      `the event ${name}`,
      () => events(name),
      (n) => n > 0,
    )
  }
  await open('/queues/zoomed/monitoring')
  const graph = page.getByRole('application', { name: 'Messages available' })
  await graph.waitFor()
  const box = await graph.boundingBox()
  await page.mouse.move(box.x + box.width * 0.3, box.y + 60)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.6, box.y + 70, { steps: 4 })
  await picture('brush')
  await page.mouse.up()
  await page.waitForURL(/from=.*&to=/)
  const length = Date.parse(new URLSearchParams(page.url().split('?')[1]).get('to')) - fromOf(page.url())
  assert.ok(length > 40 * 60_000 && length < 70 * 60_000, `three tenths of three hours are ${length / 60_000} minutes`)
  await audit()

  const from = page.getByRole('textbox', { name: 'From' })
  const valid = await from.inputValue()
  await from.fill('yesterday')
  await button('Show').click()
  await page.getByText('Use the format 2026-11-27 02:30.').waitFor()
  await from.fill(valid)
  const inOneHour = new Date(Date.now() + 3_600_000 - new Date().getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 16)
  await page.getByRole('textbox', { name: 'To', exact: true }).fill(inOneHour)
  await button('Show').click()
  await page.waitForURL((url) => fromOf(url.href) < Date.now() - 3_600_000)
  await page.getByRole('button', { name: 'Enlarge Messages available' }).click()
  const dialog = page.getByRole('dialog', { name: 'Messages available' })
  await dialog.getByText('orders v42').waitFor()
  await dialog.getByText('zoomed edited by root').waitFor()
  await audit()
  await picture('marks')
})

const fromOf = (url) => Date.parse(new URLSearchParams(url.split('?')[1]).get('from'))

scenario('metrics of programs are drawn, too', async ({ page, open, audit }) => {
  await metrics.send(
    new PutMetricDataCommand({ Namespace: 'Workers', MetricData: [{ MetricName: 'Backlog', Value: 3 }] }),
  )
  await open('/monitoring?tab=own')
  await page.getByRole('button', { name: /Metrics/ }).click()
  await page.getByRole('option', { name: 'Workers Backlog' }).click()
  await page.keyboard.press('Escape')
  await page.getByText('Workers Backlog').last().waitFor()
  await audit()
})

scenario('alarm me, with one click', async ({ page, open, button, audit }) => {
  await queue('watched')
  await open('/alarms')
  await button('Quick alarm').first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /Choose a queue/ }).click()
  await page.getByRole('option', { name: 'watched' }).click()
  await dialog.getByRole('radio', { name: /Messages wait too long/ }).click()
  await dialog.getByRole('spinbutton').fill('600')
  await audit()
  await dialog.getByRole('button', { name: 'Create alarm' }).click()
  await page.getByText('Alarm watched-age watches watched').waitFor()
  const made = await alarm('watched-age')
  assert.equal(made.Threshold, 600)
  assert.equal(made.MetricName, 'ApproximateAgeOfOldestMessage')
  assert.equal(made.TreatMissingData, 'notBreaching')
})

scenario('edit an alarm that has more than the form', async ({ page, open, button }) => {
  await queue('rich')
  const more = {
    Unit: 'Seconds',
    EvaluationWindow: { WallClockWindow: { Timezone: 'Europe/Berlin' } },
    WarmUpConfiguration: { WarmUpPeriodDurationInMinutes: 5, OnlyStartEvaluatingAfterWarmUpPeriodEnds: true },
    ActionConfiguration: { AlarmTagsPropagation: { Enabled: true } },
  }
  await metrics.send(
    new PutMetricAlarmCommand({
      AlarmName: 'rich',
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateAgeOfOldestMessage',
      Dimensions: [{ Name: 'QueueName', Value: 'rich' }],
      Statistic: 'Maximum',
      Period: 60,
      EvaluationPeriods: 1,
      Threshold: 1,
      ComparisonOperator: 'GreaterThanThreshold',
      ...more,
    }),
  )
  const before = await alarm('rich')
  await open('/alarms/rich/edit')
  await page.getByLabel('than the threshold').fill('2')
  for (const step of ['Configure actions', 'Add name and description', 'Preview and create']) {
    await button('Next').click()
    await page.getByRole('heading', { name: step }).first().waitFor()
  }
  await button('Save changes').click()
  await page.getByText('Alarm rich saved').waitFor()
  const after = await alarm('rich')
  assert.equal(after.Threshold, 2)
  for (const member of Object.keys(more)) {
    assert.ok(before[member], member)
    assert.deepEqual(after[member], before[member])
  }
})

scenario('create an alarm in four steps, as the guide does', async ({ page, open, button, audit, picture }) => {
  await queue('stepped')
  await open('/create-alarm?queue=stepped')
  await page.getByRole('button', { name: /^Metric/ }).click()
  await page.getByRole('option', { name: /^NumberOfMessagesSent/ }).click()
  await page.getByLabel('than the threshold').fill('nothing')
  await button('Next').click()
  await page.getByText('The threshold is a number.').waitFor()
  await page.getByLabel('than the threshold').fill('100')
  await page.getByLabel('Datapoints to alarm').last().fill('2')
  await page.getByLabel('Evaluation periods').fill('3')
  await audit()
  await button('Next').click()
  await page.getByRole('radio', { name: 'Create New Email Topic' }).first().click()
  await page.getByPlaceholder(/someone@example.com/).fill('ops@example.com')
  await page.getByLabel('Topic name').fill('stepped-ops')
  await audit()
  await button('Next').click()
  await page.getByLabel('Alarm name').fill('stepped-sent')
  await page.getByLabel('Alarm description').fill('too much')
  await button('Next').click()
  await page.getByText('NumberOfMessagesSent > 100 for 2 of 3 minutes').waitFor()
  await audit()
  await button('Create alarm').click()
  await page.getByText('Alarm stepped-sent created').waitFor()
  const made = await alarm('stepped-sent')
  assert.equal(made.DatapointsToAlarm, 2)
  assert.match(made.AlarmActions[0], /:stepped-ops$/)
  await page.getByRole('heading', { name: 'States over time' }).waitFor()
  await audit()
  await picture('alarm')

  await button('Edit').click()
  await page.getByLabel('than the threshold').fill('200')
  for (const step of ['Configure actions', 'Add name and description', 'Preview and create']) {
    await button('Next').click()
    await page.getByRole('heading', { name: step }).first().waitFor()
  }
  await button('Save changes').click()
  await page.getByText('Alarm stepped-sent saved').waitFor()
  assert.equal((await alarm('stepped-sent')).Threshold, 200)

  await open('/alarms')
  await page.getByRole('checkbox', { name: 'Select stepped-sent' }).click()
  await button('Actions').click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 alarm' }).click()
  await page.getByText('1 alarm deleted').waitFor()
  assert.equal(await alarm('stepped-sent'), undefined)
})

scenario(
  'combine alarms, and look at what fires',
  async ({ page, open, button, audit, picture }) => {
    await queue('combined')
    for (const name of ['combined-age', 'combined-backlog', 'maintenance']) {
      await metrics.send(
        new PutMetricAlarmCommand({
          AlarmName: name,
          Namespace: 'AWS/SQS',
          MetricName: 'ApproximateAgeOfOldestMessage',
          Dimensions: [{ Name: 'QueueName', Value: 'combined' }],
          Statistic: 'Maximum',
          Period: 60,
          EvaluationPeriods: 1,
          Threshold: 100,
          ComparisonOperator: 'GreaterThanThreshold',
        }),
      )
    }
    await open('/alarms')
    await page.getByRole('checkbox', { name: 'Select combined-age' }).click()
    await page.getByRole('checkbox', { name: 'Select combined-backlog' }).click()
    await button('Create composite alarm').click()
    await page.getByLabel('Alarm name').fill('combined-trouble')
    await page.getByLabel('Rule').fill('ALARM("combined-age" combined-backlog)')
    await page.getByRole('button', { name: /Suppressor/ }).click()
    await page.getByRole('option', { name: 'maintenance' }).click()
    await page.getByLabel('Wait period in seconds').fill('0')
    await audit()
    await button('Create composite alarm').click()
    await page.getByText(/Unsupported token 'combined-backlog' at char 21/).waitFor()
    await page.getByLabel('Rule').fill('ALARM("combined-age") AND NOT OK("combined-backlog")')
    await button('Create composite alarm').click()
    await page.getByText('Alarm combined-trouble created').waitFor()
    await page.getByRole('heading', { name: 'Alarms in the rule' }).waitFor()
    await page.getByRole('link', { name: 'combined-backlog' }).waitFor()
    await audit()
    await picture('composite alarm')
    const made = async () => {
      const { CompositeAlarms } = await metrics.send(
        new DescribeAlarmsCommand({ AlarmNames: ['combined-trouble'], AlarmTypes: ['CompositeAlarm'] }),
      )
      return CompositeAlarms[0]
    }
    assert.equal((await made()).ActionsSuppressor, 'maintenance')
    await button('Edit').click()
    await page.getByLabel('Rule').fill('FALSE')
    await button('Save changes').click()
    await page.getByText('Alarm combined-trouble saved').waitFor()
    assert.equal((await made()).AlarmRule, 'FALSE')
    assert.equal((await made()).ActionsSuppressorExtensionPeriod, 60)
    await open('/alarms')
    for (const name of ['maintenance', 'combined-trouble']) {
      await page.getByRole('checkbox', { name: `Select ${name}` }).click()
    }
    await button('Actions').click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 alarms' }).click()
    await page.getByText('2 alarms deleted').waitFor()
    assert.equal(await made(), undefined)
  },
  { expected: /400 \(/ },
)

scenario(
  'a server that is alone says so',
  async ({ page, open, audit }) => {
    await open('/cluster')
    await page.getByText('Single server').waitFor()
    await audit()
  },
  { expected: /409 \(/ },
)

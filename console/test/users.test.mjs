import assert from 'node:assert/strict'
import { CreateQueueCommand, TagQueueCommand } from '@aws-sdk/client-sqs'
import { newUser, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const queues = sqs()

/** absent is what the browser says of a user without a password. */
const absent = /404 \(/

scenario(
  'create a user with keys and a policy, who may do just that',
  async ({ page, open, button, audit, picture }) => {
    await open('/users')
    await button('Create user').first().click()
    await page.getByRole('dialog').getByRole('textbox').fill('jane')
    await page.getByRole('dialog').getByRole('button', { name: 'Create user' }).click()
    await page.getByText('User jane created').waitFor()
    await button('Create access key').click()
    const shown = await page.getByText(/AWS_SECRET_ACCESS_KEY=/).textContent()
    const [, accessKeyId, secretAccessKey] = /ID=(\S+)\n.*KEY=(\S+)/.exec(shown)
    await button('Add inline policy').click()
    await page.getByRole('dialog').getByRole('textbox').fill('creator')
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
    await page
      .getByLabel('Policy creator')
      .fill(
        '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sqs:CreateQueue", "Resource": "*"}]}',
      )
    await button('Save').click()
    await page.getByText('Policy creator saved').waitFor()
    await audit()
    await picture('user')
    const hers = sqs({ accessKeyId, secretAccessKey })
    await hers.send(new CreateQueueCommand({ QueueName: 'of-jane' }))
    await assert.rejects(hers.send(new TagQueueCommand({ QueueUrl: 'of-jane', Tags: { a: 'b' } })), /not authorized/)

    await open('/users')
    await page.getByRole('checkbox', { name: 'Select jane' }).click()
    await button('Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 user' }).click()
    await page.getByText('1 user deleted').waitFor()
    await assert.rejects(hers.send(new CreateQueueCommand({ QueueName: 'of-jane' })), /security token/i)
  },
  { expected: absent },
)

scenario('groups, roles and policies', async ({ page, open, button, audit }) => {
  const dialog = page.getByRole('dialog')
  for (const [address, one, name] of [
    ['/groups', 'group', 'operators'],
    ['/roles', 'role', 'worker'],
    ['/policies', 'policy', 'senders'],
  ]) {
    await open(address)
    await button(`Create ${one}`).first().click()
    await dialog.getByRole('textbox').fill(name)
    await dialog.getByRole('button', { name: `Create ${one}` }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
    await audit()
  }
  await open('/groups/operators')
  await page.getByRole('button', { name: /Policy to attach/ }).click()
  await page.getByRole('option', { name: /^senders/ }).click()
  await button('Attach').click()
  await page.getByText('senders attached').waitFor()
  await open('/policies/senders')
  await page.getByRole('link', { name: 'operators' }).waitFor()
})

scenario('who did what, with its record', async ({ page, open, audit, picture }) => {
  await queues.send(new CreateQueueCommand({ QueueName: 'traced' }))
  await open('/activity?resource=traced')
  await page.getByRole('link', { name: 'CreateQueue' }).click()
  const dialog = page.getByRole('dialog', { name: 'Event record' })
  await dialog.getByText('"eventName": "CreateQueue"').waitFor()
  await audit()
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  await picture('activity')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page
      .getByRole('button', { name: 'Download' })
      .click()
      .then(() => page.getByRole('menuitem', { name: 'Download as CSV' }).click()),
  ])
  assert.equal(file.suggestedFilename(), 'events.csv')
})

scenario(
  'a user with little is told what is missing on every page',
  async ({ page, open }) => {
    for (const [address, action] of [
      ['/topics', 'SNS:ListTopics'],
      ['/subscriptions', 'SNS:ListSubscriptions'],
      ['/alarms', 'cloudwatch:DescribeAlarms'],
      ['/activity', 'cloudtrail:LookupEvents'],
      ['/users', 'iam:ListUsers'],
      ['/groups', 'iam:ListGroups'],
      ['/roles', 'iam:ListRoles'],
      ['/policies', 'iam:ListPolicies'],
    ]) {
      await open(address)
      await page.getByText(new RegExp(action, 'i')).first().waitFor()
    }
  },
  {
    as: () => newUser(`lesser-${process.pid}`, [{ Effect: 'Allow', Action: 'sqs:GetQueueUrl', Resource: '*' }]),
    expected: /40[03] \(/,
  },
)

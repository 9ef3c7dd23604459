import assert from 'node:assert/strict'
import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { newUser, root, signInLink, sqs } from './api.mjs'
import { choose, scenario } from './rig.mjs'

const client = sqs()

scenario(
  'sign in with an access key, and out',
  async ({ page, endpoint, audit, button, picture }) => {
    await page.goto(`${endpoint}/console/#/queues`)
    await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    await picture('sign-in')
    // The field that is first has the focus.
    await page.locator('input[autocomplete=username]:focus').waitFor()
    await page.getByRole('tab', { name: 'Access key' }).click()
    await audit()
    await page.getByLabel('Access key ID').fill(root.accessKeyId)
    await page.getByLabel('Secret access key').fill('wrong'.repeat(8))
    await button('Sign in').click()
    await page.getByText('Sign-in failed').first().waitFor()
    let sent = ''
    page.on('request', (r) => {
      sent += (r.postData() ?? '') + JSON.stringify(r.headers())
    })
    await page.getByLabel('Secret access key').fill(root.secretAccessKey)
    await button('Sign in').click()
    await page.getByRole('heading', { name: /^Queues/ }).waitFor()
    assert.ok(!sent.includes(root.secretAccessKey), 'the secret has left the page')
    await page.getByRole('button', { name: /root/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('You have signed out.').waitFor()
  },
  { as: null, expected: /40[013] \(/ },
)

scenario(
  'a link signs in in a tab that shows the sign-in, and one that is spent says so there',
  async ({ page, endpoint }) => {
    const link = await signInLink()
    await page.goto(`${endpoint}/console/`)
    await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
    await page.goto(`${link.slice(0, link.indexOf('#'))}#k=spent`)
    await page.getByText('Sign-in failed').waitFor()
    await page.goto(link)
    await page.getByRole('heading', { name: /What needs attention/, level: 1 }).waitFor()
  },
  { as: null, expected: /40[013] \(/ },
)

scenario(
  'whose session was ended elsewhere has to sign in again',
  async ({ page, open }) => {
    await open('/queues')
    await page.evaluate(() => fetch('./api/session', { method: 'DELETE', headers: { 'X-Sluice-Console': '1' } }))
    // The page asks again by itself.
    await page.getByText('Your session has ended. Sign in again to continue where you left off.').waitFor()
    await page.getByRole('heading', { name: 'Sign in to Sluice' }).waitFor()
  },
  { expected: /40[013] \(/ },
)

scenario(
  'while the server does not answer the page says so',
  async ({ page, context, open }) => {
    await open('/queues')
    const gone = page.getByText('This page shows its last answer.')
    await context.setOffline(true)
    await gone.waitFor()
    await page.getByRole('heading', { name: /^Queues/, level: 1 }).waitFor()
    await context.setOffline(false)
    await gone.waitFor({ state: 'detached' })

    // A page whose code is not there yet comes when the server is.
    await context.setOffline(true)
    await gone.waitFor()
    await page.evaluate(() => {
      location.hash = '#/map'
    })
    await page.getByText('This page could not be loaded').waitFor()
    await page.waitForTimeout(1000)
    await context.setOffline(false)
    await page.getByRole('heading', { name: 'Map', level: 1 }).waitFor()
    await gone.waitFor({ state: 'detached' })

    // What somebody is typing stays.
    await client.send(new CreateQueueCommand({ QueueName: 'edited' }))
    await open('/queues/edited/edit')
    const period = page.getByRole('spinbutton', { name: 'Message retention period' })
    await period.fill('7')
    await context.setOffline(true)
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('r')
    await gone.waitFor()
    assert.equal(await period.inputValue(), '7')
    await context.setOffline(false)
    await page.keyboard.press('r')
    await gone.waitFor({ state: 'detached' })
    assert.equal(await period.inputValue(), '7')
  },
  { expected: /ERR_INTERNET_DISCONNECTED|dynamically imported module|Unable to preload/ },
)

scenario(
  'what does not exist says so, below its name',
  async ({ page, open, audit }) => {
    for (const [address, kind] of [
      ['/queues/never', 'queue'],
      ['/topics/never', 'topic'],
      ['/policies/never', 'policy'],
    ]) {
      await open(address)
      await page.getByText(`There is no ${kind} never`).waitFor()
      await page.getByRole('heading', { name: 'never', level: 1 }).waitFor()
      await page.getByRole('link', { name: /^All / }).waitFor()
      await audit()
    }
  },
  { expected: /40[04] \(/ },
)

scenario('add a permission, and explain it', async ({ page, open, button, audit, picture }) => {
  await client.send(new CreateQueueCommand({ QueueName: 'shared' }))
  await open('/queues/shared/access')
  await button('Add a Permission').click()
  await page
    .getByPlaceholder(/111122223333/)
    .last()
    .fill('111122223333')
  await page.getByText('Choose actions').click()
  await page.getByRole('option', { name: 'SendMessage' }).click()
  await page.keyboard.press('Escape')
  await audit()
  await button('Add Permission').click()
  await page.getByText('Added a permission to shared').waitFor()
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: 'shared', AttributeNames: ['Policy'] }),
  )
  const [statement] = JSON.parse(Attributes.Policy).Statement
  assert.deepEqual(statement.Principal, { AWS: ['111122223333'] })
  assert.deepEqual(statement.Action, ['sqs:SendMessage'])
  await page.getByLabel('Principal', { exact: true }).fill('111122223333')
  await button('Explain').click()
  await page.getByText('Allowed', { exact: true }).waitFor()
  await picture('access')
})

scenario('where a policy is no JSON', async ({ page, open, button, audit }) => {
  await client.send(new CreateQueueCommand({ QueueName: 'written' }))
  await open('/queues/written/access')
  await button('Advanced').click()
  const policy = page.getByRole('textbox', { name: 'Policy' })
  const text = '{"Version": "2012-10-17",\n  "Statement": [}'
  await policy.fill(text)
  await page.getByText('line 2, column 17 should have a value or ].').waitFor()
  await audit()
  await button('Go to the mistake').click()
  assert.equal(await policy.evaluate((e) => e.selectionStart), text.indexOf('}'))
  await policy.fill('{"Statement": []}')
  await button('Format').click()
  assert.equal(await policy.inputValue(), '{\n  "Statement": []\n}')
})

scenario(
  'a user with little is told why',
  async ({ page, open, button, audit }) => {
    await client.send(new CreateQueueCommand({ QueueName: 'guarded' }))
    await open('/queues')
    await page
      .getByText('Not permitted', { exact: false })
      .or(page.getByText(/not permitted/))
      .first()
      .waitFor()
    await page.getByText('sluice:ListQueueStates').first().waitFor()
    await page.getByText('sqs:ListQueues', { exact: false }).first().waitFor()
    await page.getByLabel('Name of a queue that you may use').fill('guarded')
    await button('Open').click()
    await page.getByRole('heading', { name: 'guarded', level: 1 }).waitFor()
    await page.getByText('sluice:DescribeQueueState').first().waitFor()
    // What is refused is said before anything is typed.
    await page.locator('button[aria-disabled=true]', { hasText: 'Delete' }).hover()
    await page.getByText('You do not have the permission sqs:DeleteQueue.').filter({ visible: true }).waitFor()
    await audit()
    await open('/queues/guarded/browse')
    await page.getByText('Nothing searched').waitFor()
    await open('/queues/guarded/monitoring')
    await page.getByText('The metrics cannot be shown: not permitted').waitFor()
    await page.getByText(/cloudwatch:GetMetricData/).waitFor()
    await open('/users/somebody')
    await page.getByText('iam:GetUser').waitFor()
  },
  {
    as: () => newUser(`little-${process.pid}`, [{ Effect: 'Allow', Action: 'sqs:GetQueueUrl', Resource: '*' }]),
    expected: /40[03] \(/,
  },
)

scenario(
  'who may only list queues sees their names, and what SQS tells of them',
  async ({ page, open, button, audit, picture }) => {
    for (const QueueName of ['plain-counted', 'plain-named', 'plain-ordered.fifo']) {
      const Attributes = QueueName.endsWith('.fifo') ? { FifoQueue: 'true' } : {}
      await client.send(new CreateQueueCommand({ QueueName, Attributes }))
    }
    for (const MessageBody of ['1', '2', '3']) {
      await client.send(new SendMessageCommand({ QueueUrl: 'plain-counted', MessageBody }))
    }
    await open('/queues?find=PLAIN')
    await page.getByText('Rates, reasons and exact numbers require the permission sluice:ListQueueStates.').waitFor()
    await page
      .getByRole('row', { name: /plain-counted/ })
      .getByText('3', { exact: true })
      .waitFor()
    await page.getByRole('row', { name: /plain-named/ }).waitFor()
    assert.equal(await page.getByRole('row', { name: /plain-/ }).count(), 3)
    await audit()
    await picture('plain')
    await page.getByRole('button', { name: /^Show only/ }).click()
    await page.getByRole('option', { name: 'Standard queues' }).waitFor()
    assert.equal(await page.getByRole('option').count(), 3)
    await page.getByRole('option', { name: 'FIFO queues' }).click()
    await page.getByText('1 match').first().waitFor()
    await page.getByRole('link', { name: 'plain-ordered.fifo' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Command palette' }).fill('counted')
    await page.getByRole('option', { name: 'plain-counted' }).click()
    await page.getByRole('heading', { name: 'plain-counted', level: 1 }).waitFor()
    await button('Edit').waitFor()
    // The counters of SQS stand for the state.
    await page.getByText('Messages available').waitFor()
    await page.locator('.figure').first().getByText('3', { exact: true }).waitFor()
  },
  {
    as: () =>
      newUser(`lister-${process.pid}`, [
        { Effect: 'Allow', Action: 'sqs:ListQueues', Resource: '*' },
        { Effect: 'Allow', Action: 'sqs:GetQueueAttributes', Resource: 'arn:aws:sqs:*:*:*-counted' },
      ]),
    expected: /40[03] \(/,
  },
)

scenario(
  'a user who may create queues with some names may create queues',
  async ({ page, open, button }) => {
    await client.send(new CreateQueueCommand({ QueueName: 'team-first' }))
    await open('/queues?find=team-first')
    const checked = page.waitForResponse((r) => r.request().postData()?.includes('"QueueUrl":"team-first"'))
    await checked
    await page.getByRole('link', { name: 'team-first' }).waitFor()
    await page.locator('button:not([aria-disabled=true])', { hasText: 'Create queue' }).click()
    await page.getByLabel('Name', { exact: true }).fill('team-second')
    await button('Create queue').click()
    await page.getByRole('heading', { name: 'team-second', level: 1 }).waitFor()
  },
  {
    as: () =>
      newUser(`maker-${process.pid}`, [
        { Effect: 'Allow', Action: ['sluice:*'], Resource: '*' },
        { Effect: 'Allow', Action: 'sqs:*', Resource: 'arn:aws:sqs:*:*:team-*' },
      ]),
    audit: false,
    expected: /40[03] \(/,
  },
)

scenario(
  'a user who may look and not touch: what is refused is disabled, in the list, too',
  async ({ page, open, button, audit }) => {
    await client.send(new CreateQueueCommand({ QueueName: 'looked-at' }))
    await open('/queues?find=looked-at')
    await page.locator('button[aria-disabled=true]', { hasText: 'Create queue' }).hover()
    await page.getByText('You do not have the permission sqs:CreateQueue.').filter({ visible: true }).waitFor()
    await choose(page.getByRole('row', { name: /looked-at/ }))
    await page.locator('button[aria-disabled=true]', { hasText: 'Delete' }).waitFor()
    await button('Actions').click()
    await page.getByRole('menuitem', { name: /Purge/, disabled: true }).waitFor()
    await page.keyboard.press('Escape')
    await open('/queues/looked-at/messages')
    await page.locator('button[aria-disabled=true]', { hasText: 'Purge' }).hover()
    await page.getByText('A policy denies you sqs:PurgeQueue.').filter({ visible: true }).waitFor()
    await page.getByLabel('Message body').first().fill('x')
    await page.getByRole('button', { name: 'Send message', disabled: false }).waitFor()
    await audit()
  },
  {
    as: () =>
      newUser(`looker-${process.pid}`, [
        {
          Effect: 'Allow',
          Action: ['sluice:ListQueueStates', 'sluice:DescribeQueueState', 'sqs:SendMessage', 'sqs:PurgeQueue'],
          Resource: '*',
        },
        { Effect: 'Deny', Action: 'sqs:PurgeQueue', Resource: '*' },
      ]),
    expected: /40[03] \(/,
  },
)

scenario(
  'a page that may not show its content has its heading, and says what is missing',
  async ({ page, open }) => {
    for (const [address, heading, permission] of [
      ['/alarms/late', 'late', 'cloudwatch:DescribeAlarms'],
      ['/alarms/late/edit', 'Edit late', 'cloudwatch:DescribeAlarms'],
      ['/create-alarm?copy=late', 'Copy late', 'cloudwatch:DescribeAlarms'],
      ['/create-composite-alarm?copy=late', 'Copy late', 'cloudwatch:DescribeAlarms'],
      ['/topics/events/publish', 'Publish message to events', 'sns:ListTopics'],
    ]) {
      await open(address)
      await page.getByRole('heading', { name: heading, level: 1, exact: true }).waitFor()
      await page.getByText(`perform: ${permission}`).first().waitFor()
    }
  },
  {
    as: () => newUser('without-alarms', [{ Effect: 'Allow', Action: 'sqs:ListQueues', Resource: '*' }]),
    expected: /403/,
  },
)

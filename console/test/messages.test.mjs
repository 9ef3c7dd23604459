import assert from 'node:assert/strict'
import { CreateQueueCommand, PurgeQueueCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { eventually, sluice, sqs } from './api.mjs'
import { choose, scenario } from './rig.mjs'

const client = sqs()

async function filled(queue, messages, attributes = {}) {
  await client.send(new CreateQueueCommand({ QueueName: queue, Attributes: attributes }))
  for (const message of messages) {
    await client.send(new SendMessageCommand({ QueueUrl: queue, ...message }))
  }
}

scenario('send a message with attributes and a delay timer', async ({ page, open, button }) => {
  await filled('timers', [])
  await open('/queues/timers/messages')
  await page.getByLabel('Message body').fill('{"order": 12345678901234567890}')
  await page.getByRole('spinbutton', { name: 'Delivery delay' }).fill('300')
  await page.getByText('Message attributes', { exact: false }).first().click()
  await button('Add new attribute').click()
  await page.getByRole('textbox', { name: 'Name' }).fill('weight')
  await page.getByRole('button', { name: /^Type/ }).click()
  await page.getByRole('option', { name: 'Number' }).click()
  await page.getByRole('textbox', { name: 'Custom type' }).fill('kg')
  await page.getByRole('textbox', { name: 'Value' }).fill('1.5')
  await button('Send message').click()
  await page.getByText('Your message has been sent').waitFor()
  const { Messages } = await sluice('PeekMessages', { QueueUrl: 'timers', IncludeBody: true })
  assert.equal(Messages.length, 1)
  assert.equal(Messages[0].State, 'Delayed')
  assert.equal(Messages[0].Body, '{"order": 12345678901234567890}')
  assert.deepEqual(Messages[0].MessageAttributes, { weight: { DataType: 'Number.kg', StringValue: '1.5' } })
  await page.getByRole('list', { name: 'Notifications' }).getByRole('button', { name: 'View details' }).click()
  await page.getByRole('dialog').getByText(Messages[0].MessageId).waitFor()
})

scenario('view and delete messages', async ({ page, open, button, audit, picture }) => {
  await filled('viewed', [{ MessageBody: 'first' }, { MessageBody: 'second' }])
  await open('/queues/viewed/messages')
  // Nothing runs out before it has been looked at, on the slowest machine.
  await button('Edit poll settings').click()
  await page.getByRole('spinbutton', { name: 'Polling duration' }).fill('600')
  await page.getByRole('spinbutton', { name: 'Visibility timeout' }).fill('3600')
  await button('Poll for messages').click()
  await page.getByRole('row', { name: /second/ }).waitFor()
  await button('Stop polling').click()
  await button('Edit poll settings').click()
  await page.getByRole('progressbar', { name: 'Visibility timeout' }).waitFor()
  await audit()
  await picture('receive')
  await choose(page.getByRole('row', { name: /\bfirst\b/ }))
  await button('Delete').last().click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted 1 message').waitFor()
  await button('Return to queue').click()
  await page.getByText('No messages received').waitFor()
  // The page forgets messages before the server has them back.
  const { Messages } = await eventually(
    'the return',
    () => sluice('PeekMessages', { QueueUrl: 'viewed', IncludeBody: true }),
    ({ Messages }) => Messages.every((m) => m.State === 'Visible'),
  )
  assert.deepEqual(
    Messages.map((m) => m.Body),
    ['second'],
  )
})

scenario('look inside: search without touching', async ({ page, open, audit, picture }) => {
  await filled('inside', [
    { MessageBody: '{"order":{"id":17,"total":12345678901234567890}}' },
    { MessageBody: '{"order":{"id":18}}', DelaySeconds: 600 },
    { MessageBody: 'plain' },
  ])
  await open('/queues/inside/browse')
  await page.getByText('3 of 3 messages scanned').waitFor()
  await page.getByLabel('Search messages').fill('body.order.id:17')
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await page.getByRole('heading', { name: 'Messages (1)' }).waitFor()
  await picture('look-inside')
  await page
    .getByRole('link', { name: /^Message / })
    .first()
    .click()
  await page.getByText('"total": 12345678901234567890').waitFor()
  await audit()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Delayed' }).click()
  await page.getByText('No matches').waitFor()
  const { Messages } = await sluice('PeekMessages', { QueueUrl: 'inside' })
  assert.deepEqual(
    Messages.map((m) => m.ReceiveCount),
    [0, 0, 0],
  )
})

scenario('a message that was found is edited, copied and moved', async ({ page, open, button, audit }) => {
  await filled('found-dead', [])
  await filled('found', [
    { MessageBody: `${'-'.repeat(200)} poison` },
    { MessageBody: 'second poison', MessageAttributes: { tenant: { DataType: 'String', StringValue: 'acme' } } },
    { MessageBody: 'good' },
  ])
  const bodies = async (queue) => {
    const { Messages } = await sluice('PeekMessages', { QueueUrl: queue, IncludeBody: true })
    return Messages.map((m) => m.Body).sort()
  }
  await open('/queues/found/browse?filter=poison')
  await page.getByRole('heading', { name: 'Messages (2)' }).waitFor()
  assert.equal(await page.locator('td mark').count(), 2)
  await page
    .getByRole('link', { name: /^Message / })
    .first()
    .click()
  const details = page.getByRole('dialog', { name: 'Message details' })
  await details.locator('mark', { hasText: 'poison' }).waitFor()
  assert(await button('Previous message').isDisabled())
  await button('Next message').click()
  await details.getByText('second').waitFor()
  await audit()
  await details.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const editor = page.getByRole('dialog', { name: 'Edit message' })
  await editor.getByRole('textbox', { name: 'Message body' }).fill('second cured')
  await editor.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The message was edited').waitFor()
  await page.getByRole('heading', { name: 'Messages (1)' }).waitFor()

  await choose(page.getByRole('row', { name: /poison/ }))
  await button('Actions').last().click()
  await page.getByRole('menuitem', { name: 'Copy to a queue' }).click()
  await page.getByRole('combobox', { name: 'Destination' }).fill('found-dead')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
  await page.getByText('Copied 1 message to found-dead').waitFor()
  assert.equal((await bodies('found')).length, 3)

  await button('Actions').last().click()
  await page.getByRole('menuitem', { name: 'Move to a queue' }).click()
  await page.getByRole('combobox', { name: 'Destination' }).fill('found-dead')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click()
  await page.getByText('Moved 1 message to found-dead').waitFor()
  await page.getByText('No matches').waitFor()
  assert.deepEqual(await bodies('found'), ['good', 'second cured'])
  assert.equal((await bodies('found-dead')).length, 2)
})

scenario('messages that were found are deleted, also one in flight', async ({ page, open, button, audit }) => {
  await filled('poisoned', [{ MessageBody: 'poison' }, { MessageBody: 'good' }, { MessageBody: 'more poison' }])
  await client.send(new ReceiveMessageCommand({ QueueUrl: 'poisoned', VisibilityTimeout: 600, MaxNumberOfMessages: 1 }))
  await open('/queues/poisoned/browse?filter=poison')
  await page.getByRole('heading', { name: 'Messages (2)' }).waitFor()
  await choose(page.getByRole('row', { name: /poison/ }).first())
  await choose(page.getByRole('row', { name: /poison/ }).last())
  await button('Actions').last().click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByText('1 message is in flight').waitFor()
  await audit()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted 2 messages').waitFor()
  await page.getByText('No matches').waitFor()
  const { Messages } = await sluice('PeekMessages', { QueueUrl: 'poisoned', IncludeBody: true })
  assert.deepEqual(
    Messages.map((m) => m.Body),
    ['good'],
  )
})

scenario(
  'a search that makes no sense',
  async ({ page, open }) => {
    await filled('senseless', [])
    await open('/queues/senseless/browse')
    await page.getByLabel('Search messages').fill('age>yesterday')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText(/Filter:/).waitFor()
  },
  { expected: /400 \(/ },
)

scenario('follow new messages', async ({ page, open }) => {
  await filled('followed', [{ MessageBody: 'before' }])
  await open('/queues/followed/browse')
  await page.getByText('before').waitFor()
  await page.getByText('Follow new messages').click()
  await page.getByText('Following').waitFor()
  await client.send(new SendMessageCommand({ QueueUrl: 'followed', MessageBody: 'news' }))
  await page.getByText('news', { exact: true }).waitFor()
})

scenario('follow new messages with a clock that is ahead', async ({ page, open }) => {
  await filled('followed-ahead', [{ MessageBody: 'before' }])
  await page.addInitScript(() => {
    const ahead = 10 * 60_000
    const Real = Date
    globalThis.Date = class extends Real {
      constructor(...given) {
        super(...(given.length > 0 ? given : [Real.now() + ahead]))
      }
      static now() {
        return Real.now() + ahead
      }
    }
  })
  await open('/queues/followed-ahead/browse?follow=1')
  await page.getByText('Following').waitFor()
  // The page does not show from which moment on it follows: some of these messages are sent later.
  await eventually(
    'a message that was sent',
    async () => {
      await client.send(new SendMessageCommand({ QueueUrl: 'followed-ahead', MessageBody: 'news' }))
      return page.getByText('news', { exact: true }).count()
    },
    (shown) => shown > 0,
  )
})

scenario('groups of a FIFO queue', async ({ page, open }) => {
  await filled(
    'groups.fifo',
    [
      { MessageBody: '1', MessageGroupId: 'customer-1' },
      { MessageBody: '2', MessageGroupId: 'customer-1' },
      { MessageBody: '3', MessageGroupId: 'say:"hi"' },
    ],
    { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  )
  await client.send(new ReceiveMessageCommand({ QueueUrl: 'groups.fifo', VisibilityTimeout: 600 }))
  await open('/queues/groups.fifo/groups')
  await page
    .getByRole('row', { name: /customer-1/ })
    .getByText('First message in flight')
    .waitFor()
  await page.getByRole('link', { name: 'say:"hi"' }).click()
  await page
    .getByRole('link', { name: /^Message / })
    .first()
    .waitFor()
})

scenario('the first message of a group is deleted, and the group goes on', async ({ page, open, button }) => {
  await filled(
    'freed.fifo',
    [
      { MessageBody: 'poison', MessageGroupId: 'g' },
      { MessageBody: 'next', MessageGroupId: 'g' },
    ],
    { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  )
  await client.send(new ReceiveMessageCommand({ QueueUrl: 'freed.fifo', VisibilityTimeout: 600 }))
  await open('/queues/freed.fifo/groups')
  await page.getByText('First message in flight').waitFor()
  await button('Actions on group g').click()
  assert.equal(await page.getByRole('menuitem', { name: 'Move to a queue' }).getAttribute('aria-disabled'), 'true')
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Deleted 1 message').waitFor()
  await page.getByText('Ready').waitFor()
})

scenario('a group is paused and resumed', async ({ page, open, button, audit }) => {
  await filled(
    'held.fifo',
    [
      { MessageBody: 'a', MessageGroupId: 'customer-1' },
      { MessageBody: 'b', MessageGroupId: 'customer-2' },
    ],
    { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  )
  const received = async () => {
    const input = { QueueUrl: 'held.fifo', MaxNumberOfMessages: 10, VisibilityTimeout: 0 }
    return ((await client.send(new ReceiveMessageCommand(input))).Messages ?? []).map((m) => m.Body).sort()
  }
  await open('/queues/held.fifo/groups')
  await button('Actions on group customer-1').click()
  await page.getByRole('menuitem', { name: 'Pause group' }).click()
  await page.getByText('Group customer-1 is paused').waitFor()
  await page
    .getByRole('row', { name: /customer-1/ })
    .getByText('Paused')
    .waitFor()
  await audit()
  assert.deepEqual(await received(), ['b'])
  await client.send(new PurgeQueueCommand({ QueueUrl: 'held.fifo' }))
  await open('/queues/held.fifo/groups')
  await page.reload()
  await page.getByRole('row', { name: /customer-1/ }).waitFor() // without messages
  await button('Actions on group customer-1').click()
  await page.getByRole('menuitem', { name: 'Resume group' }).click()
  await page.getByText('Group customer-1 is no longer paused').waitFor()
  await page.getByText('There are no message groups').waitFor()
})

scenario('a search is saved, used in another queue and forgotten', async ({ page, open, button }) => {
  await filled('searched', [{ MessageBody: 'hay' }])
  await filled('searched-too', [{ MessageBody: 'needle' }])
  await open('/queues/searched/browse?filter=needle')
  await button('Saved searches').click()
  await page.getByRole('menuitem', { name: 'Save this search' }).click()
  await open('/queues/searched-too/browse')
  await button('Saved searches').click()
  await page.getByRole('menuitem', { name: 'needle' }).click()
  await page.getByRole('heading', { name: 'Messages (1)' }).waitFor()
  await button('Saved searches').click()
  await page.getByRole('menuitem', { name: 'Forget this search' }).click()
  await button('Saved searches').click()
  assert.equal(await page.getByRole('menuitem', { name: 'needle' }).count(), 0)
})

scenario('consumers', async ({ page, open }) => {
  await filled('consumed', [{ MessageBody: 'x' }])
  await client.send(new ReceiveMessageCommand({ QueueUrl: 'consumed' }))
  await open('/queues/consumed/consumers')
  await page.getByRole('row', { name: /:root/ }).getByText('127.0.0.1').waitFor()
})

import assert from 'node:assert/strict'
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  TagQueueCommand,
} from '@aws-sdk/client-sqs'
import { eventually, sluice, sqs } from './api.mjs'
import { choose, scenario } from './rig.mjs'

const client = sqs()

async function create(QueueName, Attributes = {}) {
  await client.send(new CreateQueueCommand({ QueueName, Attributes }))
  const answer = await client.send(new GetQueueAttributesCommand({ QueueUrl: QueueName, AttributeNames: ['QueueArn'] }))
  return answer.Attributes.QueueArn
}

async function send(QueueUrl, bodies, more = {}) {
  const Entries = bodies.map((MessageBody, i) => ({ Id: `m${i}`, MessageBody, ...more }))
  await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
}

/** fail receives the messages of a queue as a consumer does that cannot process them, until they are dead letters. */
async function fail(QueueUrl, dead, n) {
  await eventually(
    `the dead letters in ${dead}`,
    async () => {
      await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 0 }))
      return (await peek(dead)).length
    },
    (found) => found === n,
  )
}

async function peek(queue) {
  return (await sluice('PeekMessages', { QueueUrl: queue, IncludeBody: true })).Messages
}

async function bodies(queue, n) {
  const found = await eventually(
    `the messages of ${queue}`,
    async () => (await peek(queue)).map((m) => m.Body),
    (list) => list.length === n,
  )
  return found.sort()
}

/** ended waits until no task moves messages out of a queue: there can be one at a time. */
async function ended(queue) {
  await eventually(
    `the tasks of ${queue}`,
    async () => (await sluice('ListRedriveTasks', { QueueUrl: queue })).Tasks.map((t) => t.Status),
    (list) => !list.includes('RUNNING'),
  )
}

scenario('find the message that fails, mend it, resend the others', async ({ page, open, button, audit, picture }) => {
  const dead = await create('shop-dead')
  await create('shop', { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: 1 }) })
  const orders = ['{"order":1,"sum":"x"}', '{"order":2,"sum":20}', '{"order":3,"sum":30}']
  await send('shop', orders)
  await fail('shop', 'shop-dead', 3)

  await open('/queues/shop-dead/redrive')
  await page.getByRole('searchbox', { name: 'Which messages' }).fill('body.order:1')
  await button('Find').click()
  await page.getByRole('heading', { name: 'Messages (1)' }).waitFor()
  await page.getByRole('checkbox', { name: /^Choose message/ }).click()
  await button('Edit and resend').click()
  const dialog = page.getByRole('dialog', { name: 'Edit and resend' })
  await dialog.getByRole('textbox', { name: 'Message body' }).fill('{"order":1,"sum":10}')
  await dialog.getByText('Difference', { exact: true }).waitFor()
  await button('Add new attribute').click()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('mended')
  await dialog.getByRole('textbox', { name: 'Value' }).fill('by hand')
  await dialog.getByText('+ mended (String): by hand').waitFor()
  await button('Dry run').click()
  await dialog.getByText('Dry run: 1 message would be moved').waitFor()
  await dialog.getByText('1 to shop', { exact: true }).waitFor()
  await audit()
  await picture('edit')
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('The redrive has begun').waitFor()
  assert.deepEqual(await bodies('shop', 1), ['{"order":1,"sum":10}'])
  await ended('shop-dead')

  await page.getByRole('searchbox', { name: 'Which messages' }).fill('body.order:2')
  await button('Find').click()
  await page.getByRole('row', { name: /"order":2/ }).waitFor()
  await button('Redrive all matches').click()
  await page.getByRole('dialog').getByText('body.order:2').waitFor()
  await page.getByRole('dialog').getByText('Dry run: 1 message would be moved').waitFor()
  await page.getByRole('dialog').getByText(orders[1]).waitFor()
  await audit()
  await page.getByRole('dialog').getByRole('button', { name: 'Redrive', exact: true }).click()
  assert.deepEqual(await bodies('shop', 2), ['{"order":1,"sum":10}', orders[1]])
  assert.deepEqual(await bodies('shop-dead', 1), [orders[2]])
  await page.getByText('Completed').nth(1).waitFor()
  await audit()
})

scenario(
  'what a velocity may be is said',
  async ({ page, open, button }) => {
    await create('slow-dead')
    await open('/queues/slow-dead/redrive')
    await page.getByLabel('Velocity').fill('501')
    await button('Redrive messages').click()
    await page.getByRole('dialog').getByText('No dry run').waitFor() // it is no queue's dead-letter queue
    await page.getByRole('dialog').getByRole('button', { name: 'Redrive', exact: true }).click()
    await page.getByText('The velocity must be between 1 and 500 messages a second.').waitFor()
  },
  { expected: /400 \(/ },
)

scenario(
  'a dry run says what would stay, and what is refused',
  async ({ page, open, button }) => {
    const dead = await create('lost-dead')
    await create('lost', { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: 1 }) })
    await send('lost-dead', ['a', 'b'])
    await open('/queues/lost-dead/redrive')
    await button('Redrive messages').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Dry run: 0 messages would be moved').waitFor()
    await dialog.getByText('2 messages would stay').waitFor()
    assert(await dialog.getByRole('button', { name: 'Redrive', exact: true }).isDisabled())
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Redrive to custom destination').click()
    await page.getByRole('combobox', { name: 'Destination' }).fill('nowhere-to-go')
    await page.keyboard.press('Escape')
    await button('Redrive messages').click()
    await dialog.getByText(/No dry run/).waitFor()
  },
  { expected: /400 \(/ },
)

scenario('an edit that has nowhere to go is not lost', async ({ page, open, button }) => {
  const dead = await create('stuck-dead')
  await create('stuck', { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: 1 }) })
  await send('stuck-dead', ['sent here'])
  await open('/queues/stuck-dead')
  await page.getByText('1 message failed in stuck.').waitFor()
  await open('/queues/stuck-dead/redrive')
  await page.getByRole('checkbox', { name: /^Choose message/ }).click()
  await button('Edit and resend').click()
  const dialog = page.getByRole('dialog', { name: 'Edit and resend' })
  await dialog.getByRole('textbox', { name: 'Message body' }).fill('mended')
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await dialog.getByText('1 message would stay').waitFor()
  assert(await dialog.getByRole('button', { name: 'Resend' }).isDisabled())
  await dialog.getByRole('button', { name: 'Choose stuck as the destination' }).click()
  assert.equal(await dialog.getByRole('textbox', { name: 'Message body' }).inputValue(), 'mended')
  await dialog.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('The redrive has begun').waitFor()
  assert.deepEqual(await bodies('stuck', 1), ['mended'])

  // A task that moves nothing says so.
  await ended('stuck-dead')
  await sluice('RedriveMessages', { QueueUrl: 'stuck-dead', Filter: 'absent' })
  await page.getByText('Nothing moved').waitFor()
})

scenario('groups are of all messages, and each is a filter', async ({ page, open, button, audit }) => {
  const dead = await create('grouped-dead')
  await create('grouped', { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: 1 }) })
  const error = (StringValue) => ({ MessageAttributes: { error: { DataType: 'String', StringValue } } })
  for (let i = 0; i < 7; i++) {
    await send('grouped-dead', Array(10).fill('x'), i < 5 ? error('timed out') : i < 6 ? error('refused') : {})
  }
  await open('/queues/grouped-dead/redrive?by=attr.error')
  await page.getByText('Of all 70 messages that match.').waitFor()
  await page
    .getByRole('row', { name: /timed out/ })
    .getByText('50', { exact: true })
    .waitFor()
  await page
    .getByRole('row', { name: /without it/ })
    .getByText('10', { exact: true })
    .waitFor()
  await audit()
  const group = page.getByRole('row', { name: /refused/ })
  await group.getByRole('button', { name: 'Show refused' }).click()
  await page.getByRole('heading', { name: 'Messages (10)' }).waitFor()
  assert.equal(await page.getByRole('searchbox', { name: 'Which messages' }).inputValue(), 'attr.error:"refused"')
  await button('Redrive all matches').waitFor()
})

scenario(
  'a group is redriven or deleted, and the key is chosen by itself',
  async ({ page, open, button, audit, picture }) => {
    const dead = await create('payments-dead')
    await create('payments', { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: 1 }) })
    const errors = ['CardDeclined', 'TimeoutError', 'TimeoutError', 'UnknownCurrency']
    await send(
      'payments',
      [0, 1, 2, 3, 4, 5, 6, 7].map((i) => JSON.stringify({ order: i, error: errors[i % 4] })),
    )
    await fail('payments', 'payments-dead', 8)

    await open('/queues/payments-dead/redrive')
    await page.getByText('Of all 8 messages that match.').waitFor()
    assert.equal(await page.getByRole('textbox', { name: 'Attribute or path' }).inputValue(), 'error')
    await audit()
    await picture('groups')
    await button('Redrive TimeoutError').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Dry run: 4 messages would be moved').waitFor()
    await dialog.getByRole('button', { name: 'Redrive', exact: true }).click()
    await page.getByText('Of all 4 messages that match.').waitFor()
    await page.getByText('Completed').waitFor()
    await button('Delete UnknownCurrency').click()
    await dialog.getByText('body.error:"UnknownCurrency"').waitFor()
    await dialog.getByRole('textbox').fill('delete')
    await audit()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Deleted 2 messages').waitFor()
    assert.deepEqual(await bodies('payments-dead', 2), [
      '{"order":0,"error":"CardDeclined"}',
      '{"order":4,"error":"CardDeclined"}',
    ])
    assert.equal((await bodies('payments', 4)).length, 4)
  },
)

scenario('a dead letter that a search has found returns to its source queue', async ({ page, open, button }) => {
  const arn = await create('returned-dead')
  await create('returned', { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arn, maxReceiveCount: 1 }) })
  await send('returned', ['keep', 'give back'])
  await fail('returned', 'returned-dead', 2)
  await open('/queues/returned-dead/browse?filter=back')
  await choose(page.getByRole('row', { name: /give back/ }))
  await button('Actions').last().click()
  await page.getByRole('menuitem', { name: 'Return to source queue' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Return', exact: true }).click()
  await page.getByText('Returned 1 message to the source queue').waitFor()
  assert.deepEqual(await bodies('returned', 1), ['give back'])
  assert.deepEqual(await bodies('returned-dead', 1), ['keep'])
})

scenario('queues at work', async ({ page, open, picture }) => {
  const dead = await create('at-work-orders-dead')
  await create('at-work-orders', { RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead, maxReceiveCount: 1 }) })
  await create('at-work-emails')
  await create('at-work-invoices')
  await create('at-work-ledger.fifo', { FifoQueue: 'true', ContentBasedDeduplication: 'true' })
  await create('at-work-reports')
  await send('at-work-orders', ['a', 'b', 'c'])
  await fail('at-work-orders', 'at-work-orders-dead', 3)
  for (let i = 0; i < 9; i++) {
    await send('at-work-orders', Array(10).fill(`order ${i}`))
    await send('at-work-invoices', Array(7).fill(`invoice ${i}`))
    await send('at-work-ledger.fifo', [`entry ${i}`], { MessageGroupId: `account-${i % 3}` })
  }
  await send('at-work-emails', Array(5).fill('later'), { DelaySeconds: 600 })
  await client.send(new TagQueueCommand({ QueueUrl: 'at-work-reports', Tags: { 'sluice:delivery': 'paused' } }))
  await send('at-work-reports', ['x', 'y'])
  for (const QueueUrl of ['at-work-orders', 'at-work-ledger.fifo']) {
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages[0].ReceiptHandle }))
  }
  await open('/queues?find=at-work')
  await page.getByText('3 dead letters').first().waitFor()
  await page.getByText('Paused').waitFor()
  await picture('queues')
})

// What messages, names and tags say is text, whatever it looks like.
import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand, TagQueueCommand } from '@aws-sdk/client-sqs'
import { receiveAs, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const client = sqs()

const corpus = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "'-alert(1)-'",
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '{{constructor.constructor("alert(1)")()}}',
  '</textarea><script>alert(1)</script>',
  '<math><mtext></p><style><img src=x onerror=alert(1)>',
  '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;<script>alert(1)</script></a>',
  `{"__proto__": {"polluted": true}, "html": "<img src=x onerror=alert(1)>"}`,
  Buffer.from('<img src=x onerror=alert(1)>').toString('base64'),
  '\u202etxt.exe \u0000'.replace('\u0000', '\u00a0'),
  'https://example.com/track.png',
  `=HYPERLINK("https://example.com","x")`,
]

scenario('hostile bodies, attributes and groups', async ({ page, open, audit }) => {
  await client.send(
    new CreateQueueCommand({
      QueueName: 'hostile.fifo',
      Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
    }),
  )
  for (const [i, text] of corpus.entries()) {
    await client.send(
      new SendMessageCommand({
        QueueUrl: 'hostile.fifo',
        MessageBody: text,
        MessageGroupId: /^[\x21-\x7e]+$/.test(text) && text.length <= 128 ? text : `group-${i}`,
        MessageAttributes: { said: { DataType: 'String.<b>x</b>'.replace(/[<>/]/g, ''), StringValue: text } },
      }),
    )
  }
  await open('/queues/hostile.fifo/browse')
  await page.getByText(`${corpus.length} of ${corpus.length} messages scanned`).waitFor()
  const links = page.getByRole('link', { name: /^Message / })
  for (let i = 0; i < corpus.length; i++) {
    await links.nth(i).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('tab', { name: /Attributes/ }).click()
    await dialog.getByText('said').waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
  }
  await open('/queues/hostile.fifo/groups')
  await page
    .getByText('<img src=x onerror=alert(1)>')
    .or(page.getByText('group-1', { exact: true }))
    .first()
    .waitFor()
  await audit()
  await client.send(new ReceiveMessageCommand({ QueueUrl: 'hostile.fifo', MaxNumberOfMessages: 10 }))
  await open('/queues/hostile.fifo/consumers')
  await page.getByRole('row', { name: /:root/ }).waitFor()
})

scenario('hostile tags, filters and agents', async ({ page, open }) => {
  await client.send(new CreateQueueCommand({ QueueName: 'tagged' }))
  await client.send(new TagQueueCommand({ QueueUrl: 'tagged', Tags: { owner: 'javascript:alert', constructor: 'x' } }))
  await open('/queues/tagged/tags')
  await page.locator('input[value="javascript:alert"]').waitFor()
  await open('/queues?find=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E')
  await page.getByText('No matches').waitFor()
  await receiveAs('tagged', '<img src=x onerror=alert(1)>')
  await open('/queues/tagged/consumers')
  await page.getByText('<img src=x onerror=alert(1)>').waitFor()
})

scenario(
  'a hostile name in an address',
  async ({ page, open }) => {
    await open('/queues/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E')
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)>' }).waitFor()
  },
  { expected: /400 \(|404 \(/ },
)

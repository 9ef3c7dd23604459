// The server is really stopped, and started again, while pages are open in tabs of one browser.
import assert from 'node:assert/strict'
import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { sqs } from '../api.mjs'
import { scenario } from '../rig.mjs'

const client = sqs()

async function order(what) {
  const answer = await fetch(`${process.env.SLUICE_CONSOLE_CONTROL}/${what}`, { method: 'POST' })
  assert.ok(answer.ok, await answer.text())
}

scenario(
  'while the server restarts each page says so, keeps what it shows and what was typed, and goes on by itself',
  async ({ page, context, endpoint, audit }) => {
    await client.send(new CreateQueueCommand({ QueueName: 'kept' }))
    await client.send(new SendMessageCommand({ QueueUrl: 'kept', MessageBody: 'the message' }))
    const tab = async (address, ...shown) => {
      const opened = await context.newPage()
      await opened.goto(`${endpoint}/console/#${address}`)
      await opened.getByRole('heading', { level: 1 }).waitFor()
      for (const text of shown) {
        await opened.getByText(text).filter({ visible: true }).first().waitFor()
      }
      return { address, opened, shown }
    }
    const tabs = [
      await tab('/home', /checked at/, 'See consumers'),
      await tab('/queues', 'No consumer'),
      await tab('/queues/kept', 'Messages available', 'No consumer has received'),
      await tab('/queues/kept/browse', 'the message'),
      await tab('/queues/kept/monitoring', 'Messages available'),
      await tab('/map', 'kept'),
      await tab('/users', 'There are no users yet'),
    ]
    const typing = await context.newPage()
    const form = await tab('/create-queue')
    await form.opened.getByLabel('Name', { exact: true }).fill('typed')
    await typing.goto(`${endpoint}/console/#/queues/kept`)
    await typing.getByRole('button', { name: 'Purge', exact: true }).click()
    const word = typing.getByRole('dialog').getByRole('textbox')
    await word.fill('purge')
    tabs.push(form, { address: 'the dialog', opened: typing, shown: [] })

    const gone = (opened) => opened.getByText('The server does not answer', { exact: true })
    await order('stop')
    for (const { opened, shown } of tabs) {
      await opened.bringToFront()
      await gone(opened).first().waitFor()
      await opened.getByRole('heading', { level: 1 }).waitFor()
      for (const text of shown) {
        await opened.getByText(text).filter({ visible: true }).first().waitFor()
      }
      assert.equal(await opened.getByText('The points could not be loaded.').count(), 0)
    }
    // What is sent meanwhile is refused, and stays.
    await typing.getByRole('dialog').getByRole('button', { name: 'Purge' }).click()
    await typing.getByRole('dialog').getByText('The server does not answer').waitFor()
    assert.equal(await word.inputValue(), 'purge')
    await page.bringToFront()
    await gone(page).waitFor()
    await audit()

    await order('start')
    for (const { address, opened, shown } of tabs) {
      await opened.bringToFront()
      await opened.getByText('This page shows its last answer.').waitFor({ state: 'detached' })
      for (const text of shown) {
        await opened.getByText(text).filter({ visible: true }).first().waitFor()
      }
      assert.equal(await opened.getByRole('heading', { name: /Sign in/ }).count(), 0, `${address} has signed out`)
    }
    assert.equal(await form.opened.getByLabel('Name', { exact: true }).inputValue(), 'typed')
    await form.opened.bringToFront()
    await form.opened.getByRole('button', { name: 'Create queue' }).last().click()
    await form.opened.getByRole('heading', { name: 'typed', level: 1 }).waitFor()
    await typing.bringToFront()
    await typing.getByRole('dialog').getByRole('button', { name: 'Purge' }).click()
    await typing.getByRole('dialog').waitFor({ state: 'detached' })
    await typing.getByText('The queue is empty.').waitFor()
  },
  { expected: /ERR_/ },
)

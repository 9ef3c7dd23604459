import assert from 'node:assert/strict'
import { CreateQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { newUser, sluice, sqs } from './api.mjs'
import { scenario } from './rig.mjs'

const account = '000000000000'

scenario(
  'limit a user, see what was refused, and take the limit away',
  async ({ page, open, button, audit, picture }) => {
    const keys = await newUser('limited', [{ Effect: 'Allow', Action: 'sqs:*', Resource: '*' }])
    await sqs().send(new CreateQueueCommand({ QueueName: 'limited' }))
    const receive = () => sqs(keys).send(new ReceiveMessageCommand({ QueueUrl: 'limited' }))
    const dialog = page.getByRole('dialog')

    await open('/limits')
    await button('Create limit').first().click()
    await dialog.getByLabel('Account or user').fill(`${account}/limited`)
    assert.equal(await dialog.getByLabel('Queues').count(), 0, 'users have no limit of queues')
    await dialog.getByLabel('Receives per second').fill('many')
    await dialog.getByText('Enter a whole number, or leave the field empty for no limit.').waitFor()
    await dialog.getByLabel('Receives per second').fill('0')
    await dialog.getByLabel('Sends per second').fill('500')
    await audit()
    await dialog.getByRole('button', { name: 'Set limits' }).click()
    await page.getByText(`Limits of ${account}/limited set`).waitFor()
    await page.getByText('0 of 500').waitFor()
    await assert.rejects(receive(), /throttled/i)
    await page.keyboard.press('r')
    await page.getByText(/0 of 0, [0-9]+ refused/).waitFor()
    await picture('limits')

    await button(`Edit the limits of ${account}/limited`).click()
    await dialog.getByLabel('Receives per second').fill('')
    await dialog.getByRole('button', { name: 'Set limits' }).click()
    await page.getByText(/refused/).waitFor({ state: 'detached' })
    await receive()
    const { Limits } = await sluice('GetLimits', { AccountId: account, UserName: 'limited' })
    assert.deepEqual(Limits, { SendsPerSecond: 500 })

    await page.getByRole('checkbox', { name: `Select ${account}/limited` }).click()
    await button('Delete').click()
    await dialog.getByRole('button', { name: 'Delete 1 limit' }).click()
    await page.getByText('1 limit deleted').waitFor()
    await page.getByText('There are no limits yet').waitFor()
  },
)

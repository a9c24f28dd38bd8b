import { Webhook } from 'standardwebhooks'
import { answerWith, eventReceiver } from '#testing/event-receiver.ts'
import { makeQuote, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, expect, looks, openWindow, ownApp, test } from '../testing/pages.ts'

test('an admin adds an endpoint, sees its deliveries, and resends an event', { tag: '@long' }, async () => {
  const app = await ownApp({
    rateLimit: 'real',
    config: { events: { allowPrivate: ['127.0.0.1'] } },
    sendEvents: { everyMs: 50 },
  })
  const receiver = await eventReceiver()
  try {
    const tenant = await makeTenant(app)
    const { page, troubles } = await openWindow({
      url: app.url,
      person: tenant,
      refusalsExpected: true,
    })
    await page.goto('/settings/developers?tab=events')
    await page.getByText('No addresses yet').waitFor()
    const address = page.getByLabel('Endpoint URL')
    await address.fill('https://10.0.0.1/')
    await page.getByRole('button', { name: 'Add address' }).click()
    await page.getByText('ust be on the public internet').waitFor()
    await address.fill(receiver.url)
    await page.getByLabel('a rate is quoted').click()
    await page.getByRole('button', { name: 'Add address' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save this event secret now' })
    const secret = (await dialog.locator('code').textContent()) ?? ''
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.content()).not.toContain(secret)

    await page.getByRole('button', { name: 'Test: address 1' }).click()
    await receiver.until((all) => all.length === 1)
    const [first] = receiver.received
    expect(new Webhook(secret).verify(first?.body ?? '', first?.headers ?? {})).toMatchObject({
      type: 'endpoint.test',
    })
    await page
      .getByRole('row', { name: /endpoint\.test/ })
      .getByText('Delivered')
      .waitFor()

    receiver.answer = answerWith(503, 'restarting')
    const quote = await makeQuote(app, tenant, { outcome: 'won' })
    const row = page.getByRole('row', { name: new RegExp(quote.lane_ref) })
    await row.getByText('Waiting').waitFor()
    await row.getByText('restarting').waitFor()
    receiver.answer = answerWith(204)

    await page.getByRole('button', { name: 'Rotate secret: address 1' }).click()
    const rotating = page.getByRole('dialog', { name: 'Rotate the secret of this address?' })
    await rotating.getByRole('button', { name: 'Rotate secret' }).click()
    await dialog.getByText('Both secrets are valid until').waitFor()
    const next = (await dialog.locator('code').textContent()) ?? ''
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByText('Two secrets are valid until').waitFor()

    const known = receiver.received.length
    await page
      .getByRole('row', { name: /endpoint\.test/ })
      .getByRole('button', { name: /Resend/ })
      .click()
    await receiver.until((all) => all.slice(known).some(({ event }) => event.type === 'endpoint.test'))
    const again = receiver.received.findLast(({ event }) => event.type === 'endpoint.test')
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    for (const held of [secret, next]) {
      expect(new Webhook(held).verify(again?.body ?? '', again?.headers ?? {})).toBeDefined()
    }

    await page.getByRole('button', { name: 'Pause: address 1' }).click()
    await page.getByText('Paused').waitFor()
    for (const { colorScheme, width } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      expect(await accessibilityProblems(page)).toEqual([])
    }
    await page.getByRole('button', { name: 'Remove: address 1' }).click()
    await page.getByRole('button', { name: 'Remove address' }).click()
    await page.getByText('No addresses yet').waitFor()
    expect(troubles).toEqual([])
  } finally {
    await receiver.close()
    await app.close()
  }
})

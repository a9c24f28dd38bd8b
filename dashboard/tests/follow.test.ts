import { expect, test } from 'vitest'
import { call, makeLane, makeTenant } from '#testing/make.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

test('a lane is followed from its page, is in the list of what the person follows, and leaves it', async () => {
  const tenant = await makeTenant(app)
  await makeLane(app, tenant)
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant })
  await page.goto(
    `/lane?${new URLSearchParams({ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V' })}`,
  )
  await page.getByRole('button', { name: 'Follow this lane' }).click()
  await page.getByRole('button', { name: 'Following this lane', pressed: true }).waitFor()

  await page.goto('/settings/account')
  const list = page.getByRole('list', { name: 'What you follow' })
  await list.getByText('Nothing has moved.', { exact: false }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await list.getByRole('link', { name: 'Dallas, TX to Atlanta, GA, V' }).click()
  await page.getByRole('button', { name: 'Following this lane', pressed: true }).waitFor()
  await page.goBack()
  await list.getByRole('button', { name: 'Stop following Dallas, TX to Atlanta, GA, V' }).click()
  await page.getByText('You do not follow anything yet').waitFor()
  const { body } = await call(app, 'GET', '/api/watches', { token: tenant.owner })
  expect(body.watches).toEqual([])
  expect(troubles).toEqual([])
})

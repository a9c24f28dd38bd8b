import { expect, test } from 'vitest'
import { call, makeLane, makeTenant, setColumns } from '#testing/make.ts'
import { accessibilityProblems, openWindow } from '../testing/browser.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

test('the weekly report is shown with the figures of last week, and its mail is turned off and on', {
  tags: 'long',
}, async () => {
  const tenant = await makeTenant(app)
  const { lane_id } = await makeLane(app, tenant, { outcome: 'won' })
  await makeLane(app, tenant, { outcome: 'lost' })
  const report = async () => (await call(app, 'GET', '/api/weekly-report', { token: tenant.owner })).body
  const { first_day: monday } = await report()
  await setColumns(app, tenant, lane_id, {
    created_at: new Date(`${monday}T15:00:00Z`),
    booked_at: new Date(`${monday}T16:00:00Z`),
    customer_rate_cents: 200_000,
    truck_cost_cents: 150_000,
  })
  const { page, troubles } = await openWindow(browser, app.url, { person: tenant })
  await page.goto('/settings/account')
  const mailMe = page.getByRole('checkbox', { name: 'Mail me the weekly report' })
  expect(await mailMe.isChecked()).toBe(true)
  await page.getByText('There is no mail server, so no report is mailed.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Show the report' }).click()
  const shown = page.getByRole('region', { name: 'The last week' })
  const figures = shown.getByRole('region', { name: 'Figures of the week' })
  await figures.getByText('$500', { exact: true }).waitFor()
  await figures.getByText('25.0%', { exact: true }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])

  await mailMe.click()
  await expect.poll(async () => (await report()).mail).toBe(false)
  await page.reload()
  await mailMe.waitFor()
  expect(await mailMe.isChecked()).toBe(false)
  await mailMe.click()
  await expect.poll(async () => (await report()).mail).toBe(true)
  await shown.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show the report' }).click()
  await shown.getByRole('link', { name: 'Open these days in Results' }).click()
  await page.getByRole('heading', { name: 'Results', level: 1 }).waitFor()
  expect(new URL(page.url()).searchParams.get('from')).toBe(monday)
  expect(troubles).toEqual([])
})

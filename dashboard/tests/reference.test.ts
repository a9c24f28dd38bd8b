import { allEndpoints } from '#contract/all-endpoints.ts'
import { app, expect, test } from '../testing/pages.ts'

test('the reference shows every operation in a browser without JavaScript', async ({ browser }) => {
  const context = await browser.newContext({ baseURL: app.url, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto('/docs')
  const headings = await page.locator('section > h3').allInnerTexts()
  expect(headings).toEqual(
    expect.arrayContaining(allEndpoints.map(({ method, path }) => `${method} ${path}`)),
  )
  await page.locator('a[href="#push-quotes"]').click()
  const section = page.locator('#push-quotes')
  await expect(section.getByText('quotes[].external_id', { exact: true }).first()).toBeVisible()
  const program = section.locator('details', { has: page.getByText('Python', { exact: true }) })
  await expect(program.locator('pre')).toBeHidden()
  await program.locator('summary').click()
  await expect(program.locator('pre')).toContainText('hmac.new(')
  await context.close()
})

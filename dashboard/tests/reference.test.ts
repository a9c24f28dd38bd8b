import { expect, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { serviceAndBrowser } from '../testing/service-and-browser.ts'

const { app, browser } = await serviceAndBrowser()

test('the reference shows every operation in a browser without JavaScript', async () => {
  const context = await browser.newContext({ baseURL: app.url, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto('/docs')
  const headings = await page.locator('section > h3').allInnerTexts()
  expect(headings).toEqual(
    expect.arrayContaining(allEndpoints.map(({ method, path }) => `${method} ${path}`)),
  )
  await page.locator('a[href="#push-quotes"]').click()
  const section = page.locator('#push-quotes')
  expect(await section.getByText('quotes[].external_id', { exact: true }).first().isVisible()).toBe(true)
  const program = section.locator('details', { has: page.getByText('Python', { exact: true }) })
  expect(await program.locator('pre').isVisible()).toBe(false)
  await program.locator('summary').click()
  expect(await program.locator('pre').innerText()).toContain('hmac.new(')
  await context.close()
})

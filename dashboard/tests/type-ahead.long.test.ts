import { expect, test } from 'vitest'
import { makeTenant } from '#testing/make.ts'
import { testApp } from '#testing/test-app.ts'
import { openBrowser, openWindow } from '../testing/browser.ts'
import {
  addLanes,
  answerLate,
  cities,
  lanesAtOnce,
  latencies,
  typeCities,
} from '../testing/late-suggestions.ts'

// Each city at one of the latencies. With EVERY_LOOK=1, each city at every latency.
const citiesAt = (at: number) =>
  cities.filter((_, index) => process.env.EVERY_LOOK !== undefined || index % latencies.length === at)

test('40 typed cities on the desk are accepted correctly, with Enter and with Tab', {
  timeout: 300_000,
}, async () => {
  const [app, browser] = await Promise.all([testApp(), openBrowser()])
  try {
    const person = await makeTenant(app)
    for (const [at, [name, latency]] of latencies.entries()) {
      const { page } = await openWindow(browser, app.url, { person, refusalsExpected: true })
      await page.goto('/')
      await page.getByRole('combobox', { name: 'Origin', exact: true }).waitFor()
      await addLanes(page)
      const asked = await answerLate(page, latency)
      const mine = citiesAt(at)
      for (let from = 0; from < mine.length; from += lanesAtOnce) {
        const { wanted, held } = await typeCities(page, mine.slice(from, from + lanesAtOnce), asked)
        await expect.poll(held, { timeout: 15_000, message: name }).toEqual(wanted)
      }
      await page.close()
    }
  } finally {
    await browser.close()
    await app.close()
  }
})

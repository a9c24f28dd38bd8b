import { pushOutcomes, pushQuotes } from '#contract/push-quotes.ts'
import type { TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, pushSigned, requireStatus } from '#testing/make.ts'
import { accessibilityProblems, expect, openWindow, ownApp, test } from '../testing/pages.ts'

let app: TestApp
let integration: Integration

const cities = ['Atlanta, GA', 'Denver, CO', 'Laredo, TX', 'Memphis, TN', 'Chicago, IL', 'Omaha, NE']
const hour = 3_600_000

/** 48 quotes. An hour later, all but two are decided; the cheaper ones are won more often. */
async function pushDecided(name: string) {
  const quotes = Array.from({ length: 48 }, (_, nth) => ({
    external_id: `${name}-${nth}`,
    origin: 'Dallas, TX',
    destination: cities[nth % cities.length],
    equipment: 'V',
    quoted_rate: 1800 + 9 * nth,
    estimated_cost: 1600,
    customer_name: 'Harvest Table Foods',
  }))
  requireStatus('quotes', await pushSigned(app, integration, pushQuotes, { quotes }), 200)
  app.now += hour
  const outcomes = quotes.slice(0, 46).map(({ external_id }, nth) => ({
    external_id,
    outcome: (nth * 7) % 46 < 46 - nth ? 'won' : 'lost',
    // The signature's time is no later than the database's clock, which does not follow the clock of the test.
    decided_at: new Date(app.now).toISOString(),
  }))
  requireStatus('outcomes', await pushSigned(app, integration, pushOutcomes, { outcomes }), 200)
  await app.sealPilots()
}

test.beforeAll(async () => {
  app = await ownApp({})
  integration = await makeIntegration(app, 'quotes:write')
  await pushDecided('before')
  const { owner } = integration.tenant
  requireStatus(
    'pilot',
    await call(app, 'PATCH', '/api/pilot', { token: owner, body: { active: true } }),
    200,
  )
  await pushDecided('sealed')
})
test.afterAll(async () => {
  await app.close()
})

test('the pilot shows its scores; an experiment starts, changes the rate on the desk, and ends', async () => {
  const { page, troubles } = await openWindow({ url: app.url, person: integration.tenant })
  await page.goto('/results?view=pilot')
  await page.getByText('48 forecasts recorded, 46 quotes scored').waitFor()
  await page.getByText('Not scored: 2 undecided.').waitFor()
  const scores = page.getByRole('table', { name: 'Scores of the recorded forecasts' })
  await expect(scores.getByRole('row')).toHaveCount(5)
  await page.getByRole('button', { name: 'Start the experiment' }).click()
  const question = page.getByRole('dialog', { name: 'Start the experiment with 1,000 quotes?' })
  await question.getByText('costs at most 2% of the modeled margin').waitFor()
  await question.getByRole('button', { name: 'Start it' }).click()
  await page.getByText(/^Running since .* 0 of 1,000 quotes/).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])

  await page.goto('/?origin=Dallas,+TX&destination=Atlanta,+GA&equipment=V')
  await page.getByText("the experiment's rate for this lane today, nearly as good as the best one").waitFor()

  await page.goto('/results?view=pilot')
  await page.getByRole('button', { name: 'End the experiment' }).click()
  await page.getByRole('button', { name: 'End it' }).click()
  await page.getByText('The last one was ended early, so it has no result.').waitFor()
  expect(troubles).toEqual([])
})

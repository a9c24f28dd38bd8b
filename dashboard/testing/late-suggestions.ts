import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'

/** Typed text and the place that it should select. */
export const cities = [
  ['dallas', 'Dallas, TX'],
  ['dallas tx', 'Dallas, TX'],
  ['Dallas, TX', 'Dallas, TX'],
  ['atlanta', 'Atlanta, GA'],
  ['memphis', 'Memphis, TN'],
  ['chicago', 'Chicago, IL'],
  ['Chicago IL', 'Chicago, IL'],
  ['el paso', 'El Paso, TX'],
  ['elizabeth', 'Elizabeth, NJ'],
  ['houston', 'Houston, TX'],
  ['los angeles, ca', 'Los Angeles, CA'],
  ['indianap', 'Indianapolis, IN'],
  ['columbus oh', 'Columbus, OH'],
  ['columbus ga', 'Columbus, GA'],
  ['louisville', 'Louisville, KY'],
  ['nashville', 'Nashville, TN'],
  ['charlotte', 'Charlotte, NC'],
  ['jacksonville', 'Jacksonville, FL'],
  ['miami', 'Miami, FL'],
  ['savannah', 'Savannah, GA'],
  ['kansas city', 'Kansas City, MO'],
  ['kansas city ks', 'Kansas City, KS'],
  ['st louis', 'St. Louis, MO'],
  ['detroit', 'Detroit, MI'],
  ['cleveland', 'Cleveland, OH'],
  ['cincinnati', 'Cincinnati, OH'],
  ['philad', 'Philadelphia, PA'],
  ['newark', 'Newark, NJ'],
  ['baltimore', 'Baltimore, MD'],
  ['boston', 'Boston, MA'],
  ['minneap', 'Minneapolis, MN'],
  ['milwaukee wi', 'Milwaukee, WI'],
  ['omaha', 'Omaha, NE'],
  ['denver', 'Denver, CO'],
  ['salt lake', 'Salt Lake City, UT'],
  ['phoenix', 'Phoenix, AZ'],
  ['las vegas', 'Las Vegas, NV'],
  ['laredo', 'Laredo, TX'],
  ['fort worth', 'Fort Worth, TX'],
  ['seattle', 'Seattle, WA'],
] as const

/** Cached response bodies, so that the injected latency is the only delay. */
const bodies = new Map<string, string>()

export async function answer(route: Route): Promise<void> {
  const { pathname, search } = new URL(route.request().url())
  const asked = pathname + search
  // The fetch fails if the page cancels the request for an older text, or if the test has closed its tab.
  const body =
    bodies.get(asked) ??
    (await route.fetch().then(
      (response) => response.text(),
      () => null,
    ))
  if (body === null) return
  bodies.set(asked, body)
  await route.fulfill({ body, contentType: 'application/json' }).catch(() => {})
}

export const suggestionsAsked = (url: URL) =>
  url.pathname === '/api/places' || url.pathname === '/api/customers'

/** Delays responses to suggestion requests. Returns the set of requested texts, which grows with each request. */
export async function answerLate(page: Page, latencyMs: () => number): Promise<ReadonlySet<string>> {
  const asked = new Set<string>()
  await page.route(suggestionsAsked, async (route) => {
    asked.add(new URL(route.request().url()).searchParams.get('q') ?? '')
    await new Promise((resolve) => setTimeout(resolve, latencyMs()))
    await answer(route)
  })
  return asked
}

/** Simulated response times of the service. */
export const latencies: readonly (readonly [name: string, ms: () => number])[] = [
  ['0 ms', () => 0],
  ['150 ms', () => 150],
  ['300 ms', () => 300],
  ['800 ms', () => 800],
  ['0 to 800 ms, out of order', () => Math.random() * 800],
]

export const lanesAtOnce = 8

/** Adds blank lanes to a newly opened quote desk, and blocks its requests for advice from then on. */
export async function addLanes(page: Page): Promise<void> {
  for (let lane = 2; lane <= lanesAtOnce; lane++) {
    await page.getByRole('button', { name: 'Add a lane' }).click()
    await page.getByRole('group', { name: `Lane ${lane}`, exact: true }).waitFor()
  }
  await page.route('**/api/advice/**', () => {})
}

/**
 * Types each city into the origin and the destination of its own lane, and confirms with Tab or Enter, while suggestions are
 * delayed. Returns the expected values of all fields, and a function that reads the actual values.
 */
export async function typeCities(
  page: Page,
  some: readonly (readonly [typed: string, place: string])[],
  asked: ReadonlySet<string>,
) {
  const origins = page.locator('[data-field$="-origin"]')
  const ends = page.locator('[data-field$="-origin"], [data-field$="-destination"]')
  for (const [index, [city]] of some.entries()) {
    await origins.nth(index).focus()
    for (const [key, text] of [
      ['Tab', city],
      // Upper case, so that the field cannot use the cached suggestions of the origin.
      ['Enter', city.toUpperCase()],
    ] as const) {
      await page.keyboard.press('ControlOrMeta+a')
      // In every fourth lane, suggestions for the first half are requested before the rest is typed.
      const half = index % 4 === 0 ? text.slice(0, text.length >> 1).trim() : ''
      if (half !== '') {
        await page.keyboard.insertText(half)
        await expect.poll(() => asked.has(half), { interval: 10, timeout: 15_000 }).toBe(true)
      }
      await page.keyboard.insertText(text.slice(half.length))
      await page.keyboard.press(key)
    }
  }
  return {
    wanted: some.flatMap(([, place]) => [place, place]),
    held: () => ends.evaluateAll((all) => all.map((input) => (input as unknown as { value: string }).value)),
  }
}

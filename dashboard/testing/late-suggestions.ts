import { expect, type Page, type Route } from '@playwright/test'
import { seededRandom } from '#server/sample/index.ts'

/** Typed texts with the intended place. */
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

/** Cached response bodies, so that only the injected latency delays the page. */
const bodies = new Map<string, string>()

export async function answer(route: Route): Promise<void> {
  const { pathname, search } = new URL(route.request().url())
  const asked = pathname + search
  // Null if the request ended: the page aborts requests for older text, and a finished test closes its tab.
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

/** Answers suggestion requests after a latency, and collects their texts. */
export async function answerLate(page: Page, latencyMs: () => number): Promise<ReadonlySet<string>> {
  const asked = new Set<string>()
  await page.route(suggestionsAsked, async (route) => {
    asked.add(new URL(route.request().url()).searchParams.get('q') ?? '')
    await new Promise((resolve) => setTimeout(resolve, latencyMs()))
    await answer(route)
  })
  return asked
}

const { uniform } = seededRandom(1)

/** The latency of the service in milliseconds. */
export const latencies: readonly (readonly [name: string, ms: () => number])[] = [
  ['0 ms', () => 0],
  ['150 ms', () => 150],
  ['300 ms', () => 300],
  ['800 ms', () => 800],
  ['0 to 800 ms, out of order', () => uniform() * 800],
]

export const quotesAtOnce = 8

/** Adds blank quotes to a newly opened desk, and turns off its advice requests. */
export async function addQuotes(page: Page): Promise<void> {
  for (let lane = 2; lane <= quotesAtOnce; lane++) {
    await page.getByRole('button', { name: 'Add a quote' }).click()
    await page.getByRole('group', { name: `Quote ${lane}`, exact: true }).waitFor()
  }
  await page.route('**/api/advice/**', () => {})
}

/**
 * Types each city into both places of a quote, with Tab and with Enter, while answers are delayed. Returns the expected
 * places, and a function that reads the actual places.
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
      // In capitals, so that the cached answer of the origin does not apply.
      ['Enter', city.toUpperCase()],
    ] as const) {
      await page.keyboard.press('ControlOrMeta+a')
      // Every fourth time, the suggestions for the first half are requested before the rest is typed.
      const half = index % 4 === 0 ? text.slice(0, text.length >> 1).trim() : ''
      if (half !== '') {
        await page.keyboard.insertText(half)
        await expect.poll(() => asked.has(half), { intervals: [10] }).toBe(true)
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

import { describe, expect, test } from 'vitest'
import { type SampleQuote, sampleBrokerage } from '#server/sample/sample-brokerage.ts'
import { sampleCities } from '#server/sample/sample-cities.ts'
import { threadMs } from '#testing/thread-time.ts'

const now = Date.UTC(2026, 10, 20, 18)
const dayMilliseconds = 86_400_000
const brokerage = sampleBrokerage({ seed: 7, now })
const { quotes: saved } = brokerage

/** Quotes of each lane (city pair and equipment). */
function quotesByLane(): Map<string, SampleQuote[]> {
  return Map.groupBy(saved, (quote) => `${quote.origin} > ${quote.destination} ${quote.equipment}`)
}

function isBooked(quote: SampleQuote): boolean {
  return quote.booking !== null
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function winShare(some: readonly { outcome: string }[]): number {
  const won = some.filter((quote) => quote.outcome === 'won').length
  return won / some.filter((quote) => quote.outcome !== 'pending').length
}

test('the same seed and time give the same brokerage, another seed gives another', () => {
  expect(sampleBrokerage({ seed: 7, now })).toEqual(brokerage)
  expect(sampleBrokerage({ seed: 8, now }).quotes).not.toEqual(saved)
})

test('generates twelve thousand quotes in less than a second of CPU time', { tags: 'measure' }, () => {
  const began = threadMs()
  sampleBrokerage({ seed: 9, now })
  expect(threadMs() - began).toBeLessThan(1000)
})

describe.each([1, 7, 42])('with seed %i', (seed) => {
  const made = sampleBrokerage({ seed, now })

  test('it is the size of a small brokerage: 11,000 to 13,500 quotes on 320 to 350 lanes', () => {
    const laneCount = new Set(made.quotes.map((quote) => quote.origin + quote.destination + quote.equipment))
      .size
    expect(made.quotes.length).toBeGreaterThan(11_000)
    expect(made.quotes.length).toBeLessThan(13_500)
    expect(laneCount).toBeGreaterThan(320)
    expect(laneCount).toBeLessThanOrEqual(350)
  })

  test('it wins about four decided quotes in ten', () => {
    expect(winShare(made.quotes)).toBeGreaterThan(0.36)
    expect(winShare(made.quotes)).toBeLessThan(0.48)
  })

  test('every amount is in whole cents, within the limits of the service', () => {
    const amounts = made.quotes.flatMap((quote) => [
      quote.quotedRateCents,
      quote.estimatedCostCents,
      quote.marketRateCents ?? 1,
      quote.booking?.customerRateCents ?? 1,
      quote.booking?.truckCostCents ?? 1,
    ])
    expect(amounts.every((cents) => Number.isInteger(cents) && cents >= 1 && cents <= 999_999_999)).toBe(true)
  })
})

test('a few lanes carry hundreds of quotes, and a third of them ten or fewer', () => {
  const counts = [...quotesByLane().values()].map((quotes) => quotes.length)
  expect(counts.filter((count) => count >= 100).length).toBeGreaterThan(12)
  expect(counts.filter((count) => count <= 10).length / counts.length).toBeGreaterThan(0.3)
})

test('no number is missing or implausible', () => {
  const numbers = saved.flatMap((quote) => Object.values(quote)).filter((value) => typeof value === 'number')
  expect(numbers.every(Number.isFinite)).toBe(true)
  expect(saved.every((quote) => quote.miles >= 10 && quote.miles < 4000)).toBe(true)
})

test('every time is within the two years before now', () => {
  const times = saved.flatMap((quote) => [
    quote.quotedAt,
    quote.decidedAt ?? now,
    quote.booking?.bookedAt ?? now,
  ])
  expect(Math.max(...times)).toBeLessThanOrEqual(now)
  expect(Math.min(...times)).toBeGreaterThan(now - 732 * dayMilliseconds)
})

test('a quote is decided after it was made, and booked after it was won', () => {
  for (const quote of saved) {
    if (quote.decidedAt !== null) expect(quote.decidedAt).toBeGreaterThan(quote.quotedAt)
    if (quote.booking) expect(quote.booking.bookedAt).toBeGreaterThanOrEqual(quote.decidedAt ?? Number.NaN)
  }
})

test('only lost quotes have a reason, only decided ones a time, only won ones a booking', () => {
  for (const quote of saved) {
    expect(quote.outcomeReason !== null).toBe(quote.outcome === 'lost')
    expect(quote.decidedAt !== null).toBe(quote.outcome !== 'pending')
    if (quote.booking) expect(quote.outcome).toBe('won')
  }
})

test('most open quotes are from the last two weeks, and some were never answered', () => {
  const open = saved.filter((quote) => quote.outcome === 'pending')
  const recent = open.filter((quote) => quote.quotedAt > now - 14 * dayMilliseconds)
  expect(recent.length / open.length).toBeGreaterThan(0.5)
  expect(open.length - recent.length).toBeGreaterThan(10)
})

test('a request has one customer and one to six loads, numbered from one, each with one quote per quote number', () => {
  for (const request of Map.groupBy(saved, (quote) => quote.requestNumber).values()) {
    const numbers = new Set(request.map((quote) => quote.laneNumber))
    expect(Math.max(...numbers)).toBe(numbers.size)
    expect(numbers.size).toBeLessThanOrEqual(6)
    expect(new Set(request.map((quote) => quote.customerName)).size).toBe(1)
    expect(new Set(request.map((quote) => `${quote.laneNumber}-${quote.quoteNumber}`)).size).toBe(
      request.length,
    )
  }
})

test('a requote follows a loss on price, later and cheaper', () => {
  const requotes = saved.filter((quote) => quote.quoteNumber === 2)
  expect(requotes.length).toBeGreaterThan(200)
  const firsts = Map.groupBy(
    saved,
    (quote) => `${quote.requestNumber}-${quote.laneNumber}-${quote.quoteNumber}`,
  )
  for (const requote of requotes) {
    const first = firsts.get(`${requote.requestNumber}-${requote.laneNumber}-1`)?.[0]
    expect(first?.outcomeReason).toBe('price')
    expect(requote.quotedAt).toBeGreaterThanOrEqual(first?.decidedAt ?? Number.NaN)
    expect(requote.quotedRateCents).toBeLessThanOrEqual(first?.quotedRateCents ?? 0)
  }
})

test('customers buy less often the further the rate is above the market', () => {
  const quotes = saved
    .filter((quote) => quote.outcome !== 'pending' && quote.marketRateCents !== null)
    .map((quote) => ({
      outcome: quote.outcome,
      dearness: quote.quotedRateCents / (quote.marketRateCents ?? 1),
    }))
    .sort((a, b) => a.dearness - b.dearness)
  const fifth = Math.floor(quotes.length / 5)
  const shares = [0, 1, 2, 3, 4].map((n) => winShare(quotes.slice(n * fifth, (n + 1) * fifth)))
  expect(shares).toEqual([...shares].sort((a, b) => b - a))
  expect((shares[0] ?? 0) - (shares[4] ?? 1)).toBeGreaterThan(0.2)
})

test('nine wins in ten are booked, at a margin near 14%, some at a loss', () => {
  const won = saved.filter((quote) => quote.outcome === 'won')
  expect(won.filter(isBooked).length / won.length).toBeGreaterThan(0.87)
  const margins = won.flatMap((quote) =>
    quote.booking ? [1 - quote.booking.truckCostCents / quote.booking.customerRateCents] : [],
  )
  expect(mean(margins)).toBeGreaterThan(0.12)
  expect(mean(margins)).toBeLessThan(0.17)
  const losses = margins.filter((margin) => margin < 0).length / margins.length
  expect(losses).toBeGreaterThan(0.01)
  expect(losses).toBeLessThan(0.1)
})

test('a haul toward scarce freight costs more than its backhaul', () => {
  const pulls = new Map(sampleCities.map((city) => [city.place, city.pull]))
  const perMile = (from: (pull: number) => boolean, to: (pull: number) => boolean) =>
    mean(
      saved
        .filter((quote) => quote.equipment === 'V' && quote.miles > 400)
        .filter((quote) => from(pulls.get(quote.origin) ?? 0) && to(pulls.get(quote.destination) ?? 0))
        .map((quote) => quote.quotedRateCents / quote.miles),
    )
  const scarce = (pull: number) => pull > 0.05
  const plenty = (pull: number) => pull < -0.05
  expect(perMile(scarce, plenty)).toBeGreaterThan(1.25 * perMile(plenty, scarce))
})

test('reefers cost more per mile than vans, and short hauls more per mile than long ones', () => {
  const perMile = (equipment: string, fromMiles: number, toMiles: number) =>
    mean(
      saved
        .filter((quote) => quote.equipment === equipment && quote.miles >= fromMiles && quote.miles < toMiles)
        .map((quote) => quote.quotedRateCents / quote.miles),
    )
  expect(perMile('R', 600, 1400)).toBeGreaterThan(1.08 * perMile('V', 600, 1400))
  expect(perMile('V', 10, 200)).toBeGreaterThan(1.5 * perMile('V', 600, 1400))
})

test('each lane connects two cities, as City, ST', () => {
  for (const quote of saved) {
    expect(quote.origin).toMatch(/^[A-Z][A-Za-z. ]+, [A-Z]{2}$/)
    expect(quote.origin).not.toBe(quote.destination)
  }
})

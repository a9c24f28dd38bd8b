import { describe, expect, test } from 'vitest'
import { type SampleLane, sampleBrokerage } from '#server/sample/sample-brokerage.ts'
import { sampleCities } from '#server/sample/sample-cities.ts'
import { threadMs } from '#testing/thread-time.ts'

const now = Date.UTC(2026, 10, 20, 18)
const dayMilliseconds = 86_400_000
const brokerage = sampleBrokerage({ seed: 7, now })
const { lanes } = brokerage

/** Quotes of each lane (city pair and equipment). */
function quotesByLane(): Map<string, SampleLane[]> {
  return Map.groupBy(lanes, (lane) => `${lane.origin} > ${lane.destination} ${lane.equipment}`)
}

function isBooked(lane: SampleLane): boolean {
  return lane.booking !== null
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function winShare(some: readonly { outcome: string }[]): number {
  const won = some.filter((lane) => lane.outcome === 'won').length
  return won / some.filter((lane) => lane.outcome !== 'pending').length
}

test('the same seed and time give the same brokerage, another seed gives another', () => {
  expect(sampleBrokerage({ seed: 7, now })).toEqual(brokerage)
  expect(sampleBrokerage({ seed: 8, now }).lanes).not.toEqual(lanes)
})

test('generates twelve thousand quotes in less than a second of CPU time', { tags: 'measure' }, () => {
  const began = threadMs()
  sampleBrokerage({ seed: 9, now })
  expect(threadMs() - began).toBeLessThan(1000)
})

describe.each([1, 7, 42])('with seed %i', (seed) => {
  const made = sampleBrokerage({ seed, now })

  test('it is the size of a small brokerage: 11,000 to 13,500 quotes on 320 to 350 lanes', () => {
    const laneCount = new Set(made.lanes.map((lane) => lane.origin + lane.destination + lane.equipment)).size
    expect(made.lanes.length).toBeGreaterThan(11_000)
    expect(made.lanes.length).toBeLessThan(13_500)
    expect(laneCount).toBeGreaterThan(320)
    expect(laneCount).toBeLessThanOrEqual(350)
  })

  test('it wins about four decided quotes in ten', () => {
    expect(winShare(made.lanes)).toBeGreaterThan(0.36)
    expect(winShare(made.lanes)).toBeLessThan(0.48)
  })

  test('every amount is in whole cents, within the limits of the service', () => {
    const amounts = made.lanes.flatMap((lane) => [
      lane.quotedRateCents,
      lane.estimatedCostCents,
      lane.marketRateCents ?? 1,
      lane.booking?.customerRateCents ?? 1,
      lane.booking?.truckCostCents ?? 1,
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
  const numbers = lanes.flatMap((lane) => Object.values(lane)).filter((value) => typeof value === 'number')
  expect(numbers.every(Number.isFinite)).toBe(true)
  expect(lanes.every((lane) => lane.miles >= 10 && lane.miles < 4000)).toBe(true)
})

test('every time is within the two years before now', () => {
  const times = lanes.flatMap((lane) => [lane.quotedAt, lane.decidedAt ?? now, lane.booking?.bookedAt ?? now])
  expect(Math.max(...times)).toBeLessThanOrEqual(now)
  expect(Math.min(...times)).toBeGreaterThan(now - 732 * dayMilliseconds)
})

test('a quote is decided after it was made, and booked after it was won', () => {
  for (const lane of lanes) {
    if (lane.decidedAt !== null) expect(lane.decidedAt).toBeGreaterThan(lane.quotedAt)
    if (lane.booking) expect(lane.booking.bookedAt).toBeGreaterThanOrEqual(lane.decidedAt ?? Number.NaN)
  }
})

test('only lost quotes have a reason, only decided ones a time, only won ones a booking', () => {
  for (const lane of lanes) {
    expect(lane.outcomeReason !== null).toBe(lane.outcome === 'lost')
    expect(lane.decidedAt !== null).toBe(lane.outcome !== 'pending')
    if (lane.booking) expect(lane.outcome).toBe('won')
  }
})

test('most open quotes are from the last two weeks, and some were never answered', () => {
  const open = lanes.filter((lane) => lane.outcome === 'pending')
  const recent = open.filter((lane) => lane.quotedAt > now - 14 * dayMilliseconds)
  expect(recent.length / open.length).toBeGreaterThan(0.5)
  expect(open.length - recent.length).toBeGreaterThan(10)
})

test('a request has one customer and one to six loads, numbered from one, each with one quote per quote number', () => {
  for (const request of Map.groupBy(lanes, (lane) => lane.requestNumber).values()) {
    const numbers = new Set(request.map((lane) => lane.laneNumber))
    expect(Math.max(...numbers)).toBe(numbers.size)
    expect(numbers.size).toBeLessThanOrEqual(6)
    expect(new Set(request.map((lane) => lane.customerName)).size).toBe(1)
    expect(new Set(request.map((lane) => `${lane.laneNumber}-${lane.quoteNumber}`)).size).toBe(request.length)
  }
})

test('a requote follows a loss on price, later and cheaper', () => {
  const requotes = lanes.filter((lane) => lane.quoteNumber === 2)
  expect(requotes.length).toBeGreaterThan(200)
  const firsts = Map.groupBy(lanes, (lane) => `${lane.requestNumber}-${lane.laneNumber}-${lane.quoteNumber}`)
  for (const requote of requotes) {
    const first = firsts.get(`${requote.requestNumber}-${requote.laneNumber}-1`)?.[0]
    expect(first?.outcomeReason).toBe('price')
    expect(requote.quotedAt).toBeGreaterThanOrEqual(first?.decidedAt ?? Number.NaN)
    expect(requote.quotedRateCents).toBeLessThanOrEqual(first?.quotedRateCents ?? 0)
  }
})

test('customers buy less often the further the rate is above the market', () => {
  const quotes = lanes
    .filter((lane) => lane.outcome !== 'pending' && lane.marketRateCents !== null)
    .map((lane) => ({ outcome: lane.outcome, dearness: lane.quotedRateCents / (lane.marketRateCents ?? 1) }))
    .sort((a, b) => a.dearness - b.dearness)
  const fifth = Math.floor(quotes.length / 5)
  const shares = [0, 1, 2, 3, 4].map((n) => winShare(quotes.slice(n * fifth, (n + 1) * fifth)))
  expect(shares).toEqual([...shares].sort((a, b) => b - a))
  expect((shares[0] ?? 0) - (shares[4] ?? 1)).toBeGreaterThan(0.2)
})

test('nine wins in ten are booked, at a margin near 14%, some at a loss', () => {
  const won = lanes.filter((lane) => lane.outcome === 'won')
  expect(won.filter(isBooked).length / won.length).toBeGreaterThan(0.87)
  const margins = won.flatMap((lane) =>
    lane.booking ? [1 - lane.booking.truckCostCents / lane.booking.customerRateCents] : [],
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
      lanes
        .filter((lane) => lane.equipment === 'V' && lane.miles > 400)
        .filter((lane) => from(pulls.get(lane.origin) ?? 0) && to(pulls.get(lane.destination) ?? 0))
        .map((lane) => lane.quotedRateCents / lane.miles),
    )
  const scarce = (pull: number) => pull > 0.05
  const plenty = (pull: number) => pull < -0.05
  expect(perMile(scarce, plenty)).toBeGreaterThan(1.25 * perMile(plenty, scarce))
})

test('reefers cost more per mile than vans, and short hauls more per mile than long ones', () => {
  const perMile = (equipment: string, fromMiles: number, toMiles: number) =>
    mean(
      lanes
        .filter((lane) => lane.equipment === equipment && lane.miles >= fromMiles && lane.miles < toMiles)
        .map((lane) => lane.quotedRateCents / lane.miles),
    )
  expect(perMile('R', 600, 1400)).toBeGreaterThan(1.08 * perMile('V', 600, 1400))
  expect(perMile('V', 10, 200)).toBeGreaterThan(1.5 * perMile('V', 600, 1400))
})

test('each lane connects two cities, as City, ST', () => {
  for (const lane of lanes) {
    expect(lane.origin).toMatch(/^[A-Z][A-Za-z. ]+, [A-Z]{2}$/)
    expect(lane.origin).not.toBe(lane.destination)
  }
})

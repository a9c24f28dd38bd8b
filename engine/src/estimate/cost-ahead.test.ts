import { describe, expect, test } from 'vitest'
import { seededNumbers } from '../statistics/seeded-numbers.ts'
import { newestGap } from './cost-scopes.ts'
import {
  type CostSeen,
  costsAhead,
  countLoad,
  expectedCost,
  prepareCosts,
  seasonOf,
} from './expected-cost.ts'

const DAY = 86_400_000
const TODAY = 20_000
const NOW = TODAY * DAY

/** The scopes of a lane in a region, by its number. */
const keysOf = (lane: number) => [
  'region',
  'from',
  'to',
  `states ${lane}`,
  `corridor ${lane}`,
  `lane ${lane}`,
]

/** A load of 500 miles that moves `ago` days before today. */
function load(lane: number, ago: number, dollars: number): CostSeen {
  const quoteId = lane * 10_000 + ago
  return { quoteId, costCents: dollars * 100, miles: 500, at: (TODAY - ago) * DAY, costKeys: keysOf(lane) }
}

const dollarsOf = (cents = Number.NaN) => cents / 100

/** Loads of `lanes` lanes on each of the last `days` days, around `dollars` of the day. */
function loadsOf(
  days: number,
  { lanes, noise, seed }: { lanes: number; noise: number; seed: number },
  dollars: (ago: number) => number,
): CostSeen[] {
  const random = seededNumbers(seed)
  return Array.from({ length: days * lanes }, (_, at) => {
    const ago = days - 1 - Math.floor(at / lanes)
    return load(at % lanes, ago, dollars(ago) * (1 + noise * (2 * random() - 1)))
  })
}

describe('the market index of costs', () => {
  const rising = loadsOf(90, { lanes: 4, noise: 0.02, seed: 1 }, (ago) => 2000 * 1.003 ** -ago)

  test('brings a lane without loads to the current market, which its average of 45 days would miss', () => {
    const model = prepareCosts(rising, NOW)
    const thin = expectedCost(model, { costKeys: keysOf(99), miles: 500 })
    expect(Math.abs(dollarsOf(thin?.costCents) / 2000 - 1)).toBeLessThan(0.04)
    const average = rising.reduce((sum, { costCents }) => sum + costCents, 0) / rising.length
    expect(dollarsOf(average)).toBeLessThan(0.9 * 2000)
  })

  test('does not move a lane with an agreed price', () => {
    const agreed = Array.from({ length: 90 }, (_, ago) => load(50, ago, 1500))
    const cost = expectedCost(prepareCosts([...rising, ...agreed], NOW), { costKeys: keysOf(50), miles: 500 })
    expect(Math.abs(dollarsOf(cost?.costCents) / 1500 - 1)).toBeLessThan(0.02)
  })
})

describe('the newest loads of a lane', () => {
  // (0.2 - 0.1) x 1 / (1 + 0.001), and half of it when 90 days passed: 0.1 x 0.5 / (0.5 + 0.001).
  test('have the known distance from its level', () => {
    const chain = { scopes: [], newest: { days: [10], values: [0.2] } }
    expect(newestGap(chain, 0.1, 10)).toBeCloseTo(0.1 / 1.001, 12)
    expect(newestGap(chain, 0.1, 100)).toBeCloseTo(0.05 / 0.501, 12)
    expect(newestGap({ scopes: [], newest: undefined }, 0.1, 10)).toBe(0)
  })

  test('count as a broker sees them in the morning: equal costs on one day are no sign that costs last', () => {
    // Five loads of a day have the same cost, and the days have nothing in common.
    const random = seededNumbers(12)
    const daily = Array.from({ length: 84 }, () => 2000 * (1 + 0.3 * (2 * random() - 1)))
    const loads = daily.flatMap((dollars, ago) =>
      Array.from({ length: 5 }, (_, at) => ({ ...load(0, ago, dollars), quoteId: ago * 10 + at })),
    )
    const model = prepareCosts(loads, NOW)
    expect(model.follow.at(-1)).toBe(0)
    const [today] = model.ahead
    expect((today?.errors.at(-1)?.sum ?? 0) / (today?.errors.at(-1)?.loads ?? 1)).toBeGreaterThan(0.1)
  })

  test('decide the cost if such costs lasted on the lanes of the brokerage, and do not if they were chance', () => {
    const lane = { costKeys: keysOf(0), miles: 500 }
    const steps = (ago: number) => (ago >= 7 ? (Math.floor(ago / 7) % 2 === 0 ? 2000 : 1700) : 2000)
    const kept = loadsOf(84, { lanes: 3, noise: 0.001, seed: 2 }, steps)
    const model = prepareCosts(kept, NOW)
    expect(model.follow.at(-1)).toBe(1)
    expect(Math.abs(dollarsOf(expectedCost(model, lane)?.costCents) / 2000 - 1)).toBeLessThan(0.01)
    const chance = prepareCosts(
      loadsOf(84, { lanes: 3, noise: 0.3, seed: 3 }, () => 1850),
      NOW,
    )
    expect(chance.follow.at(-1)).toBe(0)
  })
})

describe('the costs ahead', () => {
  const lane = { costKeys: keysOf(0), miles: 500 }

  test('widen with the days ahead as much as the past costs moved in that time', () => {
    const random = seededNumbers(4)
    const walk = [2000]
    for (let day = 1; day < 200; day++) walk.push((walk.at(-1) ?? 0) * Math.exp(0.03 * (2 * random() - 1)))
    const model = prepareCosts(
      loadsOf(200, { lanes: 3, noise: 0.01, seed: 5 }, (ago) => walk[199 - ago] ?? 0),
      NOW,
    )
    const widths = costsAhead(model, lane).map(({ lowCents, highCents }) => Math.log(highCents / lowCents))
    const [week = 0, two = 0, four = 0] = widths
    expect(two / week).toBeGreaterThan(1.15)
    expect(four / two).toBeGreaterThan(1.15)
    expect(expectedCost(model, lane)?.costCents).toBe(costsAhead(model, lane)[0]?.costCents)
  })

  test('have the range of the recent months where costs vary more than before', () => {
    const calm = loadsOf(400, { lanes: 3, noise: 0.02, seed: 10 }, () => 2000)
    const wild = loadsOf(60, { lanes: 3, noise: 0.4, seed: 11 }, () => 2000)
    const widthOf = (loads: readonly CostSeen[]) => {
      const [week] = costsAhead(prepareCosts(loads, NOW), lane)
      return Math.log((week?.highCents ?? 0) / (week?.lowCents ?? 1))
    }
    const before = calm.filter(({ at }) => at < NOW - 59 * DAY)
    expect(widthOf([...before, ...wild])).toBeGreaterThan(0.5 * widthOf(wild))
    expect(widthOf(calm)).toBeLessThan(0.2 * widthOf(wild))
  })

  test('reach further up where costs are above their forecast by more than below it', () => {
    const random = seededNumbers(13)
    const loads = Array.from({ length: 3_000 }, (_, at) => {
      const expensive = random() < 0.15 ? 0.5 : 0
      return { ...load(at % 3, 299 - Math.floor(at / 10), 2000 * Math.exp(expensive)), quoteId: at }
    })
    const model = prepareCosts(loads, NOW)
    const even = prepareCosts(
      loads.map((one, at) => ({ ...one, costCents: 200_000 * Math.exp(at % 2 === 0 ? 0.1 : -0.1) })),
      NOW,
    )
    for (const cost of [expectedCost(model, lane), ...costsAhead(model, lane)]) {
      const { costCents = 0, lowCents = 0, highCents = 0 } = cost ?? {}
      expect(Math.log(highCents / costCents)).toBeGreaterThan(1.2 * Math.log(costCents / lowCents))
    }
    const { costCents = 0, lowCents = 0, highCents = 0 } = expectedCost(even, lane) ?? {}
    expect(Math.log(highCents / costCents) / Math.log(costCents / lowCents)).toBeCloseTo(1, 0)
  })

  test('have errors of the whole cost, also where its residual is beyond the limit', () => {
    // One load in five costs e^1.2 times as much; residuals are limited to 0.8.
    const loads = Array.from({ length: 600 }, (_, at) => ({
      ...load(at % 3, 199 - Math.floor(at / 3), 1500 * Math.exp(at % 5 === 0 ? 1.2 : 0)),
      quoteId: at,
    }))
    const errors = prepareCosts(loads, NOW).ahead[0]?.errors.at(-1)
    // At best, the forecast is the usual cost, and the mean error is 1.2 / 5.
    expect((errors?.sum ?? 0) / (errors?.loads ?? 1)).toBeGreaterThan(0.235)
  })

  test('do not depend on loads that are dated in the future', () => {
    const past = loadsOf(60, { lanes: 3, noise: 0.1, seed: 6 }, () => 2000)
    const future = Array.from({ length: 20 }, (_, at) => load(0, -1 - at, 4000))
    expect(costsAhead(prepareCosts([...past, ...future], NOW), lane)).toEqual(
      costsAhead(prepareCosts(past, NOW), lane),
    )
  })

  test('are the same again after a load is added and removed', () => {
    const model = prepareCosts(
      loadsOf(60, { lanes: 3, noise: 0.1, seed: 7 }, () => 2000),
      NOW,
    )
    const before = costsAhead(model, lane)
    const added = load(0, 0, 3000)
    countLoad(model, added, 1)
    expect(costsAhead(model, lane)[0]?.costCents).toBeGreaterThan(1.001 * (before[0]?.costCents ?? 0))
    countLoad(model, added, -1)
    for (const [at, { costCents }] of costsAhead(model, lane).entries())
      expect(costCents).toBeCloseTo(before[at]?.costCents ?? 0, 6)
  })

  test('are absent without miles or loads', () => {
    expect(costsAhead(prepareCosts([], NOW), lane)).toEqual([])
    expect(costsAhead(prepareCosts([load(0, 1, 2000)], NOW), { ...lane, miles: null })).toEqual([])
  })
})

describe('the season', () => {
  const lane = { costKeys: keysOf(0), miles: 500 }

  test('is expected again where it returned every year', () => {
    // Today, costs are at their mean, and rise fastest.
    const wave = (ago: number) => 2000 * Math.exp(0.2 * Math.sin((-2 * Math.PI * ago) / 364))
    const model = prepareCosts(loadsOf(3 * 364, { lanes: 3, noise: 0.05, seed: 8 }, wave), NOW)
    expect(seasonOf(model)).toMatchObject({ evidence: true })
    const four = costsAhead(model, lane).at(-1)
    const moved = 0.2 * Math.sin((2 * Math.PI * 28) / 364)
    expect(four?.season).toBeGreaterThan(0.85 * moved)
    expect(four?.season).toBeLessThan(1.1 * moved)
  })

  test('has no evidence with a short history, and rarely where costs move by chance', () => {
    const short = prepareCosts(
      loadsOf(200, { lanes: 2, noise: 0.1, seed: 9 }, () => 2000),
      NOW,
    )
    expect(seasonOf(short)).toEqual({
      evidence: false,
      sentence: 'No seasonal evidence: your costs cannot be compared with the same weeks of an earlier year.',
    })
    let claims = 0
    for (let seed = 0; seed < 20; seed++) {
      const random = seededNumbers(100 + seed)
      const walk = [0]
      for (let day = 1; day < 728; day++) walk.push((walk.at(-1) ?? 0) + 0.014 * (random() - 0.5))
      const loads = loadsOf(
        728,
        { lanes: 2, noise: 0.2, seed },
        (ago) => 2000 * Math.exp(walk[727 - ago] ?? 0),
      )
      if (seasonOf(prepareCosts(loads, NOW)).evidence) claims++
    }
    expect(claims).toBeLessThanOrEqual(2)
  })
})

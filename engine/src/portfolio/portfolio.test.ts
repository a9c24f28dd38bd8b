import { describe, expect, test } from 'vitest'
import { finished } from '../steps.ts'
import { type BidLane, type BidLimits, bidProblemInSteps, expectedOf } from './bid-lanes.ts'
import {
  frontierInSteps,
  loadsFrontier,
  mostTermLoadsInSteps,
  type Portfolio,
  portfolioInSteps,
} from './portfolio.ts'

const lane = (id: string, more: Partial<BidLane> = {}): BidLane => ({
  id,
  costCents: 100_000,
  loadsPerWeek: 2,
  firstWeek: 1,
  lastWeek: 10,
  tendered: 0.5,
  regions: ['SE'],
  menu: [
    { rateCents: 110_000, award: 0.8 },
    { rateCents: 120_000, award: 0.5 },
    { rateCents: 130_000, award: 0.2 },
  ],
  ...more,
})

const solved = (lanes: readonly BidLane[], limits: BidLimits = {}) =>
  finished(portfolioInSteps({ lanes, limits }))
const rates = (lanes: readonly BidLane[], limits: BidLimits = {}) => {
  const found = solved(lanes, limits)
  if (found.state !== 'chosen') throw new Error(found.state)
  return found
}
const placesOf = ({ lanes }: Portfolio) => lanes.map(({ place }) => place)

describe('what is expected of a lane', () => {
  test('is a whole number of cents and of thousandths of a load, by rate, and of not bidding', () => {
    expect(expectedOf(lane('a'))).toEqual([
      { place: 0, weekLoads: 800, termLoads: 8_000, revenueCents: 880_000, marginCents: 80_000 },
      { place: 1, weekLoads: 500, termLoads: 5_000, revenueCents: 600_000, marginCents: 100_000 },
      { place: 2, weekLoads: 200, termLoads: 2_000, revenueCents: 260_000, marginCents: 60_000 },
      { place: null, weekLoads: 0, termLoads: 0, revenueCents: 0, marginCents: 0 },
    ])
  })

  test('rounds half a cent away from zero, also of a loss', () => {
    const half = lane('a', {
      costCents: 101,
      loadsPerWeek: 0.5,
      lastWeek: 1,
      tendered: 1,
      menu: [{ rateCents: 100, award: 1 }],
    })
    expect(expectedOf(half)[0]).toMatchObject({ termLoads: 500, revenueCents: 50, marginCents: -1 })
  })

  test('leaves out rates below the least margin share of a lane', () => {
    const places = expectedOf(lane('a'), { laneMarginShareMin: 0.1 }).map(({ place }) => place)
    // 10,000 of 110,000 is 9.1 %.
    expect(places).toEqual([1, 2, null])
  })
})

describe('the rates of a bid', () => {
  test('are those of each lane alone if no limit binds', () => {
    const found = rates([lane('a'), lane('b')], { caps: [{ region: 'SE', loadsPerWeek: 100 }] })
    expect(placesOf(found)).toEqual([1, 1])
    expect(found).toMatchObject({
      marginCents: 200_000,
      boundCents: 200_000,
      termLoads: 10_000,
      revenueCents: 1_200_000,
    })
  })

  test('keep a cap by higher rates where that costs least, and say what the cap costs', () => {
    const found = rates([lane('a'), lane('b')], { caps: [{ region: 'SE', loadsPerWeek: 0.7 }] })
    expect(placesOf(found).toSorted()).toEqual([1, 2])
    expect(found.marginCents).toBe(160_000)
    expect(found.boundCents).toBe(160_000)
    expect(found.laneByLane).toMatchObject({ marginCents: 100_000 })
    expect(found.prices[0]).toMatchObject({ used: 700 })
    expect(found.prices[0]?.price).toBeGreaterThan(0)
  })

  test('hold a cap in each week: lanes of other weeks do not share it', () => {
    const caps = [{ region: 'SE', loadsPerWeek: 0.5 }]
    const apart = rates([lane('a'), lane('b', { firstWeek: 11, lastWeek: 20 })], { caps })
    expect(placesOf(apart)).toEqual([1, 1])
    const overlapping = rates([lane('a'), lane('b', { firstWeek: 10, lastWeek: 19 })], { caps })
    expect(overlapping.marginCents).toBeLessThan(200_000)
  })

  test('keep the margin share of the whole bid, although one lane is below it', () => {
    const dear = lane('b', { costCents: 50_000 })
    const found = rates([lane('a'), dear], { marginShareMin: 0.4 })
    expect(found.marginCents).toBeGreaterThanOrEqual(0.4 * found.revenueCents)
    const below = found.lanes.filter(({ marginCents, revenueCents }) => marginCents < 0.4 * revenueCents)
    expect(below).toHaveLength(1)
  })

  test('bring the loads that are asked for, at less margin', () => {
    const found = rates([lane('a'), lane('b')], { loadsMin: 13 })
    expect(placesOf(found).toSorted()).toEqual([0, 1])
    expect(found.marginCents).toBe(180_000)
    expect(found.termLoads).toBe(13_000)
  })

  test('are refused if the loads that are asked for are not possible, with the most that is', () => {
    const asked: BidLimits = { loadsMin: 13.001, caps: [{ region: 'SE', loadsPerWeek: 1.3 }] }
    expect(solved([lane('a'), lane('b')], asked)).toEqual({ state: 'impossible', mostTermLoads: 13_000 })
  })

  test('a lane that only loses money is not bid', () => {
    const found = rates([lane('a', { costCents: 140_000 }), lane('b', { menu: [] })])
    expect(placesOf(found)).toEqual([null, null])
    expect(found).toMatchObject({ marginCents: 0, boundCents: 0 })
  })

  test('a bid without lanes has no margin', () => {
    expect(rates([])).toMatchObject({ marginCents: 0, boundCents: 0, lanes: [] })
  })

  test('with no time, the best rates so far come with their bound', () => {
    const lanes = Array.from({ length: 30 }, (_, nth) =>
      lane(`${nth}`, { loadsPerWeek: 1 + 0.37 * nth, costCents: 90_000 + 977 * nth }),
    )
    const limits = { caps: [{ region: 'SE', loadsPerWeek: 9.123 }] }
    const late = finished(portfolioInSteps({ lanes, limits }, { isLate: () => true }))
    if (late.state !== 'chosen') throw new Error(late.state)
    expect(late.marginCents).toBeGreaterThan(0.97 * late.boundCents)
    expect(late.boundCents).toBeGreaterThanOrEqual(rates(lanes, limits).marginCents)
  })

  test.each([
    [{ tendered: 1.2 }, /Lane a: tendered is 1.2/],
    [{ loadsPerWeek: Number.NaN }, /Lane a: loadsPerWeek is NaN/],
    [{ costCents: 10.5 }, /Lane a: costCents is 10.5/],
    [{ lastWeek: 0 }, /Lane a: weeks 1 to 0/],
    [{ menu: [{ rateCents: 5, award: 2 }] }, /Lane a: award is 2/],
    [
      {
        menu: [
          { rateCents: 5, award: 0 },
          { rateCents: 5, award: 0 },
        ],
      },
      /Lane a: rateCents is 5 after 5/,
    ],
  ])('refuse a lane with %o', (wrong, message) => {
    expect(() => solved([lane('a', wrong)])).toThrow(message)
  })

  test('refuse a cap below zero, with its region', () => {
    expect(() => solved([lane('a')], { caps: [{ region: 'SE', loadsPerWeek: -1 }] })).toThrow(
      'The cap of SE is -1',
    )
  })
})

test('a cap has a row only for weeks in which it may bind, and one for all weeks with the same lanes', () => {
  const lanes = [
    lane('a', { lastWeek: 5 }),
    lane('b'),
    lane('c', { firstWeek: 8, lastWeek: 10, loadsPerWeek: 0.1 }),
  ]
  const { rows } = finished(bidProblemInSteps(lanes, { caps: [{ region: 'SE', loadsPerWeek: 1 }] }))
  expect(rows).toEqual([{ kind: 'region', region: 'SE', weeks: [1, 2, 3, 4, 5], limit: 1_000 }])
})

test('along the frontier, margin falls to both sides of the best loads', () => {
  const lanes = ['a', 'b', 'c', 'd'].map((id, nth) => lane(id, { loadsPerWeek: 2 + nth }))
  const best = rates(lanes)
  const added = loadsFrontier(
    { bestTermLoads: best.termLoads, mostTermLoads: finished(mostTermLoadsInSteps({ lanes, limits: {} })) },
    7,
  )
  const points = finished(frontierInSteps({ lanes, limits: {} }, added))
  expect(points).toHaveLength(7)
  const margins = points.map(({ marginCents }) => marginCents)
  expect(Math.max(...margins)).toBeLessThanOrEqual(best.marginCents)
  const top = margins.indexOf(Math.max(...margins))
  expect(margins.slice(0, top + 1)).toEqual(margins.slice(0, top + 1).toSorted((one, other) => one - other))
  expect(margins.slice(top)).toEqual(margins.slice(top).toSorted((one, other) => other - one))
  expect(points.at(-1)?.termLoads).toBe(56_000)
})

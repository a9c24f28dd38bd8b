import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BidLane, bidTotals, chanceAt, laneFigures } from './bid-lane.ts'
import { strategyRates, strategyWords } from './bid-strategy.ts'

const priced = {
  suggestedCents: 210_000,
  costCents: 180_000,
  costLowCents: 160_000,
  costHighCents: 200_000,
  marketCents: null,
  minimumCents: null,
  miles: 781,
  equipment: 'V',
  scope: 'lane',
  decided: 8,
  reasons: [],
  curve: [
    [150_000, 0.9, 0.8, 1],
    [250_000, 0.1, 0, 0.2],
  ],
} as const
const lane: BidLane = {
  lane: 1,
  originState: 'TX',
  destinationState: 'GA',
  equipment: 'V',
  loads: 52,
  rateCents: 200_000,
  priced,
}

const anyLane = fc.record({
  loads: fc.option(fc.integer({ min: 0, max: 1_000_000 })),
  rateCents: fc.option(fc.integer({ min: 1, max: 999_999_999 })),
  targetCents: fc.option(fc.integer({ min: 1, max: 999_999 })),
  cost: fc.option(fc.integer({ min: 1, max: 999_999_999 })),
  suggested: fc.option(fc.integer({ min: 1, max: 999_999 })),
  minimum: fc.option(fc.integer({ min: 1, max: 999_999 })),
  state: fc.constantFrom('TX', 'GA', 'CA', null),
})
const lanesOf = (rows: fc.Arbitrary<typeof anyLane extends fc.Arbitrary<infer Row> ? Row[] : never>) =>
  rows.map((all) =>
    all.map(
      ({ loads, rateCents, targetCents, cost, suggested, minimum, state }, at): BidLane => ({
        ...lane,
        lane: at + 1,
        originState: state,
        loads,
        rateCents,
        targetCents,
        priced: { ...priced, costCents: cost, suggestedCents: suggested, minimumCents: minimum },
      }),
    ),
  )
const anyLanes = lanesOf(fc.array(anyLane, { maxLength: 40 }))

describe('sums', () => {
  test('equal the sums of their lanes to the cent, before and after every strategy', () => {
    const strategies = fc.oneof(
      fc.constant({ kind: 'suggested' as const }),
      fc.record({
        kind: fc.constantFrom(
          'move' as const,
          'target_share' as const,
          'minimum_margin' as const,
          'meet_target' as const,
        ),
        pct: fc.integer({ min: 0, max: 60 }),
      }),
    )
    fc.assert(
      fc.property(anyLanes, strategies, (lanes, strategy) => {
        const { rates } = strategyRates(lanes, strategy, {})
        const after = lanes.map((one) => ({ ...one, rateCents: rates.get(one.lane) ?? one.rateCents }))
        const sum = (of: 'revenueCents' | 'marginCents' | 'expectedMarginCents') =>
          after.reduce((total, one) => total + BigInt(laneFigures(one)[of] ?? 0), 0n)
        const totals = bidTotals(after)
        for (const name of ['revenueCents', 'marginCents', 'expectedMarginCents'] as const) {
          expect(BigInt(totals[name])).toBe(sum(name))
        }
      }),
    )
  })

  test('have the chance between the points of a curve, and its ends beyond them', () => {
    expect(chanceAt(priced.curve, 200_000)).toEqual({ probability: 0.5, low: 0.4, high: 0.6 })
    expect(chanceAt(priced.curve, 1)?.probability).toBe(0.9)
    expect(chanceAt(priced.curve, 999_999)?.probability).toBe(0.1)
    expect(chanceAt([], 200_000)).toBeNull()
  })
})

describe('a strategy', () => {
  test('moves only the lanes of its choice', () => {
    const lanes = [lane, { ...lane, lane: 2, originState: 'CA' }, { ...lane, lane: 3, rateCents: null }]
    const { rates, notKnown } = strategyRates(lanes, { kind: 'move', pct: -2 }, { originRegion: 'US-SC' })
    expect([...rates]).toEqual([[1, 196_000]])
    expect(notKnown).toBe(1)
    const listed = strategyRates(lanes, { kind: 'suggested' }, { lanes: [2, 3], milesMin: 700 })
    expect([...listed.rates.keys()]).toEqual([2, 3])
    expect(strategyRates(lanes, { kind: 'suggested' }, { milesMax: 700 }).rates.size).toBe(0)
  })

  test('never goes below the minimum of the rules', () => {
    fc.assert(
      fc.property(anyLanes, fc.integer({ min: -50, max: 50 }), (lanes, pct) => {
        for (const [number, cents] of strategyRates(lanes, { kind: 'move', pct }, {}).rates) {
          expect(cents).toBeGreaterThanOrEqual(lanes[number - 1]?.priced?.minimumCents ?? 1)
        }
      }),
    )
  })

  test('of a margin raises lower rates to it and leaves the others', () => {
    const lanes = [lane, { ...lane, lane: 2, rateCents: 400_000 }]
    expect([...strategyRates(lanes, { kind: 'minimum_margin', pct: 20 }, {}).rates]).toEqual([[1, 225_000]])
  })

  test('of targets lowers a rate to its target, and only where the margin is kept', () => {
    const strategy = { kind: 'meet_target', pct: 5 } as const
    const at = (targetCents: number | null, rateCents = 200_000) =>
      strategyRates([{ ...lane, targetCents, rateCents }], strategy, {})
    // The cost is 180,000 cents: the lowest rate with 5 % is 189,474.
    expect([...at(190_000).rates]).toEqual([[1, 190_000]])
    expect([...at(189_474).rates]).toEqual([[1, 189_474]])
    expect(at(189_473).rates.size).toBe(0)
    expect(at(210_000).rates.size).toBe(0)
    expect(at(null)).toMatchObject({ notKnown: 1 })
  })

  test('of a share moves all suggested rates by the percentage that comes nearest to it', () => {
    const { rates, movedPct } = strategyRates([lane], { kind: 'target_share', pct: 50 }, {})
    expect(movedPct).toBeCloseTo(-4.8, 5)
    expect(chanceAt(priced.curve, rates.get(1) ?? 200_000)?.probability).toBeCloseTo(0.5, 2)
    expect(strategyRates([lane], { kind: 'target_share', pct: 100 }, {}).movedPct).toBe(-25)
  })

  test('is named in words', () => {
    expect(strategyWords({ kind: 'move', pct: 3 }, { originState: 'TX', lanes: [4] })).toBe(
      'Rates +3 %, 1 chosen lane, from TX',
    )
  })
})

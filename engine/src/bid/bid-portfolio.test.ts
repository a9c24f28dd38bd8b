import { expect, test } from 'vitest'
import type { BidLane, PricedLane } from './bid-lane.ts'
import { contractWeeks, portfolioLanes } from './bid-portfolio.ts'

const priced: PricedLane = {
  suggestedCents: 205_050,
  costCents: 180_000,
  costLowCents: null,
  costHighCents: null,
  marketCents: null,
  minimumCents: 195_000,
  miles: 781,
  equipment: 'V',
  scope: 'lane',
  decided: 5,
  reasons: [],
  curve: [
    [190_000, 0.6, 0.5, 0.7],
    [210_000, 0.4, 0.3, 0.5],
    [220_001, 0.2, 0.1, 0.3],
  ],
}
const lane: BidLane = {
  lane: 7,
  originState: 'TX',
  destinationState: 'HI',
  equipment: 'V',
  loads: 104,
  rateCents: 201_000,
  priced,
}

test('a lane has the rates of its curve, those between, its suggested and its present rate, from its minimum up', () => {
  const { lanes, leftOut } = portfolioLanes([lane], { months: 12, tendered: 0.8 })
  expect(leftOut).toBe(0)
  expect(lanes[0]).toMatchObject({ id: '7', loadsPerWeek: 2, lastWeek: 52, tendered: 0.8 })
  expect(lanes[0]?.regions).toEqual(['origin TX', 'origin US-SC', 'destination HI'])
  expect(lanes[0]?.menu.map(({ rateCents }) => rateCents)).toEqual([
    200_000, 201_000, 205_050, 210_000, 215_000, 220_000,
  ])
  expect(lanes[0]?.menu[0]?.award).toBe(0.5)
})

test('lanes without a cost, loads or a chance are left out and counted', () => {
  const unknown = [
    { ...lane, loads: null },
    { ...lane, priced: null },
    { ...lane, priced: { ...priced, costCents: null } },
    { ...lane, priced: { ...priced, curve: [] } },
  ]
  expect(portfolioLanes([...unknown, lane], { months: 6, tendered: 1 })).toMatchObject({
    lanes: [{ id: '7', lastWeek: 26 }],
    leftOut: 4,
  })
})

test('the weeks of a contract', () => {
  expect([1, 6, 12, 24].map(contractWeeks)).toEqual([4, 26, 52, 104])
})

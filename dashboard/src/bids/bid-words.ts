import type { BidField } from '#contract/bid-fields.ts'
import type { Answer } from '../api/index.ts'
import { probability, range } from '../shared-ui/index.ts'

export type Bid = Answer<'get-bid'>
export type BidLane = Answer<'list-bid-lanes'>['lanes'][number]
export type Totals = Bid['totals']
export type Stage = Bid['stage']

export const stageNames: Readonly<Record<Stage, string>> = {
  open: 'Open',
  submitted: 'Submitted',
  awarded: 'Awarded',
  lost: 'Lost',
  withdrawn: 'Withdrawn',
}

export const fieldNames: Readonly<Record<BidField, string>> = {
  lane_id: "Shipper's lane ID",
  origin: 'Origin',
  origin_city: 'Origin city',
  origin_state: 'Origin state',
  origin_zip: 'Origin ZIP',
  destination: 'Destination',
  destination_city: 'Destination city',
  destination_state: 'Destination state',
  destination_zip: 'Destination ZIP',
  equipment: 'Equipment',
  volume: 'Volume',
  miles: 'Miles',
  target: 'Target rate',
  rank: 'Your rank',
  rate: 'Your rate goes here',
}

export const periodNames = {
  year: 'a year',
  month: 'a month',
  week: 'a week',
  contract: 'the whole contract',
} as const

/** The chance to win a lane at its rate, with its 80 % range. @example chanceInWords({ probability: 0.4, low: 0.31, high: 0.5 }) // '40% (31–50%)' */
export function chanceInWords(chance: BidLane['chance']): string {
  return chance === null ? '–' : `${probability(chance.probability)} (${range(chance)})`
}

/** A change of the share of loads. @example pointsInWords(-0.034) // '−3.4 points' */
export function pointsInWords(change: number): string {
  const points = Math.round(1000 * change) / 10
  return `${points > 0 ? '+' : points < 0 ? '−' : ''}${Math.abs(points).toFixed(1)} points`
}

const changedNames = {
  origin: 'origin',
  destination: 'destination',
  equipment: 'equipment',
  loads: 'loads',
} as const

/**
 * What a shipper changed in a lane since the round before.
 *
 * @example changeInWords({ lane: 4, field: 'loads', before: 104, after: 52 }) // 'Lane 4: loads 104, now 52'
 */
export function changeInWords({
  lane,
  field,
  before,
  after,
}: Answer<'get-bid-round'>['changed'][number]): string {
  const none = field === 'equipment' ? 'any' : 'not known'
  return `Lane ${lane}: ${changedNames[field]} ${before ?? none}, now ${after ?? none}`
}

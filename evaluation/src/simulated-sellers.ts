import type { LaneIdentity } from '#engine/quotes/lane-identity.ts'
import type { LaneQuote } from '#engine/quotes/quoted-lanes.ts'
import { seededNumbers } from '#engine/statistics/seeded-numbers.ts'
import { normal } from './simulation.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 1)

function simulatedLanes(count: number): LaneIdentity[] {
  return Array.from({ length: count }, (_, lane) => {
    const pair = lane % Math.max(1, Math.round(count / 5))
    return {
      key: `lane ${lane}`,
      scopes: [
        { name: 'region', key: `region ${pair % 3}` },
        { name: 'state_pair', key: `pair ${pair}` },
      ],
      costKeys: [],
    }
  })
}

/** Draws a lane: some get many more quotes than others. */
function drawnLane(random: () => number, count: number): number {
  return Math.floor(count * random() ** 1.7)
}

function quoteOf(
  lane: LaneIdentity,
  { id, logRate, won, age }: { id: number; logRate: number; won: boolean; age: number },
): LaneQuote {
  return {
    quoteId: id,
    rateCents: Math.round(Math.exp(logRate)),
    costCents: null,
    outcome: won ? 'won' : 'lost',
    quotedAt: NOW - age * DAY,
    miles: null,
    lane,
  }
}

/**
 * Sealed tenders, all bids of which are known: 2 to 10 bids, log-normal around the tender's value. The lowest bid wins,
 * unless it is rejected; then the next one can win. Rates are relative to the tender's median bid.
 */
export function sealedTenders(plan: {
  readonly seed: number
  readonly tenders: number
  readonly days: number
  readonly lanes: number
  /** The spread of a tender's bids in ln, and how much this spread differs between tenders (log-normal). */
  readonly spread: number
  readonly spreadOfSpread: number
  readonly rejected: number
}): LaneQuote[] {
  const random = seededNumbers(plan.seed)
  const lanes = simulatedLanes(plan.lanes)
  const quotes: LaneQuote[] = []
  for (let tender = 0; tender < plan.tenders; tender++) {
    const lane = lanes[drawnLane(random, plan.lanes)]
    const age = 1 + Math.floor(random() * plan.days)
    const count = 2 + Math.floor(9 * random() ** 1.5)
    const spread = plan.spread * Math.exp(plan.spreadOfSpread * normal(random))
    const bids = Array.from({ length: count }, () => spread * normal(random)).sort(
      (one, other) => one - other,
    )
    const middle = ((bids[(count - 1) >> 1] ?? 0) + (bids[count >> 1] ?? 0)) / 2
    let winner = 0
    while (winner < count - 1 && random() < plan.rejected) winner++
    for (const [i, bid] of bids.entries()) {
      if (!lane) continue
      const logRate = Math.log(100_000) + bid - middle
      quotes.push(quoteOf(lane, { id: quotes.length + 1, logRate, won: i === winner, age }))
    }
  }
  return quotes
}

/**
 * One seller among rivals whose bids are log-normal around the lane's market rate. It wins if its rate is below all bids and the load
 * could be won at all.
 */
export function sealedSeller(plan: {
  readonly seed: number
  readonly quotes: number
  readonly days: number
  readonly lanes: number
  readonly rivals: number
  readonly rivalSpread: number
  readonly ownSpread: number
  /** The share of loads that the seller cannot win at any rate. */
  readonly lost: number
}): LaneQuote[] {
  const random = seededNumbers(plan.seed)
  const walk = [0]
  for (let day = 1; day <= plan.days; day++) walk.push((walk[day - 1] ?? 0) + 0.003 * normal(random))
  const lanes = simulatedLanes(plan.lanes).map((identity) => ({
    identity,
    level: Math.log(200_000) + 0.2 * normal(random),
    rivals: 0.03 * normal(random),
  }))
  return Array.from({ length: plan.quotes }, (_, i) => {
    const lane = lanes[drawnLane(random, plan.lanes)]
    const age = 1 + Math.floor(random() * plan.days)
    const x = plan.ownSpread * normal(random)
    let lowest = Number.POSITIVE_INFINITY
    for (let rival = 0; rival < plan.rivals; rival++)
      lowest = Math.min(lowest, (lane?.rivals ?? 0) + plan.rivalSpread * normal(random))
    const won = x < lowest && random() >= plan.lost
    if (!lane) throw new Error('no lane')
    return quoteOf(lane.identity, {
      id: i + 1,
      logRate: lane.level + (walk[plan.days - age] ?? 0) + x,
      won,
      age,
    })
  })
}

/**
 * A broker with logistic win curves, as the model assumes. The win rates of all lanes can drift together. Some loads (`ceiling`) and
 * nearly all loads of some lanes (`lostLanes`) can be out of reach at any rate.
 */
export function logisticBroker(plan: {
  readonly seed: number
  readonly quotes: number
  readonly days: number
  readonly lanes: number
  readonly level: number
  readonly steepness: number
  readonly spread: number
  readonly ceiling?: number
  readonly lostLanes?: number
  /** The daily movement of the log odds of all lanes. */
  readonly drift?: number
}): LaneQuote[] {
  const random = seededNumbers(plan.seed)
  const market = [0]
  const drift = [0]
  for (let day = 1; day <= plan.days; day++) {
    market.push((market[day - 1] ?? 0) + 0.004 * normal(random))
    drift.push((drift[day - 1] ?? 0) + (plan.drift ?? 0) * normal(random))
  }
  const lanes = simulatedLanes(plan.lanes).map((identity) => ({
    identity,
    a: plan.level + plan.spread * normal(random),
    steepness: plan.steepness * Math.exp(0.3 * normal(random)),
    level: Math.log(200_000) + 0.4 * normal(random),
    lost: random() < (plan.lostLanes ?? 0),
  }))
  return Array.from({ length: plan.quotes }, (_, i) => {
    const lane = lanes[drawnLane(random, plan.lanes)]
    if (!lane) throw new Error('no lane')
    const age = 1 + Math.floor(random() * plan.days)
    const x = 0.08 * normal(random)
    const logOdds = lane.a + (drift[plan.days - age] ?? 0) - lane.steepness * x
    const chance = lane.lost ? 0.02 : (plan.ceiling ?? 1) / (1 + Math.exp(-logOdds))
    return quoteOf(lane.identity, {
      id: i + 1,
      logRate: lane.level + (market[plan.days - age] ?? 0) + x,
      won: random() < chance,
      age,
    })
  })
}

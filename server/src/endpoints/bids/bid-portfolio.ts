import { setImmediate as othersTurn } from 'node:timers/promises'
import * as contract from '#contract/bids.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { bidTotals } from '#engine/bid/bid-lane.ts'
import { capKey } from '#engine/bid/bid-portfolio.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { BidLimits } from '#engine/portfolio/bid-lanes.ts'
import type { LimitPrice } from '#engine/portfolio/portfolio.ts'
import { portfolioInThread, type SolvedRates } from '../../bids/index.ts'
import { bids } from '../../database/queries/index.ts'
import type { BidLaneRow } from '../../database/schema/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { bidLaneOf, totalsAnswer } from './bid-answers.ts'
import { bidOf } from './find-bid.ts'

type Asked = Call<typeof contract.certifyBidRates>
type Answer = AnswerOf<typeof contract.chooseBidRates>

const share = (pct: number) => pct / 100
/** The engine counts loads in thousandths. */
const loadsOf = (thousandths: number) => thousandths / 1_000

/** @throws a 422 for two caps of one place, or a least number of loads above the most */
function limitsOf(body: Asked['body']): BidLimits {
  const {
    caps,
    margin_pct_min: margin,
    lane_margin_pct_min: laneMargin,
    loads_min: least,
    loads_max: most,
  } = body
  const seen = new Set<string>()
  for (const [index, { end, place }] of (caps ?? []).entries()) {
    const key = capKey(end, place)
    if (seen.has(key)) {
      const detail = `The cap of ${key} must be in caps once.`
      throw invalid([{ pointer: `/caps/${index}/place`, code: 'invalid', detail }])
    }
    seen.add(key)
  }
  if (least !== undefined && most !== undefined && least > most) {
    const detail = `loads_min must be at most loads_max, which is ${most}; it is ${least}.`
    throw invalid([{ pointer: '/loads_min', code: 'invalid', detail }])
  }
  return {
    ...(caps === undefined
      ? {}
      : {
          caps: caps.map(({ end, place, loads_per_week }) => ({
            region: capKey(end, place),
            loadsPerWeek: loads_per_week,
          })),
        }),
    ...(margin === undefined ? {} : { marginShareMin: share(margin) }),
    ...(laneMargin === undefined ? {} : { laneMarginShareMin: share(laneMargin) }),
    ...(least === undefined ? {} : { loadsMin: least }),
    ...(most === undefined ? {} : { loadsMax: most }),
  }
}

/** Reads the lanes of a bid and chooses their rates. */
async function solved(
  { caller, params, body }: Asked,
  { database }: Parts,
  { points, withCertificate }: { readonly points: number; readonly withCertificate: boolean },
) {
  const { tenant } = caller
  const limits = limitsOf(body)
  const { row, rows } = await database.inTenant(tenant, async (transaction) => ({
    row: await bidOf(transaction, tenant, params.bid_id),
    rows: await bids.lanesOfBid(transaction, tenant, params.bid_id),
  }))
  if (row.pricing_at !== null) {
    throw problem('state-conflict', 'The lanes of the bid are being priced. Wait until that has ended.')
  }
  await othersTurn()
  const known = rows.map(bidLaneOf)
  const asked = { lanes: known, months: row.contract_months, tendered: share(body.tendered_pct ?? 100) }
  const result = await portfolioInThread(tenant, { ...asked, limits, points, withCertificate }).catch(
    (error: unknown) => {
      // The engine names a lane with more loads than it counts.
      if (error instanceof RangeError) throw problem('state-conflict', error.message)
      throw error
    },
  )
  const { found } = result
  if (found === null) {
    throw problem(
      'state-conflict',
      'No lane of the bid has loads, an expected cost and a chance, so there is nothing to choose.',
    )
  }
  return { row, rows, known, ...result, found }
}

function limitAnswer({ limit, used, price }: LimitPrice): Answer['limits'][number] {
  const isMargin = limit.kind === 'margin_share'
  return {
    limit: limit.kind,
    place: limit.kind === 'region' ? limit.region : null,
    used: Math.abs(isMargin ? dollarsFromCents(used) : loadsOf(used)),
    price: isMargin ? price : dollarsFromCents(Math.round(price)),
  }
}

function chosenAnswer({
  marginCents,
  revenueCents,
  termLoads,
  boundCents,
  laneByLaneCents,
  rates,
}: SolvedRates): Answer['chosen'] {
  return {
    expected_margin: dollarsFromCents(marginCents),
    expected_revenue: dollarsFromCents(revenueCents),
    expected_loads: loadsOf(termLoads),
    bound: dollarsFromCents(boundCents),
    lane_by_lane: dollarsIfKnown(laneByLaneCents),
    not_bid: [...rates.values()].filter((cents) => cents === null).length,
  }
}

function ratesAnswer(
  rows: readonly BidLaneRow[],
  rates: ReadonlyMap<number, number | null>,
): Answer['rates'] {
  return rows.flatMap(({ lane_number: lane, version, rate_cents: before }) => {
    const after = rates.get(lane)
    if (after === undefined || after === before) return []
    return [{ lane, version, before: dollarsIfKnown(before), after: dollarsIfKnown(after) }]
  })
}

async function choose(call: Call<typeof contract.chooseBidRates>, parts: Parts): Promise<Answer> {
  const { row, rows, known, lanes, leftOut, found, frontier } = await solved(call, parts, {
    points: call.body.frontier_points ?? 0,
    withCertificate: false,
  })
  const isChosen = found.state === 'chosen'
  const rates = isChosen ? found.rates : new Map<number, number | null>()
  // A lane that is left out keeps its rate; one that is not bid has none.
  const after = known.map((lane) =>
    rates.has(lane.lane) ? { ...lane, rateCents: rates.get(lane.lane) ?? null } : lane,
  )
  const before = totalsAnswer(bidTotals(known))
  await othersTurn()
  return {
    state: found.state,
    most_loads: isChosen ? null : loadsOf(found.mostTermLoads),
    lanes,
    left_out: leftOut,
    seen_change: row.last_change,
    chosen: isChosen ? chosenAnswer(found) : null,
    limits: isChosen ? found.prices.map(limitAnswer) : [],
    frontier: frontier.map(({ termLoads, marginCents, boundCents }) => ({
      expected_loads: loadsOf(termLoads),
      expected_margin: dollarsFromCents(marginCents),
      bound: dollarsFromCents(boundCents),
    })),
    before,
    after: totalsAnswer(bidTotals(after)),
    rates: ratesAnswer(rows, rates),
  }
}

async function certify(call: Asked, parts: Parts): Promise<AnswerOf<typeof contract.certifyBidRates>> {
  const { certificate } = await solved(call, parts, { points: 0, withCertificate: true })
  if (certificate === null) {
    throw problem('state-conflict', 'No rates keep these limits, so there is no certificate.')
  }
  return {
    file_name: `bid-${call.params.bid_id}-certificate.json`,
    content_type: 'application/json',
    base64: Buffer.from(certificate).toString('base64'),
  }
}

export const bidPortfolioEndpoints: ServedEndpoint[] = [
  serve(contract.chooseBidRates, choose),
  serve(contract.certifyBidRates, certify),
]

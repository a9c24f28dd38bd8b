import { setImmediate as othersTurn } from 'node:timers/promises'
import * as contract from '#contract/bid-awards.ts'
import { volumePeriods } from '#contract/bid-fields.ts'
import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { awardedRatesListedMax } from '#contract/limits.ts'
import {
  awardProgress,
  laneFinder,
  type PromisedLane,
  type TenderedLoads,
  type Volume,
} from '#engine/awards/award-progress.ts'
import { type AwardStanding, standingEachWeek, USUAL_NOISE } from '#engine/awards/award-sentinel.ts'
import { type AwardRecord, tenderedShare } from '#engine/awards/tendered-share.ts'
import { contractWeeks } from '#engine/bid/bid-portfolio.ts'
import { centsFromDollars, dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import { locate } from '#geography/locate.ts'
import { placeName } from '#geography/read-place.ts'
import { awardOf, awardsOfFile, knownAwardNames, openBidFile, readAwardFile } from '../../bids/index.ts'
import { bidAwards, bids, people, readTenantQuotes } from '../../database/queries/index.ts'
import type { BidLaneRow, BidRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { readAskedLane } from '../../lanes/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { opened, refuseFile, reserveFile } from '../quotes/received-files.ts'
import { bidOf, seenLanes } from './find-bid.ts'
import { saveAwards } from './save-awards.ts'

type Standing = AnswerOf<typeof contract.getBidStanding>
type Costs = NonNullable<Standing['lanes'][number]['costs']>

const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** The lanes of all bids that the shares of customers are computed from, and the quotes: more than a brokerage has in two years. */
const lanesMax = 20_000
const contractDaysMax = 100_000
const quotesMax = 50_000
const quotesListedMax = 50
const lanesPerTurn = 10

async function setAwards(
  { caller, params, body, now }: Call<typeof contract.setBidAwards>,
  { database }: Parts,
) {
  const { tenant, userId } = caller
  const { bid_id: bidId } = params
  const at = new Date(now)
  return database.inTenant(tenant, async (transaction) => {
    await bidOf(transaction, tenant, bidId, { lock: true })
    const rows = await bids.lanesOfBid(transaction, tenant, bidId)
    const known = seenLanes(rows, body.cells)
    const awards = body.cells.map(({ lane, state, rate, loads }): bidAwards.LaneAward => {
      const row = known.get(lane)
      return row === undefined || state === 'open'
        ? { lane, award: null, cents: null, loads: null }
        : awardOf(row, {
            state,
            cents: rate === undefined ? null : centsFromDollars(rate),
            loads: loads ?? null,
          })
    })
    return saveAwards(transaction, tenant, bidId, rows, { awards, userId, signedAt: at, now: at })
  })
}

/** The awards of a file. It was read before: nothing waits for a turn while the bid is locked. @throws Problem validation */
function awardsNamed(...named: Parameters<typeof awardsOfFile>): bidAwards.LaneAward[] {
  try {
    return awardsOfFile(...named)
  } catch (error) {
    return refuseFile(error)
  }
}

async function setAwardsOfFile(
  { caller, params, query, body, now }: Call<typeof contract.setBidAwardsOfFile>,
  { database }: Parts,
) {
  const { tenant, userId } = caller
  const { bid_id: bidId } = params
  const bid = await database.inTenant(tenant, (transaction) => bidOf(transaction, tenant, bidId))
  const { table } = await opened(() => openBidFile(body, query.sheet, knownAwardNames))
  const volumePer = volumePeriods.find((known) => known === bid.columns.volumePer) ?? null
  const lines = await opened(() => readAwardFile(table, { months: bid.contract_months, volumePer }))
  const at = new Date(now)
  return database.inTenant(tenant, async (transaction) => {
    await bidOf(transaction, tenant, bidId, { lock: true })
    const rows = await bids.lanesOfBid(transaction, tenant, bidId)
    const named = awardsNamed(rows, lines)
    const told = new Set(named.map(({ lane }) => lane))
    const others =
      query.others === 'lost' ? rows.filter((row) => row.award === null && !told.has(row.lane_number)) : []
    const awards = [
      ...named,
      ...others.map((row) => awardOf(row, { state: 'lost', cents: null, loads: null })),
    ]
    const how = ` of ${query.file_name ?? 'a file'}`
    return saveAwards(transaction, tenant, bidId, rows, { awards, how, userId, signedAt: at, now: at })
  })
}

const placesOf = (origin: string, destination: string) => {
  const asked = readAskedLane({ origin, destination })
  return { originKey: asked.origin.key, destinationKey: asked.destination.key }
}

const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`)
/** The week of a contract on a day, from 0. */
const weekOf = (startsOn: string, day: string) => Math.floor((startOf(day) - startOf(startsOn)) / weekMs)

/** The loads of a customer's contract by week. */
const weeksOf = (
  days: readonly bidAwards.ContractDay[],
  customer: string,
  startsOn: string,
): TenderedLoads[] =>
  days
    .filter((one) => one.customer === customer && one.day >= startsOn)
    .map((one) => ({ ...one, week: weekOf(startsOn, one.day) }))

const promisedLane = (
  row: Pick<bidAwards.AwardedLaneRow, 'lane' | 'origin' | 'destination' | 'equipmentCode' | 'loads'>,
): PromisedLane => ({
  lane: row.lane,
  ...placesOf(row.origin, row.destination),
  equipmentCode: row.equipmentCode,
  loads: row.loads,
})

/** What became of the awarded lanes of all bids, by customer. */
async function recordsOf(
  lanes: readonly bidAwards.AwardedLaneRow[],
  days: readonly bidAwards.ContractDay[],
  today: string,
): Promise<AwardRecord[]> {
  const records: AwardRecord[] = []
  for (const of of Map.groupBy(lanes, ({ bidId }) => bidId).values()) {
    await othersTurn()
    const [first] = of
    if (first === undefined) continue
    const { customer, startsOn, months } = first
    const progress = awardProgress(of.map(promisedLane), weeksOf(days, customer, startsOn), {
      today: weekOf(startsOn, today),
      weeks: contractWeeks(months),
    })
    for (const { promised, tendered } of progress.lanes.values()) {
      records.push({ customer, awardedLoads: promised, tenderedLoads: tendered })
    }
  }
  return records
}

/** The awarded lanes of a bid, with the costs of their loads by week. */
async function readStanding(transaction: TenantTransaction, tenant: TenantId, row: BidRow, now: number) {
  const startsOn = row.starts_on
  if (startsOn === null) {
    throw problem(
      'state-conflict',
      'The bid has no first day of its contract. Send starts_on with change-bid.',
    )
  }
  const zone = await people.timeZoneOf(transaction, tenant)
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(now)
  const awarded = await bidAwards.awardedLanes(transaction, tenant, lanesMax)
  const since = awarded.reduce((first, one) => (one.startsOn < first ? one.startsOn : first), startsOn)
  return {
    startsOn,
    today,
    rows: (await bids.lanesOfBid(transaction, tenant, row.bid_id)).filter(({ award }) => award === 'awarded'),
    awarded,
    days: await bidAwards.contractDays(transaction, tenant, { since, max: contractDaysMax }),
    quotes: await readTenantQuotes(
      transaction,
      tenant,
      new Date(startOf(startsOn) - dayMs),
      quotesMax,
      undefined,
      row.customer_name,
    ),
  }
}

const volumeAnswer = ({ promised, tendered, booked }: Volume) => ({
  promised: Math.round(10 * promised) / 10,
  tendered,
  booked,
})

const pct = (logarithm: number) => Math.round(1_000 * Math.expm1(logarithm)) / 10

function costsAnswer({ state, since, rise, toEnd, loads }: AwardStanding): Costs {
  return {
    state,
    since_week: since === null ? null : since + 1,
    rise_pct: pct(rise.value),
    rise_pct_low: pct(rise.low),
    rise_pct_high: pct(rise.high),
    loads_left: Math.round(10 * toEnd.loads) / 10,
    extra_cost: dollarsFromCents(Math.round(toEnd.extraCostCents)),
    extra_cost_low: dollarsFromCents(Math.round(toEnd.extraLowCents)),
    extra_cost_high: dollarsFromCents(Math.round(toEnd.extraHighCents)),
    margin: dollarsFromCents(Math.round(toEnd.marginCents)),
    planned_margin: dollarsFromCents(Math.round(toEnd.plannedMarginCents)),
    quotes: loads.slice(-quotesListedMax).map(({ id }) => Number(id)),
  }
}

/** Whether costs have risen; null if it cannot be known, or the contract has not begun. */
function standingOf(
  row: BidLaneRow,
  loads: readonly { readonly id: string; readonly week: number; readonly costCents: number }[],
  { today, weeks }: { readonly today: number; readonly weeks: number },
): AwardStanding | null {
  const forecast = row.priced?.costCents ?? null
  if (forecast === null || row.award_cents === null || today < 0) return null
  const lane = {
    rateCents: row.award_cents,
    forecastCents: [forecast],
    loadsPerWeek: (row.award_loads ?? 0) / weeks,
    weeks,
  }
  return standingEachWeek(lane, loads, { today: Math.min(today, weeks - 1), noise: USUAL_NOISE })
}

type StandingRows = Awaited<ReturnType<typeof readStanding>>

/** The awarded lanes of a bid, with what was promised for each. */
function lanesOf({ rows }: StandingRows): readonly (PromisedLane & { readonly row: BidLaneRow })[] {
  return rows.flatMap((row) =>
    row.origin === null || row.destination === null
      ? []
      : [
          {
            row,
            ...promisedLane({
              lane: row.lane_number,
              origin: row.origin,
              destination: row.destination,
              equipmentCode: row.equipment_code,
              loads: row.award_loads,
            }),
          },
        ],
  )
}

/** The contract loads with a cost of each lane, by the number of the lane. */
function costsOf(lanes: readonly PromisedLane[], { quotes, startsOn }: StandingRows) {
  const laneOf = laneFinder(lanes)
  const loads = quotes.flatMap((quote) => {
    if (quote.rateType !== 'contract' || quote.truckCostCents === null) return []
    const lane = laneOf(quote)
    const week = Math.floor((quote.quotedAt - startOf(startsOn)) / weekMs)
    return lane === undefined || week < 0
      ? []
      : [{ lane: lane.lane, id: String(quote.laneId), week, costCents: quote.truckCostCents }]
  })
  return Map.groupBy(loads, ({ lane }) => lane)
}

function shareAnswer(share: ReturnType<typeof tenderedShare>): Standing['tendered'] {
  if (share === null) return null
  const { ghostLanes, ...others } = share
  return { ...others, ghost_lanes: ghostLanes }
}

const none: Volume = { promised: 0, tendered: 0, booked: 0 }

async function standing(
  { caller: { tenant }, params, now }: Call<typeof contract.getBidStanding>,
  { database }: Parts,
): Promise<Standing> {
  const { row, known, customer } = await database.inTenant(tenant, async (transaction) => {
    const row = await bidOf(transaction, tenant, params.bid_id)
    return {
      row,
      known: await readStanding(transaction, tenant, row, now),
      customer: await bidAwards.customerKeyOf(transaction, tenant, row.customer_name),
    }
  })
  const { startsOn, today, awarded, days } = known
  const weeks = contractWeeks(row.contract_months)
  const week = weekOf(startsOn, today)
  const lanes = lanesOf(known)
  const progress = awardProgress(lanes, weeksOf(days, customer, startsOn), { today: week, weeks })
  const costs = costsOf(lanes, known)
  const answers: Standing['lanes'] = []
  for (const lane of lanes) {
    // A lane takes up to a millisecond.
    if (answers.length % lanesPerTurn === 0) await othersTurn()
    const found = standingOf(lane.row, costs.get(lane.lane) ?? [], { today: week, weeks })
    answers.push({
      lane: lane.lane,
      origin: lane.row.origin ?? '',
      destination: lane.row.destination ?? '',
      equipment: lane.equipmentCode,
      rate: dollarsIfKnown(lane.row.award_cents),
      loads: lane.loads,
      volume: volumeAnswer(progress.lanes.get(lane.lane) ?? none),
      costs: found === null ? null : costsAnswer(found),
    })
  }
  return {
    starts_on: startsOn,
    week: Math.max(0, Math.min(week + 1, weeks)),
    weeks,
    volume: volumeAnswer(sumOf([...progress.lanes.values()])),
    by_week: progress.weeks.map(volumeAnswer),
    tendered: shareAnswer(tenderedShare(await recordsOf(awarded, days, today), customer)),
    lanes: answers,
  }
}

const sumOf = (volumes: readonly Volume[]): Volume =>
  volumes.reduce(
    (sum, one) => ({
      promised: sum.promised + one.promised,
      tendered: sum.tendered + one.tendered,
      booked: sum.booked + one.booked,
    }),
    none,
  )

/** The awarded rates that a quote for the customer can use. */
async function findRates(
  { caller: { tenant }, query, now }: Call<typeof contract.findAwardedRates>,
  { database }: Parts,
) {
  const { places, equipmentCode } = readAskedLane(query)
  const nameOf = (place: typeof places.origin) => placeName(place, locate(place))
  const rates = await database.inTenant(tenant, async (transaction) =>
    bidAwards.awardedRates(transaction, tenant, {
      customer: await bidAwards.customerKeyOf(transaction, tenant, query.customer),
      origin: nameOf(places.origin),
      destination: nameOf(places.destination),
      equipmentCode,
      day: query.pickup_date ?? null,
      now: new Date(now),
      max: awardedRatesListedMax,
    }),
  )
  return {
    rates: rates.map(({ bidId, name, lane, equipmentCode: code, cents, startsOn, endsOn }) => ({
      bid_id: bidId,
      name,
      lane,
      equipment: code,
      rate: dollarsFromCents(cents),
      starts_on: startsOn,
      ends_on: endsOn,
    })),
  }
}

export const bidAwardEndpoints: ServedEndpoint[] = [
  serve(contract.setBidAwards, setAwards),
  serve(contract.setBidAwardsOfFile, setAwardsOfFile, {
    beforeBody: async ({ caller: { tenant }, bytes }, parts) => reserveFile(parts, tenant, bytes),
  }),
  serve(contract.findAwardedRates, findRates),
  serve(contract.getBidStanding, standing),
]

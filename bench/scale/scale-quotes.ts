import { type SeededRandom, seasonLift, seededRandom } from '#server/sample/index.ts'
import { mixed, type PlannedTenant, type ScalePlan } from './plan.ts'
import { lanesOf, type ScaleLane, type TenantLanes } from './tenant-lanes.ts'

/** A generated quote with its outcome. Amounts are whole cents; times are epoch milliseconds. */
export interface ScaleQuote {
  readonly tenant: PlannedTenant
  readonly lane: ScaleLane
  /** Whether it starts a new quote request. If false, it is another quote of the previous request. */
  readonly beginsRequest: boolean
  readonly customerName: string
  readonly quotedAt: number
  readonly pickupDate: string
  readonly quotedRateCents: number
  readonly estimatedCostCents: number
  readonly marketRateCents: number | null
  readonly outcome: 'won' | 'lost' | 'pending'
  readonly outcomeReason: 'price' | 'service' | 'capacity' | 'no_response' | 'other' | null
  readonly decidedAt: number | null
  readonly booking: ScaleBooking | null
}

interface ScaleBooking {
  readonly customerRateCents: number
  readonly truckCostCents: number
  readonly carrierName: string
  readonly carrierMc: string
  readonly bookedAt: number
}

const dayMs = 86_400_000
const spanDays = 730
/** The history of this brokerage, all of which an estimate covers. */
const brokerageSpanDays = 600

/** The number of quotes of a chunk. */
export const quotesPerChunk = 10_000

/** The brokerage's usual rate and its competitors' rate, as multiples of the truck cost. */
const usualMarkup = 1.19
const goingMarkup = 1.185
/** How fast the win probability falls with the rate: at a 10 % higher rate, the odds are a fifth. */
const priceSensitivity = 16
const logOddsAtGoing = -0.35

const firstWords = [
  'Harbor',
  'Prairie',
  'Summit',
  'Cedar',
  'Lakeside',
  'Iron',
  'Bluegrass',
  'Coastal',
  'Pioneer',
  'Granite',
]
const lastWords = ['Foods', 'Lumber', 'Packaging', 'Steel', 'Produce', 'Home Goods', 'Beverage', 'Tooling']
const carrierWords = ['Trucking', 'Transport', 'Freight Lines', 'Carriers', 'Logistics', 'Express']

/** Returns the number of chunks for a number of quotes. */
export function chunksOf(quotes: number): number {
  return Math.ceil(quotes / quotesPerChunk)
}

/**
 * Returns the quotes of one chunk of a plan in writing order: by tenant, then by time. Every chunk has its own seed, so that a
 * continued run generates the same quotes.
 */
export function quotesOfChunk(
  plan: ScalePlan,
  tenants: readonly PlannedTenant[],
  chunk: number,
  lanesOfTenant: (tenant: PlannedTenant) => TenantLanes = (tenant) => lanesOf(plan, tenant),
): ScaleQuote[] {
  const random = seededRandom(mixed(plan.seed, 2, chunk))
  const until = Date.parse(`${plan.until}T00:00:00Z`)
  const first = chunk * quotesPerChunk
  const last = first + quotesPerChunk
  const quotes: ScaleQuote[] = []
  for (const tenant of tenants) {
    const from = Math.max(first, tenant.firstQuote)
    const to = Math.min(last, tenant.firstQuote + tenant.quotes)
    if (from >= to) continue
    const { draw } = lanesOfTenant(tenant)
    const spanMs = (tenant.kind === 'brokerage' ? brokerageSpanDays : spanDays) * dayMs
    let request = { lanesLeft: 0, customerName: '', quotedAt: 0 }
    for (let at = from - tenant.firstQuote; at < to - tenant.firstQuote; at++) {
      const beginsRequest = request.lanesLeft === 0
      if (beginsRequest) {
        request = {
          lanesLeft: 1 + random.weighted([74, 16, 7, 3]),
          customerName: `${random.pick(firstWords)} ${random.pick(lastWords)}`,
          quotedAt: officeTime(until - spanMs * (1 - (at + random.uniform()) / tenant.quotes), until),
        }
      }
      request.lanesLeft--
      const { customerName, quotedAt } = request
      quotes.push({
        tenant,
        beginsRequest,
        customerName,
        ...priced(random, draw(random), quotedAt, until),
      })
    }
  }
  return quotes
}

/** Moves a time into office hours of a working day before `until`, in whole seconds. */
function officeTime(at: number, until: number): number {
  const weekday = new Date(at).getUTCDay()
  const moved = weekday === 6 ? at - dayMs : weekday === 0 ? at - 2 * dayMs : at
  const midnight = Math.floor(moved / dayMs) * dayMs
  const seconds = Math.floor((12 + ((moved - midnight) / dayMs) * 11) * 3600)
  return Math.min(midnight + seconds * 1000, until - 1000)
}

function priced(
  random: SeededRandom,
  lane: ScaleLane,
  quotedAt: number,
  until: number,
): Omit<ScaleQuote, 'tenant' | 'beginsRequest' | 'customerName'> {
  const season = seasonLift({ equipment: lane.equipment, originState: lane.origin_state }, quotedAt)
  const costCents = lane.costCents * Math.exp(season + random.normal(0, 0.04))
  const quotedRateCents = roundedRate(random, costCents * usualMarkup * Math.exp(random.normal(0, 0.06)))
  const logPremium = Math.log(quotedRateCents / (costCents * goingMarkup))
  const won = random.chance(1 / (1 + Math.exp(priceSensitivity * logPremium - logOddsAtGoing)))
  const decidedAt = quotedAt + 1_000 * Math.round(1_200 + random.exponential(won ? 60_000 : 140_000))
  const pending = decidedAt >= until || random.chance(0.02)
  return {
    lane,
    quotedAt,
    pickupDate: new Date(quotedAt + (1 + random.weighted([50, 30, 20])) * dayMs).toISOString().slice(0, 10),
    quotedRateCents,
    estimatedCostCents: wholeDollars(costCents * Math.exp(random.normal(0, 0.03))),
    marketRateCents: random.chance(0.35)
      ? null
      : wholeDollars(costCents * Math.exp(random.normal(0.02, 0.03))),
    outcome: pending ? 'pending' : won ? 'won' : 'lost',
    outcomeReason: pending || won ? null : lossReason(random, logPremium),
    decidedAt: pending ? null : decidedAt,
    booking: pending || !won ? null : booked(random, { quotedRateCents, costCents, decidedAt, until }),
  }
}

/** Returns the booking of a won quote: customer rate near the quoted rate, truck cost near the usual cost. 9 % have none. */
function booked(
  random: SeededRandom,
  won: { quotedRateCents: number; costCents: number; decidedAt: number; until: number },
): ScaleBooking | null {
  const bookedAt = won.decidedAt + 1_000 * Math.round(random.exponential(30_000))
  if (!random.chance(0.91) || bookedAt >= won.until) return null
  const discount = random.chance(0.1) ? 1 - 0.04 * random.uniform() : 1
  const carrier = Math.floor(random.uniform() ** 2 * 60)
  return {
    customerRateCents: wholeDollars(won.quotedRateCents * discount),
    truckCostCents: wholeDollars(won.costCents * Math.exp(random.normal(0, 0.05))),
    carrierName: `${firstWords[carrier % 10]} ${carrierWords[Math.floor(carrier / 10)]}`,
    carrierMc: `MC-${400_000 + carrier * 137}`,
    bookedAt,
  }
}

/** Draws the reason of a loss. The higher the rate, the more likely the reason is price. */
function lossReason(random: SeededRandom, logPremium: number): NonNullable<ScaleQuote['outcomeReason']> {
  const price = Math.min(80, Math.max(20, 50 + 400 * logPremium))
  const reasons = ['price', 'no_response', 'capacity', 'service', 'other'] as const
  return reasons[random.weighted([price, 26, 8, 8, 6])] ?? 'other'
}

/** Rounds a rate like people do: to $5, $25 or $1. 3 % of the quotes have cents. */
function roundedRate(random: SeededRandom, cents: number): number {
  const step = [500, 2500, 100, 1][random.weighted([52, 30, 15, 3])] ?? 100
  return Math.max(step, Math.round(cents / step) * step)
}

function wholeDollars(cents: number): number {
  return Math.max(100, Math.round(cents / 100) * 100)
}

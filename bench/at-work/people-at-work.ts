import { quoteAdvice } from '#contract/markup.ts'
import { createQuoteRequest } from '#contract/quote-requests.ts'
import { type SeededRandom, seededRandom } from '#server/sample/index.ts'
import { rateFor } from '../load/request-pool.ts'
import { signedUpdate } from '../load/signed-updates.ts'
import { mixed } from '../scale/plan.ts'
import { csvOf } from '../scale/quotes-csv.ts'
import { chunksOf, quotesOfChunk } from '../scale/scale-quotes.ts'
import type { ScaleLane, TenantLanes } from '../scale/tenant-lanes.ts'
import type { PreparedBrokerage } from './prepared-brokerage.ts'
import type { Call, Caller } from './working-day.ts'

const people = 8
const askEveryMs = 1_000
const saveEveryMs = 3_000
const updateEveryMs = 1_000
/** The share of advice requests about lanes without quotes, made of one lane's origin and another's destination. */
const neverQuotedShare = 0.06

type AskedLane = Pick<ScaleLane, 'origin' | 'destination' | 'equipment' | 'costCents'>

/** Draws a lane, often-quoted lanes more often, and sometimes a lane without quotes. */
function laneToAskAbout(lanes: TenantLanes, random: SeededRandom): AskedLane {
  const lane = lanes.draw(random)
  if (!random.chance(neverQuotedShare)) return lane
  const { destination } = lanes.draw(random)
  return destination === lane.origin ? lane : { ...lane, destination }
}

/** The parts of advice that the quote desk requests. Each needs the model of the whole brokerage. */
const include = 'estimate,curve,optimum'

/** Returns a request for advice on a rate, as the dashboard sends it. */
export function adviceCall(
  token: string,
  lane: AskedLane,
  at: number,
  path: string = quoteAdvice.path,
): Call {
  const query = new URLSearchParams({
    origin: lane.origin,
    destination: lane.destination,
    equipment: lane.equipment,
    proposed_rate: String(rateFor(lane, at)),
    include,
  })
  return { method: 'GET', path: `${path}?${query}`, headers: { authorization: `Bearer ${token}` } }
}

/** Returns a POST request with a JSON body. */
export function jsonCall(path: string, body: unknown, token?: string): Call {
  return {
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  }
}

function saveCall(token: string, lane: AskedLane, random: SeededRandom): Call {
  const saved = {
    origin: lane.origin,
    destination: lane.destination,
    equipment: lane.equipment,
    quoted_rate: rateFor(lane, random.uniform()),
    estimated_cost: Math.round(lane.costCents / 100),
  }
  return jsonCall(createQuoteRequest.path, { customer_name: 'Prairie Packaging', lanes: [saved] }, token)
}

/** Returns a function that makes bookings of recent quotes, each with new amounts, because an unchanged booking writes nothing. */
function updates({ access, recent }: PreparedBrokerage, random: SeededRandom, clock: () => number) {
  let sent = 0
  return (): Call => {
    const lane = recent[sent % recent.length]
    if (lane === undefined) throw new RangeError('There is no quote to book.')
    sent++
    const quoted = lane.quoted_rate_cents / 100
    const customerRate = Math.round(quoted * (0.97 + 0.03 * random.uniform())) + sent / 100
    const truckCost = Math.round(customerRate * (0.8 + 0.1 * random.uniform()))
    const booked = { laneRef: lane.lane_ref, customerRate: Math.round(customerRate * 100) / 100, truckCost }
    const { method, path, token, headers = {}, body = '' } = signedUpdate(access, 0, booked, clock())
    return {
      method,
      path,
      headers: { ...headers, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    }
  }
}

/**
 * Eight people who each request advice once per second, one of whom also saves a quote every 3 s, and a TMS that pushes a
 * booking every second. `clock` is the service's clock, in epoch milliseconds.
 */
export function peopleAtWork(
  brokerage: PreparedBrokerage,
  { token, round, clock }: { token: string; round: number; clock: () => number },
): Caller[] {
  const { lanes, plan } = brokerage
  const random = seededRandom(mixed(plan.seed, 4, round))
  const asking = Array.from({ length: people }, (_, at): Caller => {
    const firstMs = ((at + random.uniform()) * askEveryMs) / people
    const next = () => adviceCall(token, laneToAskAbout(lanes, random), random.uniform())
    return { kind: 'advice', everyMs: askEveryMs, firstMs, next }
  })
  return [
    ...asking,
    {
      kind: 'save',
      everyMs: saveEveryMs,
      firstMs: random.uniform() * askEveryMs,
      next: () => saveCall(token, laneToAskAbout(lanes, random), random),
    },
    {
      kind: 'update',
      everyMs: updateEveryMs,
      firstMs: random.uniform() * updateEveryMs,
      next: updates(brokerage, random, clock),
    },
  ]
}

/** Returns a CSV file with `rows` more quotes of the brokerage, on the same lanes and days. */
export function fileToImport({ plan, tenant, lanes }: PreparedBrokerage, rows: number): Buffer {
  const more = { ...tenant, quotes: rows, firstQuote: 0 }
  const otherPlan = { ...plan, seed: mixed(plan.seed, 5) }
  const chunks = Array.from({ length: chunksOf(rows) }, (_, chunk) =>
    quotesOfChunk(otherPlan, [more], chunk, () => lanes),
  )
  return csvOf(chunks.flat())
}

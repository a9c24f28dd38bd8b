import { roadMiles } from '#engine/miles.ts'
import { type SampleCity, sampleCities } from '#server/sample/sample-cities.ts'
import { type SampleHaul, sampleMarket } from '#server/sample/sample-market.ts'
import { nameGiver, type SampleTrade, samplePeople } from '#server/sample/sample-names.ts'
import { type SeededRandom, seededRandom } from '#server/sample/seeded-random.ts'

/** Why a sample quote was lost, from the same list that people pick from. */
export type SampleReason = 'price' | 'service' | 'capacity' | 'no_response' | 'other'

/**
 * One quote of the sample brokerage, with its outcome.
 *
 * `requestNumber` and `laneNumber` (from 1) identify the load; `quoteNumber` is 1 for its first quote and 2 for a
 * requote. Amounts are whole cents, times epoch milliseconds, `pickupDate` is YYYY-MM-DD.
 */
export interface SampleQuote {
  readonly requestNumber: number
  readonly laneNumber: number
  readonly quoteNumber: number
  readonly customerName: string
  readonly repName: string
  readonly origin: string
  readonly destination: string
  readonly equipment: string
  readonly miles: number
  readonly pickupDate: string
  readonly quotedAt: number
  readonly quotedRateCents: number
  readonly estimatedCostCents: number
  readonly marketRateCents: number | null
  readonly outcome: 'won' | 'lost' | 'pending'
  readonly outcomeReason: SampleReason | null
  readonly decidedAt: number | null
  readonly booking: SampleBooking | null
}

/** The booking that the TMS pushed for a won quote: AR, AP and the carrier. */
export interface SampleBooking {
  readonly customerRateCents: number
  readonly truckCostCents: number
  readonly carrierName: string
  readonly carrierMc: string
  readonly bookedAt: number
}

/** A fictional brokerage with two years of quotes. */
export interface SampleBrokerage {
  readonly company: { readonly name: string }
  readonly people: readonly { readonly name: string; readonly role: 'owner' | 'admin' | 'member' }[]
  readonly customers: readonly { readonly name: string; readonly trade: SampleTrade }[]
  /** Ordered by the time of the quote. */
  readonly quotes: readonly SampleQuote[]
}

/** A customer: its freight, its price sensitivity and its sales rep. */
interface Customer {
  readonly name: string
  readonly trade: SampleTrade
  readonly volume: number
  /**
   * Its price sensitivity: how fast acceptance falls above the going rate. At 10 the customer weighs more than price; at
   * 24 it buys on price alone.
   */
  readonly priceSensitivity: number
  /** Its preference for this brokerage, in log-odds at the going rate. */
  readonly leaning: number
  readonly repName: string
}

/** A recurring haul of some customers. */
interface Demand {
  readonly haul: SampleHaul
  readonly volume: number
  readonly customers: readonly Customer[]
  /** This brokerage's strength on the haul, in log-odds, and its change over the two years. */
  readonly edge: number
  readonly edgeDrift: number
  /** The haul's going rate relative to the usual one, as a logarithm. */
  readonly contested: number
  readonly fromDay: number
  readonly toDay: number
}

/** The seed of the sample brokerage that users get. */
export const sampleSeed = 20_260_301
const dayMilliseconds = 86_400_000
const hourMilliseconds = 3_600_000
const sampleDays = 730
const demandCount = 350
const customerCount = 46
const carrierCount = 140
/** The target number of quotes over two years. Chance and holidays shift it by a few percent. */
const quoteTarget = 12_000
/** The going rate divided by the truck cost: about 14% of the rate is margin. */
const goingMarkup = 1.2
const rateCentsMax = 999_999_999

/**
 * About two years of a freight brokerage's quotes, ending at `now`: some 350 lanes, 12,000 quotes, wins, losses and
 * their reasons, open quotes, requotes, and bookings with AR and AP. All of it is fictional, and the same for the same
 * seed and `now`.
 *
 * It is realistic where pricing depends on it: few lanes carry most quotes; short hauls cost a day's minimum; reefers
 * and flatbeds cost more; a lane and its backhaul differ; markets move with season and weekday; customers buy less often
 * the further the rate is above the going rate, to different degrees.
 *
 * @param input.seed any whole number
 * @param input.now epoch milliseconds; nothing happens after it
 * @example sampleBrokerage({ seed: 7, now: Date.UTC(2026, 10, 20) }).company.name // 'Meridian Fox Freight (sample)'
 */
export function sampleBrokerage(input: { seed: number; now: number }): SampleBrokerage {
  const random = seededRandom(input.seed)
  const names = nameGiver(random)
  const from = Math.floor(input.now / dayMilliseconds - sampleDays) * dayMilliseconds
  const market = sampleMarket(random, { from, to: input.now })
  const customers = makeCustomers(random, names.customer)
  const demands = makeDemands(random, customers)
  const carriers = Array.from({ length: carrierCount }, names.carrier)
  const dailyRequests = requestsByDay(from)

  const quotes: SampleQuote[] = []
  let requestNumber = 0
  for (let day = 0; day <= sampleDays; day++) {
    const open = demands.filter((demand) => demand.fromDay <= day && day <= demand.toDay)
    const volumes = open.map((demand) => demand.volume)
    const times = Array.from({ length: random.poisson(dailyRequests[day] ?? 0) }, () =>
      officeHour(random, from + day * dayMilliseconds),
    ).sort((a, b) => a - b)
    for (const quotedAt of times) {
      if (quotedAt > input.now) continue
      requestNumber++
      const first = open[random.weighted(volumes)]
      if (!first) continue
      const customer = random.pick(first.customers)
      const asked = [first, ...moreOfTheSame(random, { open, first, customer })]
      const repName = random.chance(0.82) ? customer.repName : randomRep(random)
      asked.forEach((demand, position) => {
        const quote = { random, market, demand, customer, carriers, quotedAt, now: input.now, day }
        const written = { requestNumber, laneNumber: position + 1, repName, customerName: customer.name }
        quotes.push(...quotedLane(quote).map((quote) => ({ ...written, ...quote })))
      })
    }
  }
  return {
    company: { name: 'Meridian Fox Freight (sample)' },
    people: samplePeople,
    customers: customers.map(({ name, trade }) => ({ name, trade })),
    quotes: quotes.sort((a, b) => a.quotedAt - b.quotedAt),
  }
}

function makeCustomers(random: SeededRandom, nameFor: (trade: SampleTrade) => string): Customer[] {
  const trades: readonly SampleTrade[] = ['food', 'retail', 'building', 'industrial', 'beverage', 'paper']
  return Array.from({ length: customerCount }, (_, rank) => {
    const trade = trades[random.weighted([28, 20, 18, 18, 8, 8])] ?? 'retail'
    return {
      name: nameFor(trade),
      trade,
      volume: 1 / (rank + 3),
      priceSensitivity: 10 + 14 * random.uniform() ** 1.3,
      leaning: random.normal(-0.34, 0.5),
      repName: randomRep(random),
    }
  })
}

function randomRep(random: SeededRandom): string {
  return random.pick(samplePeople.filter((person) => person.role === 'member')).name
}

/** The equipment of each trade, as weights of V, R, F, step deck and hotshot. */
const trailersByTrade: Readonly<Record<SampleTrade, readonly number[]>> = {
  food: [30, 70, 0, 0, 0],
  retail: [97, 3, 0, 0, 0],
  building: [25, 0, 66, 6, 3],
  industrial: [80, 2, 14, 2, 2],
  beverage: [75, 25, 0, 0, 0],
  paper: [97, 0, 3, 0, 0],
}
const trailers = ['V', 'R', 'F', 'SD', 'HS']

/** The recurring hauls: more between large markets, fewer over long distances, often with the backhaul. */
function makeDemands(random: SeededRandom, customers: readonly Customer[]): Demand[] {
  const pairs = cityPairs()
  const weights = pairs.map((pair) => pair.weight)
  const demands: Demand[] = []
  const taken = new Set<string>()
  const add = (pair: CityPair, trade: SampleTrade) => {
    const equipment = trailers[random.weighted(trailersByTrade[trade])] ?? 'V'
    const key = `${pair.origin.place}>${pair.destination.place}>${equipment}`
    if (taken.has(key) || demands.length >= demandCount) return
    taken.add(key)
    demands.push(makeDemand(random, { haul: { ...pair, equipment }, rank: demands.length, trade, customers }))
  }
  while (demands.length < demandCount) {
    const pair = pairs[random.weighted(weights)]
    if (!pair) continue
    const trade = customers[random.weighted(customers.map((customer) => customer.volume))]?.trade ?? 'retail'
    add(pair, trade)
    if (random.chance(0.45)) add({ ...pair, origin: pair.destination, destination: pair.origin }, trade)
    if (random.chance(0.15)) add(pair, random.pick(customers).trade)
  }
  return demands
}

interface CityPair {
  readonly origin: SampleCity
  readonly destination: SampleCity
  readonly miles: number
  readonly weight: number
}

function cityPairs(): CityPair[] {
  return sampleCities.flatMap((origin) =>
    sampleCities
      .filter((destination) => destination !== origin)
      .map((destination) => {
        const miles = Math.round(roadMiles(origin, destination))
        const weight = (origin.volume * destination.volume) / (1 + (miles / 700) ** 1.5)
        return { origin, destination, miles, weight }
      }),
  )
}

function makeDemand(
  random: SeededRandom,
  about: { haul: SampleHaul; rank: number; trade: SampleTrade; customers: readonly Customer[] },
): Demand {
  const suited = about.customers.filter((customer) => customer.trade === about.trade)
  const volumes = suited.map((customer) => customer.volume)
  const shippers = Array.from({ length: 1 + random.weighted([50, 30, 20]) }, () => {
    const shipper = suited[random.weighted(volumes)]
    return shipper ?? random.pick(about.customers)
  })
  const isNew = random.chance(0.18)
  const isGone = !isNew && random.chance(0.1)
  return {
    haul: about.haul,
    // A Zipf-like distribution: the busiest lanes have several hundred quotes, half of all lanes fewer than a dozen.
    volume: (about.rank + 7) ** -1.25,
    customers: shippers,
    edge: random.normal(0, 0.45),
    edgeDrift: random.normal(0, 0.5),
    contested: random.normal(0, 0.03),
    fromDay: isNew ? Math.floor(random.uniform() * (sampleDays - 60)) : 0,
    toDay: isGone ? Math.floor(120 + random.uniform() * (sampleDays - 120)) : sampleDays,
  }
}

/** The number of additional loads in a request, as weights of 0 to 5. */
const extraLanes = [74, 14, 6, 3, 2, 1]

function moreOfTheSame(
  random: SeededRandom,
  asked: { open: readonly Demand[]; first: Demand; customer: Customer },
): Demand[] {
  const wanted = random.weighted(extraLanes)
  if (wanted === 0) return []
  const others = asked.open.filter(
    (demand) => demand !== asked.first && demand.customers.includes(asked.customer),
  )
  const chosen: Demand[] = []
  while (chosen.length < wanted && others.length > 0) {
    chosen.push(...others.splice(random.weighted(others.map((demand) => demand.volume)), 1))
  }
  return chosen
}

/** The expected number of requests per day: growing, and zero on weekends and major holidays. */
function requestsByDay(from: number): number[] {
  const busy = Array.from({ length: sampleDays + 1 }, (_, day) => {
    const at = new Date(from + day * dayMilliseconds)
    const weekday = [0.03, 1.05, 1.05, 1, 1, 0.9, 0.06][at.getUTCDay()] ?? 1
    return weekday * (isHoliday(at) ? 0.08 : 1) * (1 + (0.5 * day) / sampleDays) * quarterEnd(at)
  })
  const total = busy.reduce((sum, each) => sum + each, 0)
  const lanesPerRequest = extraLanes.reduce((sum, weight, extra) => sum + (weight * (extra + 1)) / 100, 0)
  return busy.map((each) => ((quoteTarget / lanesPerRequest) * each) / total)
}

/** Freight volume is higher in the last week of a quarter. */
function quarterEnd(at: Date): number {
  return at.getUTCMonth() % 3 === 2 && at.getUTCDate() > 23 ? 1.15 : 1
}

/** New Year, Independence Day, Christmas; Memorial Day, Labor Day and Thanksgiving by their weekday. */
function isHoliday(at: Date): boolean {
  const month = at.getUTCMonth() + 1
  const date = at.getUTCDate()
  const weekday = at.getUTCDay()
  const fixed = ['1-1', '7-4', '12-24', '12-25'].includes(`${month}-${date}`)
  const memorialDay = month === 5 && weekday === 1 && date > 24
  const laborDay = month === 9 && weekday === 1 && date <= 7
  const thanksgiving = month === 11 && weekday === 4 && date >= 22 && date <= 28
  return fixed || memorialDay || laborDay || thanksgiving
}

/** A time within the North American working day, in UTC, on a whole second. */
function officeHour(random: SeededRandom, midnight: number): number {
  const hour = Math.min(23.5, Math.max(12, random.normal(17, 2.2)))
  return midnight + Math.floor(hour * 3600) * 1000
}

interface QuoteCase {
  readonly random: SeededRandom
  readonly market: { costCents: (haul: SampleHaul, at: number) => number }
  readonly demand: Demand
  readonly customer: Customer
  readonly carriers: readonly { carrierName: string; carrierMc: string }[]
  readonly quotedAt: number
  readonly now: number
  readonly day: number
}

type SampleFacts = Omit<SampleQuote, 'requestNumber' | 'laneNumber' | 'repName' | 'customerName'>

/** Quotes one load of a request, sometimes with a second, cheaper quote after a loss. */
function quotedLane(quote: QuoteCase): SampleFacts[] {
  const { random, demand } = quote
  const costCents = quote.market.costCents(demand.haul, quote.quotedAt)
  const estimatedCostCents = roundTo(costCents * Math.exp(random.normal(0, 0.045)), 100)
  const marginTarget = Math.min(0.3, Math.max(0.03, random.normal(0.165, 0.05)))
  const quotedRateCents = roundedRate(random, estimatedCostCents / (1 - marginTarget))
  const first = {
    origin: demand.haul.origin.place,
    destination: demand.haul.destination.place,
    equipment: demand.haul.equipment,
    miles: demand.haul.miles,
    pickupDate: pickupDate(random, quote.quotedAt),
    quotedAt: quote.quotedAt,
    quoteNumber: 1,
    quotedRateCents,
    estimatedCostCents,
    marketRateCents: random.chance(0.3) ? null : roundTo(costCents * Math.exp(random.normal(0, 0.03)), 100),
  }
  // The going rate for this customer on this day: what competitors would quote for the same truck.
  const goingCents = costCents * goingMarkup * Math.exp(demand.contested + random.normal(0, 0.03))
  const answered = { ...first, ...answer(quote, { ...first, goingCents, costCents }) }
  if (answered.outcomeReason !== 'price' || answered.decidedAt === null || !random.chance(0.12))
    return [answered]

  const requotedAt = answered.decidedAt + Math.round(random.exponential(3 * 3600)) * 1000
  if (requotedAt > quote.now) return [answered]
  const second = {
    ...first,
    quoteNumber: 2,
    quotedAt: requotedAt,
    quotedRateCents: roundedRate(random, quotedRateCents * (1 - 0.02 - random.exponential(0.02))),
    pickupDate: pickupDate(random, requotedAt),
  }
  return [answered, { ...second, ...answer(quote, { ...second, goingCents, costCents }) }]
}

interface Asked {
  readonly quotedAt: number
  readonly quotedRateCents: number
  readonly goingCents: number
  readonly costCents: number
}

type Answer = Pick<SampleQuote, 'outcome' | 'outcomeReason' | 'decidedAt' | 'booking'>

const unanswered: Answer = { outcome: 'pending', outcomeReason: null, decidedAt: null, booking: null }

/** The customer's answer: the higher the rate, the less likely a win. The quote is pending if the answer would come after `now`. */
function answer(quote: QuoteCase, asked: Asked): Answer {
  const { random, customer, demand } = quote
  const dearer = Math.log(asked.quotedRateCents / asked.goingCents)
  const drift = demand.edgeDrift * (quote.day / sampleDays - 0.5)
  const logOdds = customer.leaning + demand.edge + drift - customer.priceSensitivity * dearer
  const won = random.chance(1 / (1 + Math.exp(-logOdds)))
  // A few quotes stay open because they were never answered or closed.
  if (!won && random.chance(0.007)) return unanswered

  const reason = won ? null : lossReason(random, dearer)
  const decidedAt = asked.quotedAt + answerSeconds(random, reason) * 1000
  if (decidedAt > quote.now) return unanswered
  if (!won) return { outcome: 'lost', outcomeReason: reason, decidedAt, booking: null }
  return { outcome: 'won', outcomeReason: null, decidedAt, booking: book(quote, { ...asked, decidedAt }) }
}

/** Draws the reason of a loss. A higher rate makes price more likely. */
function lossReason(random: SeededRandom, dearer: number): SampleReason {
  const price = Math.min(80, Math.max(20, 50 + 400 * dearer))
  const reasons: readonly SampleReason[] = ['price', 'no_response', 'capacity', 'service', 'other']
  return reasons[random.weighted([price, 26, 8, 8, 6])] ?? 'other'
}

/** The seconds until the outcome: hours for a win, days for a loss, one to two weeks without an answer. */
function answerSeconds(random: SeededRandom, reason: SampleReason | null): number {
  if (reason === 'no_response') return Math.round((7 + 7 * random.uniform()) * 86_400)
  const hours = reason === null ? 0.3 + random.exponential(22) : 1 + random.exponential(44)
  return Math.round(hours * 3600)
}

/** Books nine wins in ten: AR is near the quoted rate, and AP is what a carrier accepted that day. */
function book(quote: QuoteCase, won: Asked & { decidedAt: number }): SampleBooking | null {
  const { random } = quote
  const bookedAt = won.decidedAt + Math.round(random.exponential(9 * 3600)) * 1000
  if (!random.chance(0.91) || bookedAt > quote.now) return null
  const carrierAsksCents = won.costCents * Math.exp(random.normal(0, 0.06))
  // A few carriers cover most loads of a lane.
  const carrier = quote.carriers[Math.floor(random.uniform() ** 1.7 * quote.carriers.length)]
  return {
    customerRateCents: customerRateOf(random, won.quotedRateCents),
    truckCostCents: roundTo(carrierAsksCents, random.chance(0.7) ? 2500 : 1000),
    ...(carrier ?? random.pick(quote.carriers)),
    bookedAt,
  }
}

/** The customer rate: mostly the quoted rate, sometimes negotiated down, sometimes plus detention or a lumper. */
function customerRateOf(random: SeededRandom, quotedRateCents: number): number {
  const kind = random.weighted([82, 10, 8])
  if (kind === 1) return roundTo(quotedRateCents * (1 - 0.01 - 0.04 * random.uniform()), 500)
  if (kind === 2) return quotedRateCents + roundTo(5000 + random.exponential(9000), 500)
  return quotedRateCents
}

/** Rounds a rate as people do: mostly to $5, often to $25, sometimes to $1. */
function roundedRate(random: SeededRandom, cents: number): number {
  return roundTo(cents, [500, 2500, 100, 5000][random.weighted([52, 28, 12, 8])] ?? 500)
}

/** Rounds to the nearest multiple of `step` cents, within the limits of an amount. */
function roundTo(cents: number, step: number): number {
  return Math.min(rateCentsMax, Math.max(step, Math.round(cents / step) * step))
}

/** The pickup day: mostly a working day within two days of the quote. */
function pickupDate(random: SeededRandom, quotedAt: number): string {
  const date = new Date(quotedAt + random.weighted([18, 40, 22, 10, 6, 4]) * dayMilliseconds)
  const weekday = date.getUTCDay()
  const wait = weekday === 6 ? 2 : weekday === 0 ? 1 : 0
  return new Date(date.getTime() + wait * dayMilliseconds - 6 * hourMilliseconds).toISOString().slice(0, 10)
}

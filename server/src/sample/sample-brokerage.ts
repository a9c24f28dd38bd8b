import { roadMiles } from '#engine/miles.ts'
import { type SampleCity, sampleCities } from '#server/sample/sample-cities.ts'
import { type SampleHaul, sampleMarket } from '#server/sample/sample-market.ts'
import { nameGiver, type SampleTrade, samplePeople } from '#server/sample/sample-names.ts'
import { type SeededRandom, seededRandom } from '#server/sample/seeded-random.ts'

/** Why a sample quote was lost: the same words a person picks from. */
export type SampleReason = 'price' | 'service' | 'capacity' | 'no_response' | 'other'

/**
 * One quoted lane of the sample brokerage, with what became of it.
 *
 * It belongs to request `requestNumber` as its lane `laneNumber` (from 1); `quoteNumber` is 1 for the first quote of that
 * lane and 2 for a requote. Amounts are whole cents, times epoch milliseconds, `pickupDate` is YYYY-MM-DD.
 */
export interface SampleLane {
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

/** What the TMS pushed for a won lane: AR, AP and the carrier. */
export interface SampleBooking {
  readonly customerRateCents: number
  readonly truckCostCents: number
  readonly carrierName: string
  readonly carrierMc: string
  readonly bookedAt: number
}

/** A brokerage that never was, with two years of quotes. */
export interface SampleBrokerage {
  readonly company: { readonly name: string }
  readonly people: readonly { readonly name: string; readonly role: 'owner' | 'admin' | 'member' }[]
  readonly customers: readonly { readonly name: string; readonly trade: SampleTrade }[]
  /** In the order they were quoted. */
  readonly lanes: readonly SampleLane[]
}

/** A customer: what it ships, how closely it watches the price, and who looks after it. */
interface Customer {
  readonly name: string
  readonly trade: SampleTrade
  readonly volume: number
  /** How fast its yes fades as the rate passes the going rate: 10 looks at more than price, 24 buys on it alone. */
  readonly priceSensitivity: number
  /** Its leaning towards this brokerage, in log-odds at the going rate. */
  readonly leaning: number
  readonly repName: string
}

/** A haul somebody keeps asking for. */
interface Demand {
  readonly haul: SampleHaul
  readonly volume: number
  readonly customers: readonly Customer[]
  /** How well this brokerage does on it, in log-odds, and how that changes over the two years. */
  readonly edge: number
  readonly edgeDrift: number
  /** Its going rate beside the market's, as a logarithm: some lanes are simply contested. */
  readonly contested: number
  readonly fromDay: number
  readonly toDay: number
}

const dayMilliseconds = 86_400_000
const hourMilliseconds = 3_600_000
const sampleDays = 730
const demandCount = 350
const customerCount = 46
const carrierCount = 140
/** Lane lines looked for over the whole span; chance and holidays move it by a few per cent. */
const quoteTarget = 12_000
/** The going sell rate over truck cost: about 14 % of it is margin. */
const goingMarkup = 1.2
const rateCentsMax = 999_999_999

/**
 * About two years of a freight brokerage's quotes ending at `now`: some 350 lanes, 12,000 quotes, wins, losses and their
 * reasons, open quotes, requotes, bookings with AR and AP. It is made up, and the same for the same seed and `now`.
 *
 * Believable in what pricing looks at: few lanes carry most quotes; short hauls cost a day's minimum; reefers and
 * flatbeds are dearer; a lane and its way back differ; markets drift with season and weekday; each customer buys less
 * often the further the rate is above the going rate, some much more so than others.
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

  const lanes: SampleLane[] = []
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
        lanes.push(...quoteLane(quote).map((lane) => ({ ...written, ...lane })))
      })
    }
  }
  return {
    company: { name: 'Meridian Fox Freight (sample)' },
    people: samplePeople,
    customers: customers.map(({ name, trade }) => ({ name, trade })),
    lanes: lanes.sort((a, b) => a.quotedAt - b.quotedAt),
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

/** Which trailers each trade asks for: V, R, F, step deck, hotshot. */
const trailersByTrade: Readonly<Record<SampleTrade, readonly number[]>> = {
  food: [30, 70, 0, 0, 0],
  retail: [97, 3, 0, 0, 0],
  building: [25, 0, 66, 6, 3],
  industrial: [80, 2, 14, 2, 2],
  beverage: [75, 25, 0, 0, 0],
  paper: [97, 0, 3, 0, 0],
}
const trailers = ['V', 'R', 'F', 'SD', 'HS']

/** The hauls people ask for: more between large markets, fewer the longer they are, often the way back as well. */
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
    // Zipf-like: the busiest lanes carry several hundred quotes, half of all lanes fewer than a dozen.
    volume: (about.rank + 7) ** -1.25,
    customers: shippers,
    edge: random.normal(0, 0.45),
    edgeDrift: random.normal(0, 0.5),
    contested: random.normal(0, 0.03),
    fromDay: isNew ? Math.floor(random.uniform() * (sampleDays - 60)) : 0,
    toDay: isGone ? Math.floor(120 + random.uniform() * (sampleDays - 120)) : sampleDays,
  }
}

/** How many lanes one request asks for beyond the first, as weights of 0 to 5. */
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

/** Requests expected on each day: a growing business, closed at week-ends and on the great holidays. */
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

/** The last week of a quarter ships more. */
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

/** A moment of the North American working day, in UTC, on whole seconds. */
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

type LaneFacts = Omit<SampleLane, 'requestNumber' | 'laneNumber' | 'repName' | 'customerName'>

/** One lane of a request: the quote, and now and then a second, cheaper one after the first was turned down. */
function quoteLane(quote: QuoteCase): LaneFacts[] {
  const { random, demand } = quote
  const costCents = quote.market.costCents(demand.haul, quote.quotedAt)
  const estimatedCostCents = roundTo(costCents * Math.exp(random.normal(0, 0.045)), 100)
  const marginTarget = Math.min(0.3, Math.max(0.03, random.normal(0.165, 0.05)))
  const quotedRateCents = askingRate(random, estimatedCostCents / (1 - marginTarget))
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
  // The going rate is this customer's, today: what others would have asked it for the same truck.
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
    quotedRateCents: askingRate(random, quotedRateCents * (1 - 0.02 - random.exponential(0.02))),
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

type Answer = Pick<SampleLane, 'outcome' | 'outcomeReason' | 'decidedAt' | 'booking'>

const unanswered: Answer = { outcome: 'pending', outcomeReason: null, decidedAt: null, booking: null }

/** What the customer says: yes less often the dearer the rate, and not before it has said it. */
function answer(quote: QuoteCase, asked: Asked): Answer {
  const { random, customer, demand } = quote
  const dearer = Math.log(asked.quotedRateCents / asked.goingCents)
  const drift = demand.edgeDrift * (quote.day / sampleDays - 0.5)
  const logOdds = customer.leaning + demand.edge + drift - customer.priceSensitivity * dearer
  const won = random.chance(1 / (1 + Math.exp(-logOdds)))
  // A few quotes are never answered and nobody closes them.
  if (!won && random.chance(0.007)) return unanswered

  const reason = won ? null : lossReason(random, dearer)
  const decidedAt = asked.quotedAt + answerSeconds(random, reason) * 1000
  if (decidedAt > quote.now) return unanswered
  if (!won) return { outcome: 'lost', outcomeReason: reason, decidedAt, booking: null }
  return { outcome: 'won', outcomeReason: null, decidedAt, booking: book(quote, { ...asked, decidedAt }) }
}

/** The dearer the quote, the likelier that price was the reason. */
function lossReason(random: SeededRandom, dearer: number): SampleReason {
  const price = Math.min(80, Math.max(20, 50 + 400 * dearer))
  const reasons: readonly SampleReason[] = ['price', 'no_response', 'capacity', 'service', 'other']
  return reasons[random.weighted([price, 26, 8, 8, 6])] ?? 'other'
}

/** Wins come within hours, refusals within days, and silence is closed after one to two weeks. */
function answerSeconds(random: SeededRandom, reason: SampleReason | null): number {
  if (reason === 'no_response') return Math.round((7 + 7 * random.uniform()) * 86_400)
  const hours = reason === null ? 0.3 + random.exponential(22) : 1 + random.exponential(44)
  return Math.round(hours * 3600)
}

/** Nine wins in ten reach the TMS: AR near the quote, AP what a carrier took that day. */
function book(quote: QuoteCase, won: Asked & { decidedAt: number }): SampleBooking | null {
  const { random } = quote
  const bookedAt = won.decidedAt + Math.round(random.exponential(9 * 3600)) * 1000
  if (!random.chance(0.91) || bookedAt > quote.now) return null
  const carrierAsksCents = won.costCents * Math.exp(random.normal(0, 0.06))
  // The same few carriers cover most of a lane.
  const carrier = quote.carriers[Math.floor(random.uniform() ** 1.7 * quote.carriers.length)]
  return {
    customerRateCents: billedRate(random, won.quotedRateCents),
    truckCostCents: roundTo(carrierAsksCents, random.chance(0.7) ? 2500 : 1000),
    ...(carrier ?? random.pick(quote.carriers)),
    bookedAt,
  }
}

/** Most loads bill at the quote; some were talked down, some carry detention or a lumper. */
function billedRate(random: SeededRandom, quotedRateCents: number): number {
  const kind = random.weighted([82, 10, 8])
  if (kind === 1) return roundTo(quotedRateCents * (1 - 0.01 - 0.04 * random.uniform()), 500)
  if (kind === 2) return quotedRateCents + roundTo(5000 + random.exponential(9000), 500)
  return quotedRateCents
}

/** People quote round numbers: mostly fives, often twenty-fives, sometimes the exact dollar. */
function askingRate(random: SeededRandom, cents: number): number {
  return roundTo(cents, [500, 2500, 100, 5000][random.weighted([52, 28, 12, 8])] ?? 500)
}

/** The nearest multiple of `step` cents, kept within what an amount may be. */
function roundTo(cents: number, step: number): number {
  return Math.min(rateCentsMax, Math.max(step, Math.round(cents / step) * step))
}

/** Most loads pick up within two days of the quote, on a working day. */
function pickupDate(random: SeededRandom, quotedAt: number): string {
  const date = new Date(quotedAt + random.weighted([18, 40, 22, 10, 6, 4]) * dayMilliseconds)
  const weekday = date.getUTCDay()
  const wait = weekday === 6 ? 2 : weekday === 0 ? 1 : 0
  return new Date(date.getTime() + wait * dayMilliseconds - 6 * hourMilliseconds).toISOString().slice(0, 10)
}

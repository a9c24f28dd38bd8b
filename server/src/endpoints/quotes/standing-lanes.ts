import type { DaySum, LaneDay } from '#engine/market-standing.ts'
import type { Steps } from '#engine/steps.ts'
import {
  int8At,
  type PackedLanes,
  postgresEpochMs,
  quoteRecordBytes,
  recordSeparator,
  unitSeparator,
  viewOf,
} from '../../database/queries/index.ts'

/** A lane with its won, lost and paid quotes. */
export interface StandingLane {
  readonly originKey: string
  readonly destinationKey: string
  readonly equipment: string
  readonly originState: string
  readonly destinationState: string
  readonly originMarket: string | null
  readonly destinationMarket: string | null
  readonly origin: string
  readonly destination: string
  readonly quotes: readonly PricedQuote[]
}

/** Amounts in cents. */
interface PricedQuote {
  /** The day (UTC), in days since 1970. */
  readonly day: number
  /** What was won or lost; 0 if the quote is undecided or has no rate. */
  readonly won: number
  readonly lost: number
  /** The booked truck cost; 0 if there is none. */
  readonly paid: number
  /** NaN if they are not known. */
  readonly miles: number
}

/** What a lane won, lost and paid on one day (UTC). */
export interface StandingDay extends LaneDay {
  /** The start of the day, in epoch milliseconds. */
  readonly at: number
  /** Average miles of the quotes; null if none are known. */
  readonly miles: number | null
}

const dayMs = 86_400_000

/** The lanes of an answer of the database, in steps. */
export function* unpackLanes({ lanes, quotes }: PackedLanes): Steps<StandingLane[]> {
  if (lanes === null || quotes === null) return []
  const bytes = viewOf(quotes)
  let at = 0
  const found: StandingLane[] = []
  for (const texts of lanes.split(recordSeparator)) {
    const [
      originKey = '',
      destinationKey = '',
      equipment = '',
      originState = '',
      destinationState = '',
      ...more
    ] = texts.split(unitSeparator)
    const [originMarket = '', destinationMarket = '', origin = '', destination = ''] = more
    const count = bytes.getInt32(at)
    at += 4
    const priced: PricedQuote[] = []
    for (const end = at + count * quoteRecordBytes; at < end; at += quoteRecordBytes)
      priced.push(quoteAt(bytes, at))
    found.push({
      ...{ originKey, destinationKey, equipment, originState, destinationState, origin, destination },
      originMarket: originMarket || null,
      destinationMarket: destinationMarket || null,
      quotes: priced,
    })
    if (found.length % 1_000 === 0) yield
  }
  return found
}

function quoteAt(bytes: DataView, at: number): PricedQuote {
  const rate = bytes.getInt32(at + 8)
  return {
    day: Math.floor((int8At(bytes, at) / 1_000 + postgresEpochMs) / dayMs),
    won: Math.max(rate, 0),
    lost: Math.max(-rate, 0),
    paid: bytes.getInt32(at + 12),
    miles: bytes.getFloat64(at + 16),
  }
}

/** The days of a lane, oldest first. */
export function standingDays({ quotes }: Pick<StandingLane, 'quotes'>): StandingDay[] {
  return [...Map.groupBy(quotes, ({ day }) => day)]
    .sort(([one], [other]) => one - other)
    .map(([day, of]) => {
      const miles = of.map((quote) => quote.miles).filter((one) => !Number.isNaN(one))
      return {
        at: day * dayMs,
        won: sumOf(of, 'won'),
        lost: sumOf(of, 'lost'),
        paid: sumOf(of, 'paid'),
        miles: miles.length === 0 ? null : miles.reduce((sum, one) => sum + one, 0) / miles.length,
      }
    })
}

/** The number and the sum of the amounts of a kind. */
export function sumOf(quotes: readonly PricedQuote[], kind: 'won' | 'lost' | 'paid'): DaySum {
  let [count, cents] = [0, 0]
  for (const quote of quotes) {
    if (quote[kind] === 0) continue
    count += 1
    cents += quote[kind]
  }
  return { count, cents }
}

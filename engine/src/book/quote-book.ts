import { freightLane, type LaneIdentity } from '../quotes/lane-identity.ts'
import {
  LOST,
  OUTCOMES,
  PENDING,
  QuoteColumns,
  type QuotePortion,
  type QuoteRow,
  WON,
} from '../quotes/quote-columns.ts'
import type { QuotedLanes, QuoteListener } from '../quotes/quoted-lanes.ts'
import type { Pool } from '../rate-type.ts'
import { regionOf } from '../regions.ts'
import type { Steps } from '../steps.ts'
import { QuoteNames } from './quote-names.ts'

/** The places and the equipment of a lane, as saved in the database. Keys are normalized place names. */
export interface LanePlaces {
  readonly originKey: string
  readonly destinationKey: string
  readonly originState: string
  readonly destinationState: string
  readonly originMarket: string | null
  readonly destinationMarket: string | null
  readonly equipmentCode: string
}

/** A group of city pairs: a market pair, a state pair, a region pair, or the whole brokerage. */
export interface Area {
  /** Increases with every change to one of the area's quotes. */
  revision: number
  corridors: Corridor[]
}

/** A city pair, with one lane per equipment quoted on it. A corridor is also an area that contains only itself. */
export interface Corridor extends Area {
  lanes: BookLane[]
  /** The wider areas that contain this city pair. */
  areas: readonly Area[]
}

/** A city pair with one equipment. */
export interface BookLane {
  readonly number: number
  readonly places: LanePlaces
  readonly corridor: Corridor
  /** The number of quotes for each rate type and outcome, whatever their rates: see `countsOf`. */
  readonly counts: number[]
}

/** Numbers of quotes by outcome. */
export type OutcomeCounts = readonly [pending: number, won: number, lost: number]

/** The numbers of a lane's quotes in a pool (spot, contract or all), by outcome. */
export function countsOf({ counts }: Pick<BookLane, 'counts'>, pool: Pool): OutcomeCounts {
  const of = (outcome: number) =>
    (pool === 'contract' ? 0 : (counts[outcome] ?? 0)) +
    (pool === 'spot' ? 0 : (counts[OUTCOMES.length + outcome] ?? 0))
  return [of(PENDING), of(WON), of(LOST)]
}

/**
 * A brokerage's quotes in memory. Every answer about prices is computed from the book, and every change is applied to it. Quotes
 * are in columns; city pairs list their lanes, and market, state and region pairs list their city pairs.
 *
 * Wider areas are found by name: see `areaName`.
 *
 * @example
 * const book = new QuoteBook()
 * book.put(book.lane(places), { quoteId: 7, quotedAt, rateCents: 210000, costCents: Number.NaN, outcome: 1, miles: 780 })
 * book.size // 1
 */
export class QuoteBook implements QuotedLanes {
  readonly columns = new QuoteColumns()
  readonly pool = 'all'
  /** Quotes of which an amount cannot be converted to the basis of the book. They count nowhere; statistics say how many there are. */
  readonly apart = new QuoteColumns()
  readonly names = new QuoteNames()
  readonly lanes: BookLane[] = []
  /** Every city pair. */
  readonly all: Area = { revision: 0, corridors: [] }
  /** Like the counts of a lane, but of all lanes together. */
  readonly #counts = noCounts()
  #revision = 0
  readonly #corridors = new Map<string, Corridor>()
  readonly #areas = new Map<string, Area>()
  /** The one copy of each place name: thousands of lanes have the same states, markets and cities. */
  readonly #names = new Map<string, string>()
  readonly #listeners = new Set<QuoteListener>()

  get laneCount(): number {
    return this.lanes.length
  }

  get size(): number {
    return this.columns.size
  }

  /** A different number after each change. */
  get revision(): number {
    return this.#revision
  }

  /** Adds a portion of quotes to a book that is being opened. Nothing may be read, put or removed before `join` has ended. */
  append(portion: QuotePortion, apart?: QuotePortion): void {
    this.columns.append(portion)
    if (apart !== undefined) this.apart.append(apart)
  }

  /** Ends the opening of the book, in steps. Revisions stay 0, because nobody has read it yet. */
  *join(): Steps<void> {
    yield* this.columns.join()
    yield* this.apart.join()
    const { lane: laneOf, rows } = this.columns
    const counts = new Int32Array(COUNTS * this.lanes.length)
    for (let row = 0; row < rows; row++) {
      if (row % ROWS_PER_STEP === 0) yield
      const lane = laneOf[row]!
      if (lane < 0) continue
      const at = COUNTS * lane + this.#countedAs(row)
      counts[at]!++
    }
    for (const { number, counts: ofLane } of this.lanes) {
      for (let at = 0; at < COUNTS; at++) {
        ofLane[at] = counts[COUNTS * number + at]!
        this.#counts[at]! += ofLane[at]!
      }
    }
  }

  /** The number of a lane. A new lane is assigned the next number. */
  lane(places: LanePlaces): number {
    const { originKey, destinationKey, equipmentCode } = places
    const known = this.corridor(originKey, destinationKey)
    const lane = laneWith(known, equipmentCode)
    if (lane !== undefined) return lane.number
    const own = this.#ownNames(places)
    const corridor = known ?? this.#newCorridor(own)
    const made: BookLane = { number: this.lanes.length, places: own, corridor, counts: noCounts() }
    this.lanes.push(made)
    // `push` to an empty list allocates 17 places, and most city pairs have one lane.
    if (corridor.lanes.length === 0) corridor.lanes = [made]
    else corridor.lanes.push(made)
    return made.number
  }

  /** Adds a quote, or replaces the one with the same quoteId. */
  put(lane: number, quote: QuoteRow): void {
    this.apart.remove(quote.quoteId)
    const before = this.columns.rowOf(quote.quoteId)
    if (before >= 0) this.#leave(before)
    this.#changing(lane)
    this.#count(this.columns.put(lane, quote, before), 1)
  }

  /** Adds a quote to `apart`, or replaces the one with the same quoteId. */
  putApart(lane: number, quote: QuoteRow): void {
    this.#removeCounted(quote.quoteId)
    this.apart.put(lane, quote)
  }

  /** Removes a quote. An unknown id is ignored. */
  remove(quoteId: number): void {
    this.apart.remove(quoteId)
    this.#removeCounted(quoteId)
  }

  #removeCounted(quoteId: number): void {
    const row = this.columns.rowOf(quoteId)
    if (row < 0) return
    this.#leave(row)
    this.columns.remove(quoteId)
  }

  corridor(originKey: string, destinationKey: string): Corridor | undefined {
    return this.#corridors.get(corridorKey(originKey, destinationKey))
  }

  /** A wider area by its name; undefined if it has no quotes. */
  area(name: string): Area | undefined {
    return this.#areas.get(name)
  }

  laneOf(key: string): number | undefined {
    const end = key.lastIndexOf('|')
    return laneWith(this.#corridors.get(key.slice(0, end)), key.slice(end + 1))?.number
  }

  identity(lane: number): LaneIdentity {
    const known = this.lanes[lane]
    if (known === undefined) throw new RangeError(`There is no lane ${lane}.`)
    return identityOf(known.places)
  }

  /** Notifies the listener of every change, until the returned function is called. */
  listen(listener: QuoteListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The numbers of quotes of a pool, whatever their rates. */
  counts(pool: Pool): OutcomeCounts {
    return countsOf({ counts: this.#counts }, pool)
  }

  /** Approximate memory of the quotes, in bytes. */
  bytes(): number {
    return (
      this.columns.bytes() +
      this.apart.bytes() +
      this.names.bytes() +
      bytesPerLane * this.lanes.length +
      bytesPerCorridor * this.all.corridors.length
    )
  }

  #leave(row: number): void {
    this.#changing(this.columns.lane[row]!)
    this.#count(row, -1)
  }

  #changing(lane: number): void {
    for (const listener of this.#listeners) listener.changing(lane)
  }

  /** Counts a quote that was added (1), or that is about to be removed (-1). */
  #count(row: number, by: 1 | -1): void {
    const { columns } = this
    const lane = this.lanes[columns.lane[row]!]
    if (lane === undefined) return
    const at = this.#countedAs(row)
    for (const counts of [lane.counts, this.#counts]) counts[at]! += by
    this.#revision++
    lane.corridor.revision = this.#revision
    for (const area of lane.corridor.areas) area.revision = this.#revision
    for (const listener of this.#listeners) listener.counting(row, by)
  }

  /** The entry of `counts` that a quote is counted in. */
  #countedAs(row: number): number {
    const { columns } = this
    return columns.outcomeOf(row) + (columns.rateTypeOf(row) === 'contract' ? OUTCOMES.length : 0)
  }

  #newCorridor(places: LanePlaces): Corridor {
    const names = [
      areaName.states(places.originState, places.destinationState),
      areaName.regions(places.originState, places.destinationState),
      areaName.markets(places.originMarket, places.destinationMarket),
    ]
    const corridor: Corridor = { revision: 0, corridors: [], lanes: [], areas: [] }
    corridor.corridors = [corridor]
    corridor.areas = [...names.flatMap((name) => (name === null ? [] : [this.#areaFor(name)])), this.all]
    for (const area of corridor.areas) {
      if (area.corridors.length === 0) area.corridors = [corridor]
      else area.corridors.push(corridor)
    }
    this.#corridors.set(corridorKey(places.originKey, places.destinationKey), corridor)
    return corridor
  }

  #ownNames(places: LanePlaces): LanePlaces {
    const own = <Name extends string | null>(name: Name): Name => {
      if (name === null) return name
      const known = this.#names.get(name)
      if (known === undefined) this.#names.set(name, name)
      return (known ?? name) as Name
    }
    return {
      originKey: own(places.originKey),
      destinationKey: own(places.destinationKey),
      originState: own(places.originState),
      destinationState: own(places.destinationState),
      originMarket: own(places.originMarket),
      destinationMarket: own(places.destinationMarket),
      equipmentCode: own(places.equipmentCode),
    }
  }

  #areaFor(name: string): Area {
    const known = this.#areas.get(name)
    if (known !== undefined) return known
    const made = { revision: 0, corridors: [] }
    this.#areas.set(name, made)
    return made
  }
}

/** The number of entries of `counts`: one for each rate type and outcome. */
const COUNTS = 2 * OUTCOMES.length
const noCounts = (): number[] => new Array<number>(COUNTS).fill(0)

const ROWS_PER_STEP = 50_000

/** Approximate memory of a lane and of a city pair without their quotes, in bytes: names, lists and index entries. */
const bytesPerLane = 400
const bytesPerCorridor = 500

/** The key of a city pair. `freightLane` adds the equipment after a `|`. */
function corridorKey(originKey: string, destinationKey: string): string {
  return `${originKey}>${destinationKey}`
}

function laneWith(corridor: Corridor | undefined, equipmentCode: string): BookLane | undefined {
  return corridor?.lanes.find(({ places }) => places.equipmentCode === equipmentCode)
}

/**
 * The names of wider areas. Null if a place is outside every region, or in no market.
 *
 * @example areaName.states('TX', 'GA') // 'states TX>GA'
 */
export const areaName = {
  states: (from: string, to: string) => `states ${from}>${to}`,
  regions: (fromState: string, toState: string) => {
    const [from, to] = [regionOf(fromState), regionOf(toState)]
    return from === null || to === null ? null : `regions ${from}>${to}`
  },
  markets: (from: string | null, to: string | null) =>
    from === null || to === null ? null : `markets ${from}>${to}`,
}

/** The identity of a lane in the estimate: its place keys and equipment, and the scopes that its estimate borrows from. */
export function identityOf(places: {
  readonly originKey: string
  readonly destinationKey: string
  readonly originState: string
  readonly destinationState: string
  readonly equipmentCode: string | null
}): LaneIdentity {
  const end = (city: string, state: string) => ({ city, state, region: regionOf(state) ?? state })
  return freightLane({
    origin: end(places.originKey, places.originState),
    destination: end(places.destinationKey, places.destinationState),
    equipment: places.equipmentCode,
  })
}

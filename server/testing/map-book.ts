import type { LanePlaces } from '#engine/book/quote-book.ts'
import { QuoteNames } from '#engine/book/quote-names.ts'
import { quoteAt } from '#engine/quotes/quote-columns.ts'
import type { Book } from '#server/book/index.ts'

export interface MapBook extends Book {
  /** Each quote as text, by lane_id. Equal books have equal rows. */
  readonly rows: ReadonlyMap<number, string>
  readonly lanes: readonly LanePlaces[]
}

/** A minimal book whose contents tests can read. It counts 100 bytes per quote. */
export function mapBook(): MapBook {
  const rows = new Map<number, string>()
  const lanes: LanePlaces[] = []
  const book: MapBook = {
    rows,
    lanes,
    names: new QuoteNames(),
    lane(places) {
      const known = lanes.findIndex((lane) => JSON.stringify(lane) === JSON.stringify(places))
      return known >= 0 ? known : lanes.push(places) - 1
    },
    put(lane, { quoteId, quotedAt, rateCents, costCents, outcome, miles }) {
      const quote = [quotedAt, rateCents, costCents, outcome, miles]
      rows.set(quoteId, [...Object.values(lanes[lane] ?? {}), ...quote].map(String).join(' '))
    },
    putApart(_lane, { quoteId }) {
      rows.delete(quoteId)
    },
    remove(quoteId) {
      rows.delete(quoteId)
    },
    append(portion) {
      for (let at = 0; at < portion.count; at++) book.put(portion.lane[at] as number, quoteAt(portion, at))
    },
    *join() {},
    bytes: () => rows.size * 100,
    get size() {
      return rows.size
    },
  }
  return book
}

import type { LanePlaces } from '#engine/book/quote-book.ts'
import type { Book } from '#server/book/index.ts'

export interface MapBook extends Book {
  /** The quotes as text, one a line, by their ids: equal for equal books. */
  readonly rows: ReadonlyMap<number, string>
  readonly lanes: readonly LanePlaces[]
}

/** The simplest book there is: tests read from it what the database gave. Each quote takes a hundred bytes. */
export function mapBook(): MapBook {
  const rows = new Map<number, string>()
  const lanes: LanePlaces[] = []
  return {
    rows,
    lanes,
    lane(places) {
      const known = lanes.findIndex((lane) => JSON.stringify(lane) === JSON.stringify(places))
      return known >= 0 ? known : lanes.push(places) - 1
    },
    put(lane, { laneId, quotedAt, rateCents, costCents, outcome, miles }) {
      const quote = [quotedAt, rateCents, costCents, outcome, miles]
      rows.set(laneId, [...Object.values(lanes[lane] ?? {}), ...quote].map(String).join(' '))
    },
    remove(laneId) {
      rows.delete(laneId)
    },
    reserve() {},
    bytes: () => rows.size * 100,
    get size() {
      return rows.size
    },
  }
}

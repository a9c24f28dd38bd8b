import type { Place } from '#engine/place.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'
import type { Cell } from './cells.ts'

/** What cells of a file were read as, so that what thousands of rows say alike is read once. It ends with its import. */
export interface KnownCells {
  /** What `reader` makes of a text. It must make the same of the same text always. */
  read<T>(reader: (text: string) => Cell<T>, text: string): Cell<T>
  /** As `locate` of the geography. */
  locate(place: Place): LocatedPlace | null
}

/** Of each reader, and of places: more than a brokerage has of customers, cities or carriers, in some megabytes. */
const knownMax = 20_000
/** Names and places are shorter; what is longer is read each time. */
const lengthMax = 100

export function knownCells(max = knownMax): KnownCells {
  const readers = new Map<(text: string) => Cell<unknown>, Map<string, Cell<unknown>>>()
  const places = new Map<string, LocatedPlace | null>()
  return {
    read<T>(reader: (text: string) => Cell<T>, text: string): Cell<T> {
      if (text.length > lengthMax) return reader(text)
      let cells = readers.get(reader) as Map<string, Cell<T>> | undefined
      if (cells === undefined) {
        cells = new Map()
        readers.set(reader, cells)
      }
      const known = cells.get(text)
      if (known !== undefined) return known
      // A part of a text keeps the whole in memory: here a piece of the file.
      const own = Buffer.from(text).toString()
      const cell = reader(own)
      if (cells.size >= max) cells.clear()
      cells.set(own, cell)
      return cell
    },
    locate(place) {
      // The key is the folded city and the state, which is all that a place is looked up by.
      const known = places.get(place.key)
      if (known !== undefined) return known
      const located = locate(place)
      if (places.size >= max) places.clear()
      places.set(place.key, located)
      return located
    },
  }
}

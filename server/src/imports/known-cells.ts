import type { Place } from '#engine/place.ts'
import { type LocatedPlace, locate } from '#geography/locate.ts'
import type { Cell } from '../csv/index.ts'

/** A cache of parsed cells for one import, because thousands of rows share values. */
export interface KnownCells {
  /** Reads a text with `reader`, which must be a pure function. */
  read<T>(reader: (text: string) => Cell<T>, text: string): Cell<T>
  /** As `locate` in the geography package. */
  locate(place: Place): LocatedPlace | null
}

/**
 * The maximum number of entries per reader, and of places. Brokerages have fewer customers, cities and carriers. The maximum limits
 * the memory to some megabytes.
 */
const knownMax = 20_000
/** Longer texts are not cached, because names and places are shorter. */
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
      // A substring would hold the whole piece of the file in memory, so the text is copied.
      const own = Buffer.from(text).toString()
      const cell = reader(own)
      if (cells.size >= max) cells.clear()
      cells.set(own, cell)
      return cell
    },
    locate(place) {
      // The key has the folded city and the state, which are all that `locate` uses.
      const known = places.get(place.key)
      if (known !== undefined) return known
      const located = locate(place)
      if (places.size >= max) places.clear()
      places.set(place.key, located)
      return located
    },
  }
}

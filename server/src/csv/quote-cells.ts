import { knownEquipment } from '#engine/equipment.ts'
import { type Mode, modeOfWord } from '#engine/load-mode.ts'
import { STOPS_MAX, stopsOf, stopsText } from '#engine/load-stops.ts'
import { type QuoteUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import {
  type Cell,
  readBasis,
  readCharge,
  readCost,
  readCurrency,
  readDay,
  readEquipment,
  readMiles,
  readMoment,
  readMoney,
  readNamedCharges,
  readText,
} from './cells.ts'

/** How a cell of a quote's field is read, by the field's unit: amounts in whole cents, times in epoch milliseconds. */
export const quoteCells = {
  place: readText,
  equipment: readEquipment,
  rate: readMoney,
  cost: readCost,
  charge: readCharge,
  charges: readNamedCharges,
  basis: readBasis,
  currency: readCurrency,
  rateType: readRateType,
  mode: readMode,
  stops: readStops,
  miles: readMiles,
  text: readText,
  time: readMoment,
  day: readDay,
} as const satisfies Readonly<Record<QuoteUnit, (text: string) => Cell<string | number | null>>>

function readRateType(text: string): Cell<'spot' | 'contract'> {
  const word = text.toLowerCase()
  if (word === 'spot') return { value: 'spot' }
  return /^contract(ed)?$/.test(word) ? { value: 'contract' } : { wrong: 'spot or contract' }
}

/** Reads a mode. Some files have the equipment in a column of this name: a van is a truckload, a container is intermodal. */
function readMode(text: string): Cell<Mode> {
  const equipment = knownEquipment(text)
  const mode =
    modeOfWord(text) ?? (equipment === null ? null : equipment === 'IMC' ? 'intermodal' : 'truckload')
  return mode === null ? { wrong: 'truckload, partial, LTL, drayage or intermodal' } : { value: mode }
}

/**
 * Reads the places between origin and destination. They are separated by semicolons, because places have commas. Many files have the
 * number of stops in a column of this name: with two, there is none in between.
 *
 * @example readStops('Memphis, TN | Nashville, TN') // { value: 'Memphis, TN; Nashville, TN' }
 */
function readStops(text: string): Cell<string | null> {
  const places = text
    .split(/[;|\n]/)
    .map((place) => place.trim().replaceAll(/\s+/g, ' '))
    .filter((place) => place !== '')
  if (/^[02]$/.test(text.trim())) return { value: null }
  if (places.some((place) => /^\d{1,3}$/.test(place))) {
    return {
      wrong:
        'the places between origin and destination, separated by semicolons: a number of stops does not say where they are',
    }
  }
  return places.length > STOPS_MAX
    ? { wrong: `at most ${STOPS_MAX} places between origin and destination` }
    : { value: stopsText(places) }
}

/** Reads the places between origin and destination as the API has them. */
export function readSentStops(text: string): Cell<string[]> {
  const read = readStops(text)
  return 'wrong' in read ? read : { value: stopsOf(read.value) }
}

/** The fields of a pushed quote with one value each, by their names in a push, with their units. Its places are read apart. */
export const pushedCells = quoteFieldsOf('push')
  .filter((field) => field !== 'origin' && field !== 'destination')
  .map((field) => ({ name: quoteTable[field].sent, unit: quoteTable[field].unit }))
export type PushedCellName = (typeof pushedCells)[number]['name']

import { knownEquipment } from '#engine/equipment.ts'
import { type Mode, modeOfWord } from '#engine/load-mode.ts'
import { STOPS_MAX, stopsText } from '#engine/load-stops.ts'
import { type QuoteUnit, quoteFieldsOf, quoteTable } from '#engine/quote-fields.ts'
import { type Cell, readEquipment, readMiles, readText } from './cells.ts'
import { readDay, readMoment } from './date-cells.ts'
import { readBasis, readCharge, readCost, readCurrency, readMoney, readNamedCharges } from './money-cells.ts'

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
  stops: readStopTexts,
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

/** Reads a mode. Some files have the equipment in a column of this name: a van is a truckload. */
function readMode(text: string): Cell<Mode> {
  const mode = modeOfWord(text) ?? (knownEquipment(text) === null ? null : 'truckload')
  return mode === null ? { wrong: 'truckload, partial, ltl, drayage or intermodal' } : { value: mode }
}

function readStopTexts(text: string): Cell<string | null> {
  const read = readSentStops(text)
  return 'wrong' in read ? read : { value: stopsText(read.value) }
}

/**
 * Reads the places between origin and destination as they are written. They are separated by semicolons, because places have commas.
 * Many files have the number of stops in a column of this name: with two, there is none in between. Any other number is refused,
 * because such a load would count as a direct one.
 *
 * @example readSentStops('memphis tn | Nashville, TN') // { value: ['memphis tn', 'Nashville, TN'] }
 */
export function readSentStops(text: string): Cell<string[]> {
  if (/^[02]$/.test(text.trim())) return { value: [] }
  const written = text
    .split(/[;|\n]/)
    .map((place) => place.trim().replaceAll(/\s+/g, ' '))
    .filter((place) => place !== '')
  if (written.some((place) => /^\d{1,3}$/.test(place))) {
    return {
      wrong:
        'the places between origin and destination, separated by semicolons: a number of stops does not say where they are',
    }
  }
  return written.length > STOPS_MAX
    ? {
        wrong: `at most ${STOPS_MAX} places between origin and destination: a load has at most ${STOPS_MAX + 2} stops`,
      }
    : { value: written }
}

/** The fields of a pushed quote with one value each: their JSON names and units. Places are read separately. */
export const pushedCells = quoteFieldsOf('push')
  .filter((field) => field !== 'origin' && field !== 'destination')
  .map((field) => ({ name: quoteTable[field].sent, unit: quoteTable[field].unit }))
export type PushedCellName = (typeof pushedCells)[number]['name']

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

/** The fields of a pushed quote with one value each: their JSON names and units. Places are read separately. */
export const pushedCells = quoteFieldsOf('push')
  .filter((field) => field !== 'origin' && field !== 'destination')
  .map((field) => ({ name: quoteTable[field].sent, unit: quoteTable[field].unit }))
export type PushedCellName = (typeof pushedCells)[number]['name']

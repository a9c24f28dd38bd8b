import { type DateOrder, dateOrders } from '#contract/date-orders.ts'
import { settingIn } from '#contract/import-map.ts'
import type { Currency, RateBasis } from '#engine/rate-basis.ts'
import { readBasis, readCurrency, shortened } from '../csv/index.ts'
import type { WordField } from './word-meanings.ts'

/** What the map of an import states about the whole file, in pairs such as `basis=linehaul`. */
export interface MapSettings {
  /** What all rates include. */
  basis?: RateBasis
  /** What all truck costs include. */
  cost_basis?: RateBasis
  /** The currency of amounts without their own; null for `currency=`, which ignores the lines above the header. */
  currency?: Currency | null
  /** What a row does to a quote that has its id and another day. */
  same_ids?: 'update'
  /** The order of day and month. */
  dates?: DateOrder
  /** What words mean, in pairs such as `outcome:Lost to CHR=lost`. */
  words?: { [Field in WordField]?: Map<string, string> }
}

/** How a setting is read. Returns what its value must be; null if it is right. */
type Reader = (text: string, settings: MapSettings) => string | null

const readBasisFor =
  (name: 'basis' | 'cost_basis'): Reader =>
  (text, settings) => {
    const read = readBasis(text)
    if ('value' in read) settings[name] = read.value
    return 'value' in read ? null : `${name}=linehaul or ${name}=all_in`
  }

const readers: Readonly<Record<string, Reader>> = {
  basis: readBasisFor('basis'),
  cost_basis: readBasisFor('cost_basis'),
  currency: (text, settings) => {
    const read = text === '' ? { value: null } : readCurrency(text)
    if ('value' in read) settings.currency = read.value
    return 'value' in read
      ? null
      : `currency=USD or currency=CAD. Other currencies are not stored. A column with the currency of each row is quoted_currency=${shortened(text)}`
  },
  dates: (text, settings) => {
    const order = dateOrders.find((one) => one === text)
    if (order === undefined) return 'dates=day_first or dates=month_first'
    settings.dates = order
    return null
  },
  // The encoding is chosen before the header is read, as are the hidden cells.
  encoding: () => null,
  hidden: (text) =>
    ['skip', 'read'].includes(text)
      ? null
      : 'hidden=skip, to leave out hidden rows and columns, or hidden=read',
  same_ids: (text, settings) => {
    if (text.toLowerCase() !== 'update') return 'same_ids=update'
    settings.same_ids = 'update'
    return null
  },
}

/** Whether a map leaves out the hidden rows and columns of a workbook. @example leavesOutHidden('hidden=skip') // true */
export function leavesOutHidden(map = ''): boolean {
  return settingIn(map, 'hidden') === 'skip'
}

/** Whether a name of a map is a setting of the whole file, and no field. */
export function isSetting(name: string): boolean {
  return Object.hasOwn(readers, name)
}

/**
 * Notes a setting of a map.
 *
 * @returns why its value is wrong; null if it is not
 * @example readSetting('basis', 'gross', {}) // 'The map says basis=gross; it must be basis=linehaul or basis=all_in.'
 */
export function readSetting(name: string, text: string, settings: MapSettings): string | null {
  const must = readers[name]?.(text, settings) ?? null
  return must === null ? null : `The map says ${name}=${shortened(text)}; it must be ${must}.`
}

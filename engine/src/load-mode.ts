/** How a load moves. A quote that does not say it is a truckload. */
export const modes = ['truckload', 'partial', 'ltl', 'drayage', 'intermodal'] as const
export type Mode = (typeof modes)[number]

/** The words for each mode in use, without spaces and hyphens. */
const WORDS_OF_MODE: Readonly<Record<Mode, string>> = {
  truckload: 'truckload tl ftl fulltruckload full fullload truck otr road',
  partial: 'partial ptl partialload partialtruckload',
  ltl: 'ltl lessthantruckload vltl volumeltl',
  drayage: 'drayage dray',
  intermodal: 'intermodal intermodalcontainer imc imdl im rail',
}
const MODE_OF_WORD: ReadonlyMap<string, Mode> = new Map(
  modes.flatMap((mode) => WORDS_OF_MODE[mode].split(' ').map((word) => [word, mode] as const)),
)

/**
 * The mode that a word means; null for any other text.
 *
 * @example modeOfWord('Full Truckload') // 'truckload'
 */
export function modeOfWord(text: string): Mode | null {
  return text.length > 40 ? null : (MODE_OF_WORD.get(text.toLowerCase().replaceAll(/[\s_-]/g, '')) ?? null)
}

/** Codes that quotes from before modes can have as their equipment, and that say another mode than truckload. */
export const codesOfOtherModes = ['LTL', 'VLTL', 'PTL', 'PARTIAL', 'DRAYAGE', 'DRAY', 'IMC', 'IMDL'] as const
const isCodeOfOtherMode: ReadonlySet<string> = new Set(codesOfOtherModes)

/**
 * The mode of a saved quote: its own, else the one that its equipment says; null for a truckload that does not say it.
 *
 * @example savedMode(null, 'LTL') // 'ltl'
 */
export function savedMode(mode: Mode | null | undefined, equipmentCode: string | null): Mode | null {
  if (mode != null) return mode
  return equipmentCode !== null && isCodeOfOtherMode.has(equipmentCode) ? modeOfWord(equipmentCode) : null
}

/** What says how a load moves: its mode, the stops between its ends as text, and its equipment. */
export interface LoadKind {
  readonly mode?: Mode | null | undefined
  readonly stops?: string | null | undefined
  readonly equipment_code: string | null
}

/**
 * Whether a load is a direct truckload: from its origin to its destination, without a stop in between. Only these are in the
 * statistics of a lane, and only these are priced.
 *
 * @example isDirect({ equipment_code: 'V' }) // true
 * @example isDirect({ equipment_code: 'V', mode: 'ltl' }) // false
 */
export function isDirect({ mode, stops, equipment_code: code }: LoadKind): boolean {
  return (savedMode(mode, code) ?? 'truckload') === 'truckload' && (stops ?? null) === null
}

const NAMES: Readonly<Record<Mode, string>> = {
  truckload: 'A truckload',
  partial: 'A partial load',
  ltl: 'An LTL load',
  drayage: 'A drayage load',
  intermodal: 'An intermodal load',
}

/**
 * Why a load has no price, in a sentence; null for a direct truckload, which has one.
 *
 * @example unpricedBecause({ equipment_code: 'V', mode: 'ltl' })
 *   // 'An LTL load is saved, not priced: the history of a lane is that of its direct truckloads.'
 */
export function unpricedBecause(load: LoadKind): string | null {
  if (isDirect(load)) return null
  const mode = savedMode(load.mode, load.equipment_code) ?? 'truckload'
  const via = (load.stops ?? null) === null ? '' : ' with stops'
  return `${NAMES[mode]}${via} is saved, not priced: the history of a lane is that of its direct truckloads.`
}

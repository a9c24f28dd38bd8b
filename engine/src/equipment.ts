import { modeOfWord } from './load-mode.ts'
import { isNotGiven } from './not-given.ts'

/**
 * Equipment codes as saved, each with its other spellings in use: load board codes, EDI X12 codes (CV, RT, FT) and vendors' names.
 * The trailer length is ignored ("53' van", "flatbed_48"). A space in a spelling may also be written as a hyphen, an underscore or
 * nothing.
 */
const SPELLINGS_OF_CODE: Readonly<Record<string, readonly string[]>> = {
  V: ['VAN', 'DRY', 'DRY VAN', 'VAN DRY', 'DV', 'DRV', 'CV', 'VN', 'DRY VAN TRAILER', 'STANDARD VAN'],
  R: [
    'REEFER',
    'RFR',
    'RT',
    'REEF',
    'REFER',
    'REFRIGERATED',
    'REFRIGERATED VAN',
    'VAN REEFER',
    'REEFER VAN',
    'REEFER TRAILER',
    'TEMP CONTROLLED',
    'TEMPERATURE CONTROLLED',
  ],
  F: ['FLATBED', 'FLAT BED', 'FLAT', 'FBE', 'FT', 'FB', 'FLT', 'FLATBED TRAILER', 'STANDARD FLATBED'],
  SD: ['STEPDECK', 'STEP DECK', 'STEP', 'DROP DECK', 'STEP DECK TRAILER'],
  DD: ['DOUBLE DROP', 'DOUBLE DROP DECK'],
  RGN: ['REMOVABLE GOOSENECK', 'REMOVABLE GOOSE NECK'],
  PO: ['POWER ONLY', 'POWER', 'PWR ONLY', 'TOW AWAY'],
  HS: ['HOTSHOT', 'HOT SHOT'],
  CON: ['CONESTOGA', 'CN', 'CONNIE', 'CONESTOGA TRAILER', 'FLATBED CONESTOGA', 'CONESTOGA FLATBED'],
}

/** The known codes, each with its usual name. @example equipmentKinds[0] // { code: 'V', name: 'van' } */
export const equipmentKinds = Object.entries(SPELLINGS_OF_CODE).map(([code, [name = code]]) => ({
  code,
  name: name.toLowerCase(),
}))

/** Whether a code is among the known ones, and no code that a brokerage defines itself. @example isUsualCode('TARPED') // false */
export function isUsualCode(code: string): boolean {
  return Object.hasOwn(SPELLINGS_OF_CODE, code)
}

const CODE_OF_SPELLING: ReadonlyMap<string, string> = new Map(
  Object.entries(SPELLINGS_OF_CODE).flatMap(([code, spellings]) =>
    [code, ...spellings].flatMap((spelling) =>
      ['', ' ', '-', '_'].map((gap): [string, string] => [spelling.replaceAll(' ', gap), code]),
    ),
  ),
)

/**
 * Words that columns of equipment contain and that say how a load is sold, not what it needs. Each code would be a lane of its own, whose
 * history no answer for V, R or F counts.
 */
const MODES: ReadonlySet<string> = new Set(
  [
    ...['TL', 'FTL', 'LTL', 'PTL', 'VLTL', 'VOLUME LTL', 'TRUCKLOAD', 'TRUCK LOAD', 'FULL LOAD', 'FULL'],
    ...[
      'FULL TRUCKLOAD',
      'FULL TRUCK LOAD',
      'LESS THAN TRUCKLOAD',
      'PARTIAL',
      'PARTIAL LOAD',
      'PARTIAL TRUCKLOAD',
    ],
    ...['DRAYAGE', 'DRAY', 'INTERMODAL', 'INTERMODAL CONTAINER', 'IMC', 'IMDL'],
    ...['LTL/PARTIAL', 'PARTIAL/LTL', 'FTL/LTL', 'TL/LTL', 'TRAILER', 'TRAILERS'],
  ].map(foldedGaps),
)

/** A text in upper case without the gaps that may separate its words. */
function foldedGaps(text: string): string {
  return text
    .trim()
    .toUpperCase()
    .replace(/[\s_-]+/g, '')
}

const isMode = (text: string) => text.length <= TEXT_LENGTH_MAX && MODES.has(foldedGaps(text))

/** Long enough for the longest known name with a few extra spaces. */
const TEXT_LENGTH_MAX = 40

/** A trailer length before or after the name: 53, 53', 53ft, 53-foot, (53'). */
const LENGTH_BEFORE =
  /^\(?[2-5]\d(?:['’"]|[ -]?(?:FT|FOOT|FEET)\b\.?)?\)?[ _-]*(?=[A-Z])(?!(?:FT|FOOT|FEET)$)/
const LENGTH_AFTER = /(?<=[A-Z])[ _-]*\(?[2-5]\d(?:['’"]|[ -]?(?:FT|FOOT|FEET)\.?)?\)?$/

/**
 * The normalized equipment code, for saving and comparison, or null if the text is not an equipment code.
 *
 * The usual names of van, reefer, flatbed and a few other types map to one code each. Any other text of 1 to 20 letters, digits,
 * `_` and `-` becomes a code in upper case. A number alone is rejected: it is a rate or a length in the wrong column. Spaces and a
 * trailer length are accepted only with a known name ("53' dry van"). `VR` (van or reefer) is a separate code, because mapping it
 * to V or R would be a guess. A word for no equipment (`TBD`, `any`) and a mode (`FTL`) are not codes.
 *
 * @example equipmentCode('dry van') // 'V'
 * @example equipmentCode("53' reefer") // 'R'
 * @example equipmentCode('curtain side') // null
 * @example equipmentCode('2150') // null
 * @example equipmentCode('FTL') // null
 */
export function equipmentCode(text: string): string | null {
  const known = knownEquipment(text)
  if (known !== null) return known
  if (isMode(text) || isNotGiven('equipment', text)) return null
  const upper = text.trim().toUpperCase()
  return /^[A-Za-z0-9_-]{1,20}$/.test(text.trim()) && /[A-Z]/.test(upper) ? upper : null
}

/** The code of a known spelling, or null for any other text (including codes that a brokerage defines itself). */
export function knownEquipment(text: string): string | null {
  const trimmed = text.trim()
  // Checked before upper-casing, because some non-ASCII letters become ASCII letters in upper case.
  if (trimmed.length > TEXT_LENGTH_MAX || !/^[A-Za-z0-9_ '’"().-]+$/.test(trimmed)) return null
  const upper = trimmed.toUpperCase().replace(/ +/g, ' ')
  return (
    CODE_OF_SPELLING.get(upper) ??
    CODE_OF_SPELLING.get(upper.replace(LENGTH_BEFORE, '')) ??
    CODE_OF_SPELLING.get(upper.replace(LENGTH_AFTER, '')) ??
    CODE_OF_SPELLING.get(upper.replace(/(?<=[A-Z]{3})S$/, '')) ??
    null
  )
}

/**
 * Completes "<field> must be ..." for a text that is not an equipment code.
 *
 * @example equipmentFault('2150') // 'an equipment code of ..., such as V, R or F; 2150 looks like a rate'
 * @example equipmentFault('FTL') // 'an equipment code of ..., such as V, R or F; FTL is a mode, not equipment'
 * @example equipmentFault('LTL') // '...; LTL is a mode, not equipment: mode says ltl, and equipment what it moves in'
 */
export function equipmentFault(text: string): string {
  const wanted = 'an equipment code of 1 to 20 letters, digits, "_" or "-", such as V, R or F'
  const trimmed = text.trim()
  if (isMode(trimmed)) {
    const mode = modeOfWord(trimmed)
    const other =
      mode === null || mode === 'truckload' ? '' : `: mode says ${mode}, and equipment what it moves in`
    return `${wanted}; ${trimmed} is a mode, not equipment${other}`
  }
  if (/[^\s]/.test(trimmed) && isNotGiven('equipment', trimmed))
    return `${wanted}; ${trimmed} names no equipment`
  if (!/^\$?\s?\d[\d.,]*$/.test(trimmed) || trimmed.length > 20) return wanted
  return `${wanted}; ${trimmed} ${/^\d{1,2}$/.test(trimmed) ? 'is a number' : 'looks like a rate'}`
}

/**
 * Codes an equipment is kept under, each with the other spellings in use: load boards' codes, EDI X12 codes (CV, RT,
 * FT), vendors' names with the trailer's length. A space in a spelling may also be a hyphen, an underscore or nothing.
 */
const SPELLINGS_OF_CODE: Readonly<Record<string, readonly string[]>> = {
  V: [
    'VAN',
    'DRY VAN',
    'DV',
    'DRV',
    'CV',
    'VAN DRY',
    'VAN DRY 53',
    'DRY VAN 53',
    'VAN 53',
    '53 VAN',
    '53 DRY VAN',
  ],
  R: ['REEFER', 'RFR', 'RT', 'REEFER 53', '53 REEFER', 'REFRIGERATED', 'REFRIGERATED VAN', 'VAN REEFER'],
  F: [
    'FLATBED',
    'FLAT BED',
    'FLAT',
    'FBE',
    'FT',
    'FB',
    'FLATBED 48',
    'FLATBED 53',
    '48 FLATBED',
    '53 FLATBED',
  ],
  SD: ['STEPDECK', 'STEP DECK', 'DROP DECK'],
  DD: ['DOUBLE DROP'],
  RGN: ['REMOVABLE GOOSENECK'],
  PO: ['POWER ONLY'],
  HS: ['HOTSHOT', 'HOT SHOT'],
  CON: ['CONESTOGA'],
  IMC: ['INTERMODAL', 'INTERMODAL CONTAINER'],
}

const CODE_OF_SPELLING: ReadonlyMap<string, string> = new Map(
  Object.entries(SPELLINGS_OF_CODE).flatMap(([code, spellings]) =>
    spellings.flatMap((spelling) =>
      ['', ' ', '-', '_'].map((gap): [string, string] => [spelling.replaceAll(' ', gap), code]),
    ),
  ),
)

/** Room for the longest known name with a few spaces too many. */
const TEXT_LENGTH_MAX = 40

/**
 * The code an equipment is kept and compared under, or null when the text is no equipment code.
 *
 * Any code of 1 to 20 letters, digits, `_` and `-` stands for itself in upper case; the usual names of van, reefer and
 * flatbed (and a few of the rest) fold to one code. A space is allowed only inside a known name, "dry van".
 * `VR` (van or reefer) is an equipment of its own: folding it to one of the two would be a guess.
 *
 * @example equipmentCode('dry van') // 'V'
 * @example equipmentCode('reefer_53') // 'R'
 * @example equipmentCode('curtain side') // null
 */
export function equipmentCode(text: string): string | null {
  const trimmed = text.trim()
  // Checked before upper-casing: some letters beyond A to Z become plain ones when their case changes.
  if (trimmed.length > TEXT_LENGTH_MAX || !/^[A-Za-z0-9_ -]+$/.test(trimmed)) return null
  const upper = trimmed.toUpperCase().replace(/ +/g, ' ')
  const known = CODE_OF_SPELLING.get(upper)
  if (known !== undefined) return known
  return /^[A-Z0-9_-]{1,20}$/.test(upper) ? upper : null
}

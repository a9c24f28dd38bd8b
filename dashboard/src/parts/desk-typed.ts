import { hasState } from './desk-draft.ts'

const states =
  'AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY AB BC MB NB NL NS NT NU ON PE QC SK YT'
const stateCodes: ReadonlySet<string> = new Set(states.split(' '))

/**
 * A place with its comma, where only the comma was left out before a state or province. Anything else stays as typed.
 *
 * @example placeRead('Dallas TX') // 'Dallas, TX'
 */
export function placeRead(text: string): string {
  if (hasState(text)) return text
  const [, city, state, zip = ''] =
    /^\s*(\p{L}.*?)[,\s]+(\p{L}{2})(\s+\d{5}(?:-\d{4})?)?\s*$/u.exec(text) ?? []
  if (city === undefined || state === undefined || !stateCodes.has(state.toUpperCase())) return text
  return `${city}, ${state.toUpperCase()}${zip}`
}

const equipmentWords: readonly (readonly [code: string, words: RegExp])[] = [
  ['V', /^(\d\d('|ft)? ?)?(dry ?)?van$/i],
  ['R', /^(\d\d('|ft)? ?)?(reefer|refrigerated( van)?)$/i],
  ['F', /^(\d\d('|ft)? ?)?flat ?bed$/i],
  ['SD', /^(\d\d('|ft)? ?)?step ?deck$/i],
]

/**
 * The code of equipment that was written out: quotes of "Dry Van" and of "V" are of one lane. Other words stay, since a
 * brokerage has codes of its own.
 *
 * @example equipmentRead("53' Dry Van") // 'V'
 */
export function equipmentRead(text: string): string {
  const typed = text.trim()
  return equipmentWords.find(([, words]) => words.test(typed))?.[0] ?? typed
}

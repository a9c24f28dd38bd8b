import { AMOUNT_CENTS_MAX, dollarsFromCents } from './money.ts'

/** An accessorial charge by its free name, such as detention or lumper, in whole cents. */
export interface NamedCharge {
  readonly name: string
  readonly cents: number
}

/** The most charges of one amount, and the most characters of a name. */
export const NAMED_CHARGES_MAX = 20
export const CHARGE_NAME_MAX = 40

/**
 * Charges as text, as they are saved, in the order in which they were sent. A name contains neither a semicolon nor a line break.
 *
 * @example chargesText([{ name: 'detention', cents: 7500 }, { name: 'lumper', cents: 12000 }]) // 'detention 75.00; lumper 120.00'
 */
export function chargesText(charges: readonly NamedCharge[]): string {
  return charges.map(({ name, cents }) => `${name} ${dollarsFromCents(cents).toFixed(2)}`).join('; ')
}

/**
 * Reads charges from text: a name and an amount of dollars each, separated by semicolons. Null if the text has another form.
 *
 * @example readCharges('Detention: $75; lumper 120.00') // [{ name: 'Detention', cents: 7500 }, { name: 'lumper', cents: 12000 }]
 */
export function readCharges(text: string): NamedCharge[] | null {
  const charges: NamedCharge[] = []
  for (const part of text.split(/[;\n]/).filter((one) => one.trim() !== '')) {
    const charge = readCharge(part.trim())
    if (charge === null) return null
    charges.push(charge)
  }
  return chargesFault(charges) === null ? charges : null
}

/** The most characters of an amount, with commas and decimals. */
const amountLengthMax = 20

/**
 * Reads one charge from its end: first the amount, then the signs before it; the rest is the name. One pattern for the whole text would
 * take minutes on a thousand spaces.
 */
function readCharge(text: string): NamedCharge | null {
  const amount = /(?<![\d.,])[\d.,]+$/.exec(text.slice(-amountLengthMax))?.[0] ?? ''
  const match = /^(\d{1,7}|\d{1,3}(?:,\d{3})+)(?:\.(\d{1,2}))?$/.exec(amount)
  if (match === null) return null
  const [, whole = '', decimals = ''] = match
  const rest = text.slice(0, text.length - amount.length)
  const unsigned = rest.trimEnd().endsWith('$') ? rest.trimEnd().slice(0, -1) : rest
  const before = unsigned.trimEnd()
  const name = /[:=]$/.test(before) ? before.slice(0, -1).trimEnd() : before
  // Something must separate the name and the amount: "lumper120" is a name.
  if (name === unsigned || /[\u2028\u2029]/.test(name)) return null
  return { name, cents: Number(whole.replaceAll(',', '')) * 100 + Number(decimals.padEnd(2, '0')) }
}

/** The fault of a list of charges: too many charges, a name that is too long or occurs twice, or too large a sum. Null without one. */
export function chargesFault(charges: readonly NamedCharge[]): string | null {
  if (charges.length > NAMED_CHARGES_MAX) return `must have at most ${NAMED_CHARGES_MAX} charges`
  const names = new Set<string>()
  for (const { name } of charges) {
    const key = name.trim().toLowerCase()
    if (key === '' || name.length > CHARGE_NAME_MAX || /[;\n\r]/.test(name)) {
      return `must name each charge with 1 to ${CHARGE_NAME_MAX} characters and without a semicolon`
    }
    if (names.has(key)) return `must name each charge once; ${JSON.stringify(name)} is there twice`
    names.add(key)
  }
  const sum = sumOfCharges(charges)
  return sum <= AMOUNT_CENTS_MAX
    ? null
    : `must sum to at most ${dollarsFromCents(AMOUNT_CENTS_MAX)}; they sum to ${dollarsFromCents(sum)}`
}

/** @example sumOfCharges([{ name: 'detention', cents: 7500 }]) // 7500 */
export function sumOfCharges(charges: readonly NamedCharge[]): number {
  return charges.reduce((sum, { cents }) => sum + cents, 0)
}

/**
 * The saved charges of an amount. Empty if there are none, or if their sum is not the saved accessorial total: a total that was
 * sent later without names replaces them.
 */
export function chargesOf(text: string | null, accessorialCents: number | null): NamedCharge[] {
  const charges = text === null ? [] : (readCharges(text) ?? [])
  return sumOfCharges(charges) === (accessorialCents ?? 0) ? charges : []
}

import type { Static } from 'typebox'
import type { FieldError } from '#contract/errors.ts'
import type { amountsWithBasis, chargesOf, RateBasis } from '#contract/rate-basis.ts'
import { centsFromDollars, dollarsFromCents } from '#engine/money.ts'
import { chargesFault, chargesText, sumOfCharges } from '#engine/named-charges.ts'
import { chargesFit, fuelUnitFault } from '#engine/rate-basis.ts'

type Of = (typeof amountsWithBasis)[number]
export type SentCharges = Static<ReturnType<typeof chargesOf>>
type Sent<Amount extends string, O extends Of> = { readonly [A in Amount]?: number } & {
  readonly [B in `${O}_basis`]?: RateBasis
} & { readonly [C in `${O}_fuel` | `${O}_accessorials`]?: number } & {
  readonly [N in `${O}_charges`]?: SentCharges
}

const namedCents = (charges: SentCharges) =>
  charges.map(({ name, amount }) => ({ name: name.trim(), cents: centsFromDollars(amount) ?? 0 }))

/** Sent charges as they are stored. @example storedCharges([{ name: 'detention', amount: 75 }]) // 'detention 75.00' */
export function storedCharges(charges: SentCharges): string {
  return chargesText(namedCents(charges))
}

/**
 * The accessorial charges that were sent, in whole cents: the amount, else the sum of the charges by name; null if neither was sent.
 */
export function accessorialCents(
  accessorials: number | undefined,
  charges: SentCharges | undefined,
): number | null {
  if (accessorials !== undefined) return centsFromDollars(accessorials)
  return charges === undefined ? null : sumOfCharges(namedCents(charges))
}

/**
 * The errors of an amount's charges: the charges by name do not add up to the accessorial charges that were sent, the fuel charge is
 * in another unit, or the charges are not less than the all-in amount that contains them. Without a basis, the amount could be
 * linehaul, so the error asks for it. `pointer` is the path of the object with the fields.
 *
 * @example chargesErrors('quoted', 'quoted_rate', { quoted_rate: 300, quoted_basis: 'all_in', quoted_fuel: 300 }) // one error
 */
export function chargesErrors<Amount extends string, O extends Of>(
  of: O,
  amount: Amount,
  sent: Sent<Amount, O>,
  pointer = '',
): FieldError[] {
  const fields = sent as Readonly<Record<string, unknown>>
  const dollars = (name: string) => (typeof fields[name] === 'number' ? fields[name] : undefined)
  const named = fields[`${of}_charges`] as SentCharges | undefined
  const wrong = (name: string, detail: string): FieldError[] => [
    { pointer: `${pointer}/${name}`, code: 'invalid', detail },
  ]
  const fault = named === undefined ? null : chargesFault(namedCents(named))
  if (fault !== null) return wrong(`${of}_charges`, `${of}_charges ${fault}.`)
  const accessorials = accessorialCents(dollars(`${of}_accessorials`), named)
  if (named !== undefined && sumOfCharges(namedCents(named)) !== accessorials) {
    const sum = dollarsFromCents(sumOfCharges(namedCents(named)))
    return wrong(
      `${of}_accessorials`,
      `${of}_accessorials must be the sum of ${of}_charges, which is ${sum}, or absent; it is ${dollars(`${of}_accessorials`)}.`,
    )
  }
  const cents = (sentDollars: number | undefined) =>
    sentDollars === undefined ? null : centsFromDollars(sentDollars)
  const [amountCents, fuel] = [cents(dollars(amount)), cents(dollars(`${of}_fuel`))]
  const basis = fields[`${of}_basis`] === 'linehaul' ? 'linehaul' : 'all_in'
  const unitFault = fuelUnitFault(fuel, basis === 'linehaul' ? amountCents : null)
  if (unitFault !== null) return wrong(`${of}_fuel`, `${of}_fuel ${unitFault}.`)
  if (amountCents === null) return []
  const sentAmount = { cents: amountCents, basis, fuelCents: fuel, accessorialCents: accessorials } as const
  if (chargesFit(sentAmount, 'all_in')) return []
  return wrong(
    fuel === null ? `${of}_accessorials` : `${of}_fuel`,
    `The charges of ${amount} must be less than ${amount} (${dollarsFromCents(amountCents)}), which contains them if it is all_in; they are ${dollarsFromCents((fuel ?? 0) + (accessorials ?? 0))}. If they are paid besides it, send ${of}_basis: linehaul.`,
  )
}

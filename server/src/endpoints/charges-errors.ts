import type { FieldError } from '#contract/errors.ts'
import type { amountsWithBasis, RateBasis } from '#contract/rate-basis.ts'
import { centsFromDollars, dollarsFromCents } from '#engine/money.ts'
import { chargesFit } from '#engine/rate-basis.ts'

type Of = (typeof amountsWithBasis)[number]
type Sent<Amount extends string, O extends Of> = { readonly [A in Amount]?: number } & {
  readonly [B in `${O}_basis`]?: RateBasis
} & { readonly [C in `${O}_fuel` | `${O}_accessorials`]?: number }

/**
 * The error of charges that are not less than the amount that contains them. If the basis was not sent, such charges cannot be
 * told from those beside a linehaul amount, so the sender has to say it. `pointer` is where the fields are.
 *
 * @example chargesErrors('quoted', 'quoted_rate', { quoted_rate: 300, quoted_basis: 'all_in', quoted_fuel: 300 }) // one error
 */
export function chargesErrors<Amount extends string, O extends Of>(
  of: O,
  amount: Amount,
  sent: Sent<Amount, O>,
  pointer = '',
): FieldError[] {
  const fields = sent as Readonly<Record<string, number | RateBasis | undefined>>
  const cents = (name: string) => {
    const dollars = fields[name]
    return typeof dollars === 'number' ? centsFromDollars(dollars) : null
  }
  const amountCents = cents(amount)
  if (amountCents === null) return []
  const basis = fields[`${of}_basis`] === 'linehaul' ? 'linehaul' : 'all_in'
  const [fuel, accessorials] = [cents(`${of}_fuel`), cents(`${of}_accessorials`)]
  const sentAmount = { cents: amountCents, basis, fuelCents: fuel, accessorialCents: accessorials } as const
  if (chargesFit(sentAmount, 'all_in')) return []
  const field = fuel === null ? `${of}_accessorials` : `${of}_fuel`
  const detail = `The charges of ${amount} must be less than ${amount} (${dollarsFromCents(amountCents)}), which contains them if it is all_in; they are ${dollarsFromCents((fuel ?? 0) + (accessorials ?? 0))}. If they are paid besides it, send ${of}_basis: linehaul.`
  return [{ pointer: `${pointer}/${field}`, code: 'invalid', detail }]
}

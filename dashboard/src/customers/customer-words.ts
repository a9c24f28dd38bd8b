import { counted } from '../shared-ui/index.ts'

/**
 * The tier and the payment terms of a customer; empty if neither is set.
 *
 * @example customerTermsInWords({ tier: 'A', payment_days: 30 }) // 'Tier A, pays in 30 days'
 */
export function customerTermsInWords({
  tier,
  payment_days: days,
}: {
  tier: string | null
  payment_days: number | null
}): string {
  const pays = days === null ? '' : days === 0 ? 'pays at once' : `pays in ${counted(days, 'day')}`
  return [tier === null ? '' : `Tier ${tier}`, pays].filter((one) => one !== '').join(', ')
}

/**
 * A time span in words.
 *
 * @example hoursInWords(0.4) // '24 minutes'
 * @example hoursInWords(3.2) // '3.2 hours'
 * @example hoursInWords(60) // '2.5 days'
 */
export function hoursInWords(hours: number): string {
  if (hours < 1) return counted(Math.round(hours * 60), 'minute')
  const [value, unit] = hours < 48 ? [hours, 'hour'] : [hours / 24, 'day']
  const rounded = Math.round(value * 10) / 10
  return `${rounded} ${unit}${rounded === 1 ? '' : 's'}`
}

import { dollars } from './formats.ts'

/**
 * A difference in dollars. An arrow and a word repeat what the color shows.
 *
 * @example <Difference amount={-60} of="quote" /> // ▼ $60 below quote
 * @example <Difference amount={-60} /> // ▼ $60 below
 */
export function Difference({ amount, of = '' }: { amount: number | null | undefined; of?: string }) {
  if (amount === null || amount === undefined) return <span>–</span>
  if (amount === 0) return <span>= as quoted</span>
  const above = amount > 0
  return (
    <span style={{ color: `var(--${above ? 'won' : 'lost'})` }}>
      <span aria-hidden>{above ? '▲' : '▼'}</span> {dollars(Math.abs(amount))} {above ? 'above' : 'below'}{' '}
      {of}
    </span>
  )
}

/** What bookings earned compared with their quotes, in whole dollars. @example <BookedVsQuoted amount={-550} /> // $550 less */
export function BookedVsQuoted({ amount }: { amount: number | null | undefined }) {
  if (amount === null || amount === undefined) return <span>–</span>
  const whole = Math.round(amount)
  if (whole === 0) return <span>as quoted</span>
  return (
    <span style={{ color: `var(--${whole > 0 ? 'won' : 'lost'})` }}>
      {dollars(Math.abs(whole))} {whole > 0 ? 'more' : 'less'}
    </span>
  )
}

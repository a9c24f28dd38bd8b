import { signedDollars } from './formats.ts'

/**
 * A difference in dollars. The sign, an arrow and a word repeat what the color shows.
 *
 * @example <Difference amount={-60} currency="CAD" of="quote" /> // ▼ −$60 CAD below quote
 * @example <Difference amount={-60} currency={null} /> // ▼ −$60 below
 */
export function Difference({
  amount,
  currency,
  of = '',
}: {
  amount: number | null | undefined
  currency: string | null
  of?: string
}) {
  if (amount === null || amount === undefined) return <span>–</span>
  if (amount === 0) return <span>= as quoted</span>
  const above = amount > 0
  return (
    <span style={{ color: `var(--${above ? 'won' : 'lost'})` }}>
      <span aria-hidden>{above ? '▲' : '▼'}</span> {signedDollars(amount, currency)}{' '}
      {above ? 'above' : 'below'} {of}
    </span>
  )
}

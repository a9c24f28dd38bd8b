import { signedDollars } from './formats.ts'

/**
 * A difference in dollars. The sign, an arrow and a word repeat what the color shows.
 *
 * @example <Difference amount={-60} of="quote" /> // ▼ −$60 below quote
 * @example <Difference amount={-60} /> // ▼ −$60 below
 */
export function Difference({ amount, of = '' }: { amount: number | null | undefined; of?: string }) {
  if (amount === null || amount === undefined) return <span>–</span>
  if (amount === 0) return <span>= as quoted</span>
  const above = amount > 0
  return (
    <span style={{ color: `var(--${above ? 'won' : 'lost'})` }}>
      <span aria-hidden>{above ? '▲' : '▼'}</span> {signedDollars(amount)} {above ? 'above' : 'below'} {of}
    </span>
  )
}

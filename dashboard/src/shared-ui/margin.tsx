import type { ReactNode } from 'react'
import { dollars, percent, roundDollars } from './formats.ts'

type Known = number | null | undefined

/**
 * A margin in dollars. A loss is red and has a minus sign, everywhere.
 *
 * @example <Margin amount={-161} /> // −$161, in red
 */
export function Margin({ amount, isRounded = false }: { amount: Known; isRounded?: boolean }) {
  return <InRed when={isLoss(amount)}>{(isRounded ? roundDollars : dollars)(amount)}</InRed>
}

/** A margin in percent of the rate. @example <MarginPct share={-8.5} /> // −8.5%, in red */
export function MarginPct({ share }: { share: Known }) {
  return <InRed when={isLoss(share)}>{percent(share)}</InRed>
}

function isLoss(value: Known): boolean {
  return value !== null && value !== undefined && value < 0
}

/** Text of a loss in the color of losses. */
export function InRed({ when, children }: { when: boolean; children: ReactNode }) {
  return when ? <span className="loss">{children}</span> : children
}

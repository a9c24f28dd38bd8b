import type { SavedOutcome } from './history.ts'

/**
 * The offers for one load: a quote, and each requote of it. A load is won at most once, so at most one offer of a load counts, and the
 * others are superseded. Which offer counts does not depend on the order of messages.
 */

/** The parts of an offer for a load that decide which offer counts. */
export interface Offer {
  /** The number of the offer: later offers have a higher one. */
  readonly count: number
  readonly isVoid: boolean
  readonly isBooked: boolean
  /** The outcome of this offer, without regard to the others. */
  readonly outcome: SavedOutcome
  readonly rateCents: number
  /** What the rate includes, and its currency: rates on other terms are not compared. */
  readonly terms: string
  /** Whether the customer named a lower rate instead. */
  readonly isCountered: boolean
}

/**
 * How the win curve counts a superseded offer. `refused`: as a loss, because the customer did not accept its rate. `replaced`: not at all,
 * because another offer came before an answer, or this offer was won but another one counts.
 */
export type SupersededAs = 'refused' | 'replaced'

/** The offer that counts instead of a superseded one. */
export interface Superseding {
  /** The number of the offer that counts. */
  readonly by: number
  readonly as: SupersededAs
}

/**
 * The offer of a load that counts; null if all are void.
 *
 * 1. The last offer that is won by a booking: a booking wins what it names.
 * 2. Else the last offer that was reported or marked as won.
 * 3. Else the last offer.
 *
 * @example offerThatCounts([lostOffer1, pendingOffer2])?.count // 2
 */
function offerThatCounts<Of extends Offer>(offers: readonly Of[]): Of | null {
  const standing = offers.filter(({ isVoid }) => !isVoid).toSorted((one, other) => one.count - other.count)
  const isWon = ({ outcome }: Offer) => outcome === 'won'
  return (
    standing.findLast((offer) => isWon(offer) && offer.isBooked) ??
    standing.findLast(isWon) ??
    standing.at(-1) ??
    null
  )
}

/**
 * For each offer of a load, in the given order, the offer that supersedes it; null if the offer counts or is void.
 *
 * @example supersededOffers([lostOffer1, wonOffer2]) // [{ by: 2, as: 'refused' }, null]
 */
export function supersededOffers(offers: readonly Offer[]): (Superseding | null)[] {
  const counting = offerThatCounts(offers)
  return offers.map((offer) =>
    counting === null || offer.isVoid || offer === counting
      ? null
      : { by: counting.count, as: isRefused(offer, counting) ? 'refused' : 'replaced' },
  )
}

/** Whether the customer refused the rate of an offer: it was lost or countered, or a later offer asks for less. */
function isRefused(offer: Offer, counting: Offer): boolean {
  if (offer.outcome === 'won') return false
  if (offer.outcome === 'lost' || offer.isCountered) return true
  return (
    counting.count > offer.count && counting.terms === offer.terms && counting.rateCents < offer.rateCents
  )
}

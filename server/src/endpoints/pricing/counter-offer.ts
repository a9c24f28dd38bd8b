import type { AnswerOf } from '#contract/endpoint.ts'
import type { adviseQuotes } from '#contract/quotes-advice.ts'
import type { Appraisal } from '#engine/appraisal/appraisal.ts'
import {
  bestBetween,
  type ChanceAfterCounter,
  type CounterOffer,
  counterChances,
} from '#engine/estimate/counter-offer.ts'
import { daysSince, nearbyDecided, trustOf } from '#engine/estimate/trust.ts'
import { dollarsIfKnown } from '#engine/money.ts'
import { unconvertedCents } from '#engine/rate-basis.ts'
import type { EstimatedOffer } from './markup-estimate.ts'

type Answer = NonNullable<
  Extract<AnswerOf<typeof adviseQuotes>['results'][number], { status: 200 }>['counter_offer']
>

/** The chances and the suggested rate after a counter-offer. Rates are cents on the terms of the quote, as sent. */
export interface CounteredAppraisal {
  /** The chance of a rate; null if the quote cannot be converted, or there are no quotes to learn from. */
  readonly chanceAt: ((sentCents: number) => ChanceAfterCounter) | null
  /** The rate to answer with; null if the refused and the named rate are too close, or if it would be below the cost. */
  readonly suggestedCents: number | null
}

/**
 * Appraises a quote whose customer refused a rate and named a lower one.
 *
 * @example appraiseCounterOffer(appraisal, { quotedCents: 250000, counterCents: 210000 }).suggestedCents // 231000
 */
export function appraiseCounterOffer(appraisal: Appraisal, offer: CounterOffer): CounteredAppraisal {
  const { belief, at, conversion, cost } = appraisal
  const [refused, named] = [at(offer.quotedCents).rateCents, at(offer.counterCents).rateCents]
  const chance =
    belief === null || refused === null || named === null
      ? null
      : counterChances(belief, { quotedCents: refused, counterCents: named })
  const chanceAt = chance === null ? null : (sentCents: number) => chance(at(sentCents).rateCents ?? 0)
  const costCents = conversion === null || cost === null ? null : unconvertedCents(conversion, cost.cents)
  const worth =
    chanceAt === null || costCents === null
      ? null
      : (sentCents: number) => chanceAt(sentCents).probability * (sentCents - costCents)
  const best = bestBetween({ ...offer, ...limitsOf(appraisal) }, worth)
  return { chanceAt, suggestedCents: best !== null && best < (costCents ?? 0) ? null : best }
}

/** The rules' limits, converted to the terms of the quote. */
function limitsOf({ rules, conversion }: Appraisal) {
  const { minimum, maximum, roundTo, contradicts } = rules
  const own = (rateCents: number | null | undefined) =>
    rateCents == null || conversion === null ? null : unconvertedCents(conversion, rateCents)
  return {
    lowCents: own(minimum?.rateCents),
    highCents: contradicts ? null : own(maximum?.rateCents),
    roundToCents: roundTo?.value ?? null,
  }
}

/** The chance of a rate after a counter-offer, in the form of the API. */
export function counterOfferAnswer(
  { chanceAt, suggestedCents }: CounteredAppraisal,
  sentCents: number | null,
  { borrowed_share: borrowedShare, borrowed_from: borrowedFrom, used }: EstimatedOffer['estimate'],
  now: number,
): Answer {
  const chance = sentCents === null ? null : (chanceAt?.(sentCents) ?? null)
  const newest = used.newest_quoted_at
  return {
    win_probability: chance?.probability ?? null,
    interval_80: chance === null ? null : { ...chance.interval80 },
    trust:
      chance === null
        ? null
        : trustOf({
            interval80: chance.interval80,
            borrowedShare,
            newestDays: newest === null ? null : daysSince(Date.parse(newest), now),
            nearby: nearbyDecided(used, borrowedFrom),
          }),
    suggested_rate: dollarsIfKnown(suggestedCents),
  }
}

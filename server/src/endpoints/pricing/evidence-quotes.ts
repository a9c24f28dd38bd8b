import type { Static } from 'typebox'
import type { EvidenceQuote } from '#contract/estimate.ts'
import { identityOf } from '#engine/book/quote-book.ts'
import type { ScopeQuote } from '#engine/book/scope-counts.ts'
import { laneInSteps } from '#engine/estimate/current-lane.ts'
import type { ModelsByType } from '#engine/estimate/prepared-models.ts'
import { isDecided } from '#engine/history.ts'
import { dollarsFromCents } from '#engine/money.ts'
import { rateTypes } from '#engine/rate-type.ts'
import type { AskedLane } from '../../quotes/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'

const unanswered = 'nobody has answered it yet'

const leftOutWords: Readonly<Record<string, string>> = {
  bad_rate: 'its rate is not above zero',
  future: 'it is dated in the future',
  outlier:
    'its rate is far from every other rate of the lane, or it is undecided and there is nothing to compare it with',
}

/** The quotes behind an estimate, newest first. Each has the numbers that use it, and the reason if one does not. */
export async function readEvidenceQuotes(
  history: readonly ScopeQuote[],
  model: ModelsByType | null,
  {
    page,
    asked,
    refsOf,
  }: {
    page: { number: number; size: number }
    asked: AskedLane
    refsOf: (quoteIds: readonly number[]) => Promise<ReadonlyMap<number, string>>
  },
): Promise<{ quotes: Static<typeof EvidenceQuote>[]; quotes_page: number; quotes_pages: number }> {
  const left = model === null ? new Map<number, string>() : await leftOutOf(model, history, asked)
  const start = (page.number - 1) * page.size
  const shown = history.toReversed().slice(start, start + page.size)
  const refs =
    shown.length === 0 ? new Map<number, string>() : await refsOf(shown.map(({ quoteId }) => quoteId))
  return {
    // A quote that was just deleted has no reference.
    quotes: shown.flatMap((quote) => {
      const ref = refs.get(quote.quoteId)
      return ref === undefined
        ? []
        : [evidenceQuote(quote, ref, model === null ? null : left.get(quote.quoteId))]
    }),
    quotes_page: page.number,
    quotes_pages: Math.max(1, Math.ceil(history.length / page.size)),
  }
}

/** The reasons why the estimate excludes quotes, by quoteId. */
async function leftOutOf(
  models: ModelsByType,
  history: readonly ScopeQuote[],
  { origin, destination }: AskedLane,
): Promise<Map<number, string>> {
  const left = new Map<number, string>()
  for (const equipmentCode of new Set(history.map((quote) => quote.equipmentCode))) {
    const { key } = identityOf({
      originKey: origin.key,
      destinationKey: destination.key,
      originState: origin.state,
      destinationState: destination.state,
      equipmentCode,
    })
    for (const rateType of rateTypes) {
      const estimator = models[rateType]?.estimator
      const lane = estimator === undefined ? null : await yieldBetweenSteps(laneInSteps(estimator, key))
      for (const { quoteId, reason } of lane?.leftOut ?? []) left.set(quoteId, reason)
    }
  }
  return left
}

/** `leftOut` is the reason why the estimate excludes the quote; undefined when it is included, null without an estimate. */
function evidenceQuote(
  quote: ScopeQuote,
  laneRef: string,
  leftOut: string | null | undefined,
): Static<typeof EvidenceQuote> {
  const priced = quote.rateCents > 0
  const decided = priced && isDecided(quote)
  return {
    lane_ref: laneRef,
    equipment: quote.equipmentCode,
    rate: dollarsFromCents(quote.rateCents),
    outcome: quote.outcome,
    quoted_at: new Date(quote.quotedAt).toISOString(),
    used_in: [
      ...(decided ? (['win_probability', 'suggested_rate'] as const) : []),
      ...(priced ? (['rate_band'] as const) : []),
      ...(decided && leftOut === undefined ? (['estimate'] as const) : []),
    ],
    left_out: [
      ...(decided
        ? []
        : [
            {
              of: 'win_probability',
              why: priced ? unanswered : 'its rate is not above zero',
            },
          ]),
      ...(priced && !decided && leftOut === undefined ? [{ of: 'estimate', why: unanswered }] : []),
      ...(typeof leftOut === 'string' ? [{ of: 'estimate', why: leftOutWords[leftOut] ?? leftOut }] : []),
    ],
  }
}

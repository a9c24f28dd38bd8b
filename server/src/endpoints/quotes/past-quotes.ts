import { identityOf } from '#engine/book/quote-book.ts'
import type { Estimator } from '#engine/estimate/estimator.ts'
import { type WinChances, winChancesInSteps } from '#engine/estimate/win-chance.ts'
import type { PastQuote } from '#engine/rules/rule-test.ts'
import type { Steps } from '#engine/steps.ts'
import { factsOf } from '../../book/index.ts'
import { type PastQuoteRow, pastQuotes } from '../../database/queries/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import type { Parts } from '../parts.ts'

/** A quote of the past with today's chances of winning its lane. */
export interface EstimatedPastQuote extends PastQuote {
  readonly row: PastQuoteRow
  readonly chances: WinChances | null
}

/** The newest quotes as they were made, each with today's chances of its lane. */
export async function estimatedPastQuotes(
  { tenant, now }: { readonly tenant: TenantId; readonly now: number },
  which: { readonly since: Date; readonly limit: number },
  { books, database }: Pick<Parts, 'books' | 'database'>,
): Promise<EstimatedPastQuote[]> {
  const open = await books.read(tenant)
  const { estimator } = await open.quotes.advice(now)
  const rows = await database.inTenant(tenant, (transaction) => pastQuotes(transaction, tenant, which))
  // One work for all lanes: a work for each would take less than a slice, so none of them would yield.
  return yieldBetweenSteps(estimatedInSteps(rows, estimator))
}

/** A lane is estimated once. */
function* estimatedInSteps(rows: readonly PastQuoteRow[], estimator: Estimator): Steps<EstimatedPastQuote[]> {
  const known = new Map<string, WinChances | null>()
  const quotes: EstimatedPastQuote[] = []
  for (const row of rows) {
    const identity = identityOf({
      originKey: row.origin_key,
      destinationKey: row.destination_key,
      originState: row.origin_state,
      destinationState: row.destination_state,
      equipmentCode: row.equipment_code,
    })
    let chances = known.get(identity.key)
    if (chances === undefined) {
      chances = yield* winChancesInSteps(estimator, identity, row.miles)
      known.set(identity.key, chances)
      yield
    }
    const parties = {
      customerKeys: row.customer_keys,
      tier: row.tier,
      repId: row.created_by,
      teamIds: row.team_ids,
      rateType: row.rate_type,
    }
    quotes.push({
      laneRef: row.lane_ref,
      lane: identity.key,
      rateCents: row.quoted_rate_cents,
      outcome: row.outcome,
      facts: factsOf(row, parties, chances?.decided ?? 0),
      costs: {
        enteredCents: row.estimated_cost_cents,
        expectedCents: row.expected_cost_cents,
        miles: row.miles,
      },
      chanceAt: chances?.at ?? null,
      chances,
      row,
    })
  }
  return quotes
}

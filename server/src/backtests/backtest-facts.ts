import { type BacktestQuestion, type BacktestQuote, TESTED_DAYS } from '#engine/backtest/backtest.ts'
import { identityOf } from '#engine/book/quote-book.ts'
import { reachDays } from '#engine/estimate/reach.ts'
import { findTenant, minimumOf, readTenantQuotes } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { countedMiles } from '../quotes/index.ts'

/** The inputs of a backtest: plain values that can be passed to a thread. */
export type BacktestFacts = Omit<BacktestQuestion, 'onProgress'>

const dayMs = 86_400_000
/** The maximum number of quotes of a backtest, which prepares a model for each of its days. */
const quotesMax = 100_000

/** A tenant's newest quotes, as far back as the first tested day needs. */
export async function readBacktestFacts(
  transaction: TenantTransaction,
  tenant: TenantId,
  { now, windowDays = TESTED_DAYS }: { now: number; windowDays?: number },
): Promise<BacktestFacts> {
  const since = new Date(now - (reachDays + windowDays) * dayMs)
  const quotes = await readTenantQuotes(transaction, tenant, {
    since,
    max: quotesMax,
    milesOf: countedMiles,
  })
  const row = await findTenant(transaction, tenant)
  return {
    quotes: quotes.map(
      ({
        quoteId,
        rateCents,
        costCents,
        truckCostCents,
        quotedRateCents,
        quotedCostCents,
        outcome,
        quotedAt,
        miles,
        rateType,
        otherReason,
        ...places
      }): BacktestQuote => ({
        quoteId,
        rateCents,
        costCents,
        truckCostCents,
        quotedRateCents,
        quotedCostCents,
        outcome,
        quotedAt,
        miles,
        rateType,
        otherReason,
        lane: identityOf(places),
      }),
    ),
    now,
    windowDays,
    minimum: row === null ? {} : minimumOf(row),
  }
}

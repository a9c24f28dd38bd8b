import type { Appraisal, AppraisedRate } from '#engine/appraisal/appraisal.ts'
import { dollarsIfKnown } from '#engine/money.ts'
import { quotedAs, type RecordedForecast } from '#engine/recorded-forecast.ts'
import type { NewQuote, QuotedAmountColumn } from '../database/queries/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { appraiser, type LaneInColumns, namedCustomer, type Pricing, type Reader } from './appraiser.ts'
import { modelVersion } from './model-version.ts'
import { termsOfQuote } from './quote-conversions.ts'
import type { QuotedFor } from './quote-facts.ts'

/** Rounds to six decimals before the save, so that forecasts are scored by exactly the saved value. */
const six = (share: number) => Math.round(share * 1e6) / 1e6

/**
 * The forecast to store with a quote, from its appraisal, as the JSON text of its column. Null if there is nothing to estimate from,
 * or the rate cannot be converted.
 */
export function recordedForecast(
  appraisal: Appraisal,
  { chance }: AppraisedRate,
  quoted: Pick<NewQuote, QuotedAmountColumn>,
  now: number,
): string | null {
  const { laneWinRate, cost, goingCents, rates } = appraisal
  if (chance === null || laneWinRate === null) return null
  const forecast: RecordedForecast = {
    made_at: new Date(now).toISOString(),
    win_probability: six(chance.probability),
    low: six(chance.interval80.low),
    high: six(chance.interval80.high),
    cost: dollarsIfKnown(cost?.cents ?? null),
    cost_from: cost?.source ?? null,
    going_rate: dollarsIfKnown(goingCents),
    best_rate: dollarsIfKnown(rates.best?.rateCents ?? null),
    lane_win_rate: six(laneWinRate),
    quoted_as: quotedAs(quoted.quoted_rate_cents, termsOfQuote(quoted)),
    model: modelVersion,
  }
  return JSON.stringify(forecast)
}

interface QuoteToForecast {
  readonly lane: LaneInColumns & Pick<NewQuote, QuotedAmountColumn>
  readonly quotedFor: QuotedFor
  /** The day by whose fuel price and exchange rate its amounts are converted. */
  readonly at: Date
}

/** Returns a function that forecasts quotes pushed by another system, which nobody appraised before. */
export function quoteForecaster(
  pricing: Pricing,
  by: { readonly tenant: TenantId; readonly now: number; readonly read: Reader },
): (quote: QuoteToForecast) => Promise<string | null> {
  const appraise = appraiser(pricing, by)
  const customers = new Map<string | null, ReturnType<typeof namedCustomer>>()
  return async ({ lane: quote, quotedFor, at }) => {
    const { customerName: name } = quotedFor
    const customer = customers.get(name) ?? namedCustomer(name, pricing, by.tenant, by.read)
    customers.set(name, customer)
    const appraisal = await appraise({
      lane: quote,
      quotedFor,
      quoted: quote,
      enteredCents: quote.estimated_cost_cents ?? null,
      at,
      customer: await customer,
    })
    return recordedForecast(appraisal, appraisal.at(quote.quoted_rate_cents), quote, by.now)
  }
}

import type { Static } from 'typebox'
import { invalid } from '#contract/errors.ts'
import type * as contract from '#contract/market-reference.ts'
import type { ScopeQuote } from '#engine/book/scope-counts.ts'
import { chooseMarketRate, type MarketKind, type MarketRateState } from '#engine/market-rate.ts'
import { dollarsFromCents, dollarsIfKnown } from '#engine/money.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { median } from '#engine/statistics/median.ts'
import type { BrokerageBook, OpenBook } from '../../book/index.ts'
import { type MarketRateRow, marketRates } from '../../database/queries/index.ts'
import { type AskedLane, lanePlaces, marketPairs } from '../../quotes/index.ts'
import type { AskedBy } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { type ComparableRate, comparableRate, rateConversions } from '../performance/comparable-rates.ts'

type Rate = Static<typeof contract.MarketRate>
type Reference = Static<typeof contract.MarketReference>

const dayMs = 86_400_000

/** A stored rate as it is answered. */
export function rateAnswer(
  { row, comparedCents, convertedBy }: ComparableRate<MarketRateRow>,
  state: MarketRateState,
  now: number,
): Rate {
  return {
    scope: row.scope,
    origin: row.origin,
    destination: row.destination,
    equipment: row.equipment_code,
    basis: row.basis,
    kind: row.kind,
    currency: row.currency as Rate['currency'],
    low: dollarsIfKnown(row.low_cents),
    mid: dollarsFromCents(row.mid_cents),
    high: dollarsIfKnown(row.high_cents),
    fuel: dollarsIfKnown(row.fuel_cents),
    compared: dollarsIfKnown(comparedCents),
    converted_by: convertedBy,
    sample: row.sample,
    source: row.source,
    as_of: row.as_of.toISOString(),
    valid_until: row.valid_until?.toISOString() ?? null,
    age_days: Math.max(0, Math.floor((now - row.as_of.getTime()) / dayMs)),
    state,
  }
}

/** The query parameters that choose the reference of markup_pct. */
export interface AskedReference {
  readonly market_rate?: number
  readonly reference?: 'median' | 'market'
}

/** @throws a 422 if market_rate is sent and the saved market rate is requested */
export function checkReference({ market_rate: sent, reference }: AskedReference): void {
  if (sent === undefined || reference !== 'market') return
  throw invalid([
    {
      parameter: 'reference',
      code: 'invalid',
      detail: 'reference=market uses the stored market rate, and market_rate was sent. Send one of them.',
    },
  ])
}

/**
 * Both references of a lane, market and history, and the market rate in cents if it is the reference of markup_pct.
 *
 * @param history the brokerage's own quotes of the lane, oldest first
 */
export async function marketReference(
  asked: AskedLane,
  history: readonly ScopeQuote[],
  query: AskedReference,
  { caller: { tenant }, now }: AskedBy,
  { settings: { basis } }: OpenBook<BrokerageBook>,
  { database }: Pick<Parts, 'database'>,
): Promise<{ readonly answer: Reference; readonly marketRateCents: number | null }> {
  const priced = history.filter(({ rateCents }) => rateCents > 0)
  const { rows, conversions } = await database.inTenant(tenant, async (transaction) => {
    const stored = await marketRates.marketRatesOf(
      transaction,
      tenant,
      marketPairs(asked.origin, asked.destination),
      asked.equipmentCode,
    )
    return { rows: stored, conversions: await rateConversions(transaction, tenant, stored) }
  })
  const { miles } = lanePlaces(asked.places.origin, asked.places.destination, null)
  const rates = rows.map((row) => comparableRate(row, conversions, miles ?? null))
  const chosen = chooseOfOneEquipment(rates, { at: now, basis })
  const wonRates = priced.filter(({ outcome }) => outcome === 'won').map(({ rateCents }) => rateCents)
  const medianCents = median(priced.map(({ rateCents }) => rateCents))
  const newest = priced.at(-1)?.quotedAt ?? null
  const marketCents = chosen.used?.midCents ?? null
  const used = usedReference(query, { medianCents, marketCents, kind: chosen.used?.kind ?? null })
  return {
    marketRateCents: used.used === 'market' ? marketCents : null,
    answer: {
      own: {
        median: dollarsIfKnown(medianCents),
        won_median: dollarsIfKnown(median(wonRates)),
        quotes: priced.length,
        won: wonRates.length,
        newest_at: newest === null ? null : new Date(newest).toISOString(),
        age_days: newest === null ? null : Math.max(0, Math.floor((now - newest) / dayMs)),
      },
      market: chosen.used === null ? null : rateAnswer(chosen.used, 'usable', now),
      market_why: chosen.why,
      ...used,
      others: newestOfEach(chosen.others).map(({ rate, state }) => rateAnswer(rate, state, now)),
    },
  }
}

/**
 * Chooses a market rate. If the query has no equipment, the saved rates must be of one equipment, because rates of different
 * equipment are not comparable.
 */
function chooseOfOneEquipment(
  rates: readonly ComparableRate<MarketRateRow>[],
  wanted: { readonly at: number; readonly basis: RateBasis },
) {
  const chosen = chooseMarketRate(rates, wanted)
  const codes = [...new Set(rates.map(({ row }) => row.equipment_code))].sort()
  if (codes.length < 2 || chosen.used === null) return chosen
  return {
    used: null,
    others: [{ rate: chosen.used, state: 'usable' as const }, ...chosen.others],
    why: `Market rates of ${codes.join(' and ')} are stored: send equipment to choose one.`,
  }
}

/** The newest rate of each series. Rates of a series have the same scope, equipment, source, basis, kind and currency. */
function newestOfEach<Other extends { readonly rate: ComparableRate<MarketRateRow> }>(
  others: readonly Other[],
): Other[] {
  const seen = new Set<string>()
  return others.filter(({ rate: { row } }) => {
    const key = JSON.stringify([row.scope, row.equipment_code, row.source, row.basis, row.kind, row.currency])
    return !seen.has(key) && seen.add(key)
  })
}

function usedReference(
  { market_rate: sent, reference }: AskedReference,
  {
    medianCents,
    marketCents,
    kind,
  }: { medianCents: number | null; marketCents: number | null; kind: MarketKind | null },
): Pick<Reference, 'used' | 'reference_rate' | 'why'> {
  if (sent !== undefined) {
    return { used: 'market_rate', reference_rate: sent, why: 'The market rate that was sent is used.' }
  }
  if (reference === 'market' && marketCents !== null) {
    return {
      used: 'market',
      reference_rate: dollarsFromCents(marketCents),
      why: `The stored market rate is used, because reference=market asks for it. ${kind === 'buy' ? 'It is what carriers are paid, so the markup is over the cost of a truck.' : 'It is what customers pay.'}`,
    }
  }
  if (medianCents === null) {
    return {
      used: 'none',
      reference_rate: null,
      why: 'There is no rate of your own on this lane to compare with.',
    }
  }
  return {
    used: 'own_median',
    reference_rate: dollarsFromCents(medianCents),
    why:
      reference === 'market'
        ? 'The median of your own quotes is used, because no stored market rate is usable.'
        : 'The median of your own quotes is used, because no market rate was asked for.',
  }
}

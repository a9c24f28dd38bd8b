import { sql } from 'kysely'
import type { RateType } from '#engine/rate-type.ts'
import type { QuoteRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { isDirectLoad } from '../quotes/quote-conditions.ts'

/** Which quotes with forecasts are read. */
export interface ForecastFilter {
  /** Quoted at this time or later. */
  readonly since: Date
  /** Quoted before this time. */
  readonly until?: Date
  readonly rateType?: RateType
  /** The rate type of quotes that do not state theirs. */
  readonly defaultRateType: RateType
}

/** A quote with its forecast, as far as a report of forecasts needs it. */
export type ForecastRow = Pick<
  QuoteRow,
  | 'lane_id'
  | 'lane_ref'
  | 'created_at'
  | 'origin'
  | 'destination'
  | 'origin_key'
  | 'destination_key'
  | 'equipment'
  | 'equipment_code'
  | 'outcome'
  | 'decided_at'
  | 'voided_at'
  | 'superseded_as'
  | 'quoted_rate_cents'
  | 'quoted_basis'
  | 'quoted_fuel_cents'
  | 'quoted_accessorials_cents'
  | 'quoted_currency'
> & { readonly rate_type: RateType; readonly forecast: NonNullable<QuoteRow['forecast']> }

/** Quotes of direct truckloads with a forecast in the order of their ids, after `after`. */
export async function forecastQuotesAfter(
  transaction: TenantTransaction,
  tenant: TenantId,
  { since, until, rateType, defaultRateType }: ForecastFilter,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<ForecastRow[]> {
  const { rows } = await sql<ForecastRow>`
    select lane_id, lane_ref, created_at, origin, destination, origin_key, destination_key, equipment, equipment_code, outcome,
      decided_at, voided_at, superseded_as, quoted_rate_cents, quoted_basis, quoted_fuel_cents, quoted_accessorials_cents,
      quoted_currency, forecast, coalesce(rate_type, ${defaultRateType}) as rate_type
    from quotes
    where tenant_id = ${tenant} and lane_id > ${after} and forecast is not null and created_at >= ${since}
      and (${until ?? null}::timestamptz is null or created_at < ${until ?? null})
      and ${isDirectLoad}
      and (${rateType ?? null}::text is null or coalesce(rate_type, ${defaultRateType}) = ${rateType ?? null})
    order by lane_id limit ${limit}
  `.execute(transaction)
  return rows
}

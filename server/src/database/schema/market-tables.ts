import type { ColumnType } from 'kysely'
import type { FuelRule } from '#engine/fuel-surcharge.ts'
import type { MarketKind, MarketScope } from '#engine/market-rate.ts'
import type { RateBasis } from '#engine/rate-basis.ts'

export interface DieselPricesTable {
  tenant_id: number
  week: string
  mills: number
}

export interface FuelPeriodsTable {
  tenant_id: number
  customer_key: string
  customer_name: string
  from_day: string
  until_day: string | null
  rule: ColumnType<FuelRule, string, string>
}

/** The surcharges of a schedule by day: see 0002-tenants.sql. */
export interface FuelDaysTable {
  tenant_id: number
  customer_key: string
  day: string
  mills_per_mile: number
}

/** The exchange rate of each day, and the day for which it was entered. */
export interface ExchangeDaysTable {
  tenant_id: number
  day: string
  usd_per_cad: number
  published: string
}

export interface MarketRatesTable {
  tenant_id: number
  scope: MarketScope
  origin_area: string
  destination_area: string
  equipment_code: string
  source: string
  basis: RateBasis
  kind: MarketKind
  currency: string
  as_of: Date
  low_cents: number | null
  mid_cents: number
  high_cents: number | null
  fuel_cents: number | null
  sample: number | null
  valid_until: Date | null
  origin: string
  destination: string
  /** adapter: a version before migration 0068 asked a provider for the rate. */
  entered_by: 'push' | 'file' | 'hand' | 'adapter'
  said_at: Date
}

import { type Insertable, type Selectable, sql } from 'kysely'
import type { MarketScope } from '#engine/market-rate.ts'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

export type MarketRateRow = Selectable<Tables['market_rates']>
export type NewMarketRate = Omit<Insertable<Tables['market_rates']>, 'tenant_id'>

/** A pair of areas that has market rates. */
export interface MarketPair {
  readonly scope: MarketScope
  readonly originArea: string
  readonly destinationArea: string
}

const keyColumns = [
  'tenant_id',
  'scope',
  'origin_area',
  'destination_area',
  'equipment_code',
  'source',
  'basis',
  'kind',
  'currency',
  'as_of',
] as const

/** The saved rates with the same keys as these, locked until the end of the transaction. */
export async function lockSameMarketRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  rates: readonly NewMarketRate[],
): Promise<MarketRateRow[]> {
  if (rates.length === 0) return []
  return transaction
    .selectFrom('market_rates')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(
      sql<boolean>`(scope, origin_area, destination_area, equipment_code, source, basis, kind, currency, as_of) in (
        select * from unnest(
          ${rates.map(({ scope }) => scope)}::text[],
          ${rates.map(({ origin_area }) => origin_area)}::text[],
          ${rates.map(({ destination_area }) => destination_area)}::text[],
          ${rates.map(({ equipment_code }) => equipment_code)}::text[],
          ${rates.map(({ source }) => source)}::text[],
          ${rates.map(({ basis }) => basis)}::text[],
          ${rates.map(({ kind }) => kind)}::text[],
          ${rates.map(({ currency }) => currency)}::text[],
          ${rates.map(({ as_of }) => as_of)}::timestamptz[]
        )
      )`,
    )
    .orderBy('scope')
    .orderBy('origin_area')
    .orderBy('destination_area')
    .forUpdate()
    .execute()
}

/** Saves rates, in place of those with the same keys. */
export async function saveMarketRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  rates: readonly NewMarketRate[],
): Promise<void> {
  if (rates.length === 0) return
  await transaction
    .insertInto('market_rates')
    .values(rates.map((rate) => ({ ...rate, tenant_id: tenant })))
    .onConflict((conflict) =>
      conflict.columns([...keyColumns]).doUpdateSet((row) => ({
        low_cents: row.ref('excluded.low_cents'),
        mid_cents: row.ref('excluded.mid_cents'),
        high_cents: row.ref('excluded.high_cents'),
        fuel_cents: row.ref('excluded.fuel_cents'),
        sample: row.ref('excluded.sample'),
        valid_until: row.ref('excluded.valid_until'),
        origin: row.ref('excluded.origin'),
        destination: row.ref('excluded.destination'),
        entered_by: row.ref('excluded.entered_by'),
        said_at: row.ref('excluded.said_at'),
      })),
    )
    .execute()
}

/** The most rates of each area, equipment, source, basis, kind and currency: the newest may be expired, or not valid yet. */
const ratesOfEachMax = 20
/** The most rates of a lane, over all sources and areas. The oldest rates of each are left out first. */
const ratesPerLaneMax = 1_000

/** The newest rates of each source for these areas, of one equipment or (null) of all. */
export async function marketRatesOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  pairs: readonly MarketPair[],
  equipmentCode: string | null,
): Promise<MarketRateRow[]> {
  return transaction
    .selectFrom((from) => {
      const ofLane = from
        .selectFrom('market_rates')
        .selectAll()
        .select(
          sql<number>`row_number() over (partition by scope, equipment_code, source, basis, kind, currency order by as_of desc)`.as(
            'place',
          ),
        )
        .where('tenant_id', '=', tenant)
        .where(ofPairs(pairs))
      return (equipmentCode === null ? ofLane : ofLane.where('equipment_code', '=', equipmentCode)).as(
        'ranked',
      )
    })
    .selectAll()
    .where('place', '<=', ratesOfEachMax)
    .orderBy('place')
    .orderBy('as_of', 'desc')
    .limit(ratesPerLaneMax)
    .execute()
}

function ofPairs(pairs: readonly MarketPair[]) {
  return sql<boolean>`(scope, origin_area, destination_area) in (
    select * from unnest(
      ${pairs.map(({ scope }) => scope)}::text[],
      ${pairs.map(({ originArea }) => originArea)}::text[],
      ${pairs.map(({ destinationArea }) => destinationArea)}::text[]
    )
  )`
}

/** The columns of a market rate that a comparison over time reads. */
export type DatedMarketRate = Omit<
  MarketRateRow,
  'tenant_id' | 'entered_by' | 'said_at' | 'origin' | 'destination'
>

/** A pair of areas that has market rates for an equipment. */
export type StoredPair = MarketPair & { readonly equipmentCode: string }

/** The areas and equipment of the saved rates, each once. */
export async function storedPairs(transaction: TenantTransaction, tenant: TenantId): Promise<StoredPair[]> {
  return transaction
    .selectFrom('market_rates')
    .select([
      'scope',
      'origin_area as originArea',
      'destination_area as destinationArea',
      'equipment_code as equipmentCode',
    ])
    .distinct()
    .where('tenant_id', '=', tenant)
    .execute()
}

/**
 * The rates of these areas that are dated after `since`, to compare quotes with. Of older rates, only the newest of each area,
 * equipment and kind, so that an answer can say that the rates of a quote are too old.
 */
export async function marketRatesSince(
  transaction: TenantTransaction,
  tenant: TenantId,
  pairs: readonly MarketPair[],
  since: Date | null,
): Promise<DatedMarketRate[]> {
  const ofAreas = transaction
    .selectFrom('market_rates')
    .select([
      'scope',
      'origin_area',
      'destination_area',
      'equipment_code',
      'source',
      'basis',
      'kind',
      'currency',
      'as_of',
      'low_cents',
      'mid_cents',
      'high_cents',
      'fuel_cents',
      'sample',
      'valid_until',
    ])
    .where('tenant_id', '=', tenant)
    .where(ofPairs(pairs))
  if (since === null) return ofAreas.execute()
  const older = ofAreas
    .where('as_of', '<=', since)
    .distinctOn(['scope', 'origin_area', 'destination_area', 'equipment_code', 'kind'])
    .orderBy('scope')
    .orderBy('origin_area')
    .orderBy('destination_area')
    .orderBy('equipment_code')
    .orderBy('kind')
    .orderBy('as_of', 'desc')
  return [...(await ofAreas.where('as_of', '>', since).execute()), ...(await older.execute())]
}

/** The newest rates, of all sources or of one. */
export async function newestMarketRates(
  transaction: TenantTransaction,
  tenant: TenantId,
  source: string | null,
  limit: number,
): Promise<MarketRateRow[]> {
  let query = transaction
    .selectFrom('market_rates')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .orderBy('as_of', 'desc')
    .orderBy('said_at', 'desc')
    .orderBy('source')
    .orderBy('origin_area')
    .orderBy('destination_area')
    .limit(limit)
  if (source !== null) query = query.where('source', '=', source)
  return query.execute()
}

export interface MarketSource {
  readonly source: string
  readonly rates: number
  readonly newest: Date
  readonly oldest: Date
}

/** The sources of a brokerage, by name. */
export async function listMarketSources(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<MarketSource[]> {
  return transaction
    .selectFrom('market_rates')
    .select((row) => [
      'source',
      row.cast<number>(row.fn.countAll(), 'integer').as('rates'),
      row.fn.max('as_of').as('newest'),
      row.fn.min('as_of').as('oldest'),
    ])
    .where('tenant_id', '=', tenant)
    .groupBy('source')
    .orderBy('source')
    .execute()
}

/** Deletes all rates of a source. Returns how many there were. */
export async function eraseMarketSource(
  transaction: TenantTransaction,
  tenant: TenantId,
  source: string,
): Promise<number> {
  const { numDeletedRows } = await transaction
    .deleteFrom('market_rates')
    .where('tenant_id', '=', tenant)
    .where('source', '=', source)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

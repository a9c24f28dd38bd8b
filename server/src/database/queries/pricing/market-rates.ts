import { expressionBuilder, type Insertable, type Selectable, sql } from 'kysely'
import type { MarketScope } from '#engine/market-rate.ts'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { expiredIsLost, isMixed, unordered } from '../performance/compared-basis.ts'
import { type LaneFilter, matching } from '../quotes/lane-lists.ts'
import { recordSeparator, unitSeparator } from '../quotes/packed-quotes.ts'

export type MarketRateRow = Selectable<Tables['market_rates']>
export type NewMarketRate = Omit<Insertable<Tables['market_rates']>, 'tenant_id'>

/** A pair of areas that market rates are stored for. */
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

/** The stored rates with the keys of these, locked until the end of the transaction. */
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

/** Inserts rates, or replaces the stored ones with the same keys. */
export async function putMarketRates(
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

/** The newest rates of each area, equipment, source, basis, kind and currency: the newest may be expired, or still to come. */
const ratesOfEachMax = 20
/** Rates of a lane: some sources of all areas. Their past is left out first. */
const ratesPerLaneMax = 1_000

/** The newest rates of each source and area of these, of one equipment or (null) of all. */
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

/** What a comparison over time needs of a rate. */
export type DatedMarketRate = Omit<
  MarketRateRow,
  'tenant_id' | 'entered_by' | 'said_at' | 'origin' | 'destination'
>

/** Areas that rates are stored for, with the equipment. */
export type StoredPair = MarketPair & { readonly equipmentCode: string }

/** The areas and equipment of the stored rates, each once. */
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
 * The rates of these areas, dated after `since`: those that a quote after it can be compared with. Of the older ones only the newest
 * of each area, equipment and kind, so that an answer can say that the rates of a quote are too old.
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

/** Lanes with their quotes as the database returns them: both lists are in the same order. */
export interface PackedLanes {
  /** For each lane the texts of `laneTexts`. */
  readonly lanes: string | null
  /** For each lane the number of its quotes in four bytes, and a record of each: see `quoteRecord`. */
  readonly quotes: Buffer | null
}

const laneTexts = sql.join(
  [
    sql`origin_key`,
    sql`destination_key`,
    sql`equipment_code`,
    sql`origin_state`,
    sql`destination_state`,
    sql`coalesce(origin_market, '')`,
    sql`coalesce(destination_market, '')`,
    sql`origin`,
    sql`destination`,
  ],
  sql` || ${sql.lit(unitSeparator)} || `,
)

/*
 * The time of a quote, its rate in cents (negative if it was lost, 0 if there is none), its truck cost in cents (0 if there is none),
 * and its miles.
 */
const quoteRecord = sql`timestamptz_send(created_at)
  || int4send(case outcome when 'won' then greatest(rate_cents, 0) when 'lost' then -greatest(rate_cents, 0) else 0 end)
  || int4send(greatest(truck_cost_cents, 0)) || float8send(coalesce(miles, 'NaN'))`
export const quoteRecordBytes = 24

/**
 * The priced, won or lost quotes and the booked truck costs of a selection, by lane. Packed, because a row for each lane and day
 * takes the driver several times as long: nearly every quote has a day of its own.
 */
export async function standingLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: Pick<LaneFilter, 'from' | 'to' | 'equipmentCode'>,
): Promise<PackedLanes> {
  const columns = sql`origin_key, destination_key, equipment_code, origin_state, destination_state, origin_market,
    destination_market, origin, destination, truck_cost_cents, miles, created_at,
    coalesce(customer_rate_cents, quoted_rate_cents) as rate_cents`
  const where = sql`tenant_id = ${tenant} and ${matching(filter, tenant)(expressionBuilder<Tables, 'lanes'>())}`
  const mixed = sql<boolean>`(select ${isMixed(tenant)} from tenants as one where one.tenant_id = ${tenant})`
  const expiredAs = sql`case when outcome <> 'expired' then outcome
    when ${expiredIsLost(tenant)} then 'lost'
    else 'pending' end`
  // Without an amount to convert, the view takes twice as long as the table. Only one of the two parts runs.
  const { rows } = await sql<PackedLanes>`
    with counted as (
      select ${columns}, ${expiredAs} as outcome, ${unordered} as unordered from lanes where not ${mixed} and ${where}
      union all
      select ${columns}, outcome, ${unordered} from counted_lanes as lanes where ${mixed} and ${where}
      offset 0
    ), by_lane as (
      -- A place can have several spellings. The order of bytes is the quickest to compare.
      select max((${laneTexts}) collate "C") as texts, int4send(count(*)::integer) || string_agg(${quoteRecord}, ''::bytea) as quotes
      from counted
      where outcome in ('won', 'lost') or truck_cost_cents > 0
      group by origin_key, destination_key, equipment_code, unordered
    )
    select string_agg(texts, ${recordSeparator}) as lanes, string_agg(quotes, ''::bytea) as quotes from by_lane
  `.execute(transaction)
  return rows[0] ?? { lanes: null, quotes: null }
}

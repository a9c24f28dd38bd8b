import { type RawBuilder, sql } from 'kysely'
import { BUCKET_DAYS, BUCKETS_MAX } from '#engine/buckets.ts'
import { type Outcome, rateThatCounts } from '#engine/history.ts'
import type { HistoryCount } from '#engine/history-counts.ts'
import type { MilesCount } from '#engine/lane-insight.ts'
import type { TenantId, TenantTransaction } from './open-database.ts'

/** What the counts of a tenant hold of a quote: the columns of its lane. */
export interface CountedLane {
  readonly origin_key: string
  readonly destination_key: string
  readonly equipment_code: string
  readonly outcome: Outcome
  readonly quoted_rate_cents: number
  readonly customer_rate_cents: number | null
  readonly miles: number | null
  readonly created_at: Date
}

/** A month's numbers, one a day; the database takes them by these names. */
interface MonthChange {
  readonly tenant_id: number
  readonly equipment_code: string
  /** Its first day, as PostgreSQL reads it. */
  readonly month: string
  readonly won: number[]
  readonly lost: number[]
  readonly pending: number[]
  readonly priced: number[]
  readonly rate_sum_cents: number[]
}

interface MilesChange {
  readonly tenant_id: number
  readonly equipment_code: string
  readonly miles: number
  priced: number
  rate_sum_cents: number
}

/** What comes to a lane on a day at a rate, as the database takes it. Only lanes that are kept counted take it. */
type LaneChange = [
  origin: string,
  destination: string,
  equipment: string,
  /** As PostgreSQL reads it. */
  day: string,
  rateCents: number,
  won: number,
  lost: number,
  pending: number,
]
/** Where an outcome stands in it. */
const placeOf = { won: 5, lost: 6, pending: 7 } as const

const daysOfMonth = 31
const noDays = () => new Array<number>(daysOfMonth).fill(0)

/** What one transaction does to the counts of quotes: collected as it goes, and written with its last statement. */
export class QuoteCountChanges {
  readonly #months = new Map<string, MonthChange>()
  readonly #miles = new Map<string, MilesChange>()
  readonly #lanes = new Map<number, Map<string, LaneChange>>()
  #won = 0
  #decided = 0

  /** Quotes that come (1), or that are no more or no longer so (-1). */
  count(tenant: number, quotes: readonly CountedLane[], by: 1 | -1): void {
    for (const quote of quotes) {
      const { equipment_code, created_at } = quote
      const rateCents = rateThatCounts({
        quotedRateCents: quote.quoted_rate_cents,
        customerRateCents: quote.customer_rate_cents,
      })
      const day = created_at.getUTCDate() - 1
      const date = created_at.toISOString().slice(0, -14)
      const month = this.#monthOf(tenant, equipment_code, `${date.slice(0, -3)}-01`)
      this.#laneOf(tenant, quote, date, rateCents)[placeOf[quote.outcome]] += by
      const add = (days: number[], more: number) => {
        days[day] = (days[day] ?? 0) + more
      }
      add(month[quote.outcome], by)
      if (quote.outcome === 'won') this.#won += by
      if (quote.outcome !== 'pending') this.#decided += by
      if (rateCents <= 0) continue
      add(month.priced, by)
      add(month.rate_sum_cents, by * rateCents)
      const miles = this.#milesOf(tenant, equipment_code, quote.miles ?? 0)
      miles.priced += by
      miles.rate_sum_cents += by * rateCents
    }
  }

  #monthOf(tenant: number, equipment: string, first: string): MonthChange {
    const key = `${tenant} ${equipment} ${first}`
    const known = this.#months.get(key)
    if (known !== undefined) return known
    const made = {
      tenant_id: tenant,
      equipment_code: equipment,
      month: first,
      won: noDays(),
      lost: noDays(),
      pending: noDays(),
      priced: noDays(),
      rate_sum_cents: noDays(),
    }
    this.#months.set(key, made)
    return made
  }

  #milesOf(tenant: number, equipment: string, miles: number): MilesChange {
    const key = `${tenant} ${equipment} ${miles}`
    const known = this.#miles.get(key)
    if (known !== undefined) return known
    const made = { tenant_id: tenant, equipment_code: equipment, miles, priced: 0, rate_sum_cents: 0 }
    this.#miles.set(key, made)
    return made
  }

  #laneOf(tenant: number, quote: CountedLane, day: string, rateCents: number): LaneChange {
    const { origin_key, destination_key, equipment_code } = quote
    const ofTenant = this.#lanes.get(tenant) ?? new Map<string, LaneChange>()
    this.#lanes.set(tenant, ofTenant)
    const key = `${origin_key}\n${destination_key}\n${equipment_code}\n${day}\n${rateCents}`
    const known = ofTenant.get(key)
    if (known !== undefined) return known
    const made: LaneChange = [origin_key, destination_key, equipment_code, day, rateCents, 0, 0, 0]
    ofTenant.set(key, made)
    return made
  }

  /** What `move_tenant` takes, or null where nothing is to be counted otherwise. */
  changed() {
    const months = [...this.#months.values()].flatMap((month) => onDaysThatChange(month) ?? [])
    const miles = [...this.#miles.values()].filter(
      ({ priced, rate_sum_cents }) => priced !== 0 || rate_sum_cents !== 0,
    )
    const lanes = [...this.#lanes].flatMap(([tenant_id, changes]) => {
      const quotes = [...changes.values()].filter((change) =>
        Object.values(placeOf).some((place) => change[place] !== 0),
      )
      return quotes.length === 0 ? [] : [{ tenant_id, quotes }]
    })
    if (months.length + miles.length + lanes.length === 0) return null
    return { won_quotes: this.#won, decided_quotes: this.#decided, months, miles, lanes }
  }
}

/** Days of a month, counted from 1, each with what comes to its number. */
type OnDays = readonly (readonly [day: number, more: number])[]

/** A month's change without the lists and days on which nothing does; null for what changes on none. Most are of one day. */
function onDaysThatChange({ tenant_id, equipment_code, month, ...counts }: MonthChange) {
  const changed: { [name in keyof typeof counts]?: OnDays } = {}
  for (const name of ['won', 'lost', 'pending', 'priced', 'rate_sum_cents'] as const) {
    const days = counts[name].flatMap((more, day) => (more === 0 ? [] : [[day + 1, more] as const]))
    if (days.length > 0) changed[name] = days
  }
  return Object.keys(changed).length === 0 ? null : { tenant_id, equipment_code, month, ...changed }
}

const dayMs = 86_400_000
const bucketMs = BUCKET_DAYS * dayMs
/** Where the database begins to count buckets: long before any quote. */
const bucketsBefore = 10_000

/**
 * As readHistoryCounts, over everything a tenant quoted (of one equipment, where one is given), from the counts of its
 * days: as fast for a million quotes as for ten thousand.
 */
export async function readTenantCounts(
  transaction: TenantTransaction,
  tenant: TenantId,
  { equipmentCode, now }: { equipmentCode?: string | undefined; now: number },
): Promise<HistoryCount[]> {
  const ofEquipment = equipmentCode === undefined ? sql`` : sql`and equipment_code = ${equipmentCode}`
  return readDayCounts(transaction, {
    days: sql`
      select (month + (number - 1)::integer)::timestamp at time zone 'UTC' as day, won, lost, pending, priced, rate_sum
      from (
        select month, number, sum(days.won)::bigint as won, sum(days.lost)::bigint as lost,
          sum(days.pending)::bigint as pending, sum(days.priced)::bigint as priced,
          sum(days.rate_sum)::bigint as rate_sum
        from quote_months as counted,
          unnest(counted.won, counted.lost, counted.pending, counted.priced, counted.rate_sum_cents)
            with ordinality as days (won, lost, pending, priced, rate_sum, number)
        where tenant_id = ${tenant} ${ofEquipment} and days.won + days.lost + days.pending > 0
        group by month, number
      ) as summed`,
    parts: sql`(values (1)) as counted`,
    quotes: sql`tenant_id = ${tenant} ${ofEquipment}`,
    now,
  })
}

/**
 * The counts of a scope by bucket and month from those of its whole days. Only the days in which a bucket begins are read
 * row by row: `quotes` says which rows, of each of the `parts` that they are looked for in. Of a whole day `oldestAt` is its
 * beginning, so that the counts are read again a little early. Older than the last bucket that is scored is all one.
 */
export async function readDayCounts(
  transaction: TenantTransaction,
  {
    days,
    parts,
    quotes,
    now,
  }: {
    /** Selects day (its beginning), won, lost, pending, priced, rate_sum. */
    days: RawBuilder<unknown>
    parts: RawBuilder<unknown>
    quotes: RawBuilder<unknown>
    now: number
  },
): Promise<HistoryCount[]> {
  // As in readHistoryCounts: a bucket ends at now and holds it.
  const end = now + 1
  const begins = Array.from({ length: BUCKETS_MAX + 1 }, (_, age) => end - age * bucketMs)
  const cutDays = [...new Set(begins.map((at) => Math.floor(at / dayMs) * dayMs))]
  const moments = (at: readonly number[]) =>
    sql`${at.map((one) => new Date(one).toISOString())}::timestamptz[]`
  // Both ends are handed in: what is reckoned from a day could not be looked for in an index behind row-level security.
  const [cut, cutEnds] = [moments(cutDays), moments(cutDays.map((day) => day + dayMs))]
  const first = new Date(end - bucketsBefore * bucketMs).toISOString()
  // One statement, so that rows and counts are of one moment.
  const { rows } = await sql<CountedStretch>`
    with days as (${days})
    select null::timestamptz as begins, day as oldest, won, lost, pending, priced, rate_sum as "rateSumCents"
    from days where day <> all (${cut})
    union all
    select date_bin('30 days', created_at, ${first}::timestamptz), min(created_at),
      count(*) filter (where outcome = 'won'), count(*) filter (where outcome = 'lost'),
      count(*) filter (where outcome = 'pending'), count(*) filter (where rate > 0), sum(rate)::bigint
    from ${parts}, unnest(${cut}, ${cutEnds}) as cut (day, next_day), lateral (
      select created_at, outcome, coalesce(customer_rate_cents, quoted_rate_cents) as rate
      from lanes
      where ${quotes} and created_at >= cut.day and created_at < cut.next_day
      offset 0
    ) as quotes
    group by 1, date_trunc('month', created_at, 'UTC')
  `.execute(transaction)
  return rows.map(({ begins, oldest, ...counts }) => {
    const age =
      begins === null
        ? Math.floor((now - oldest.getTime() - (dayMs - 1)) / bucketMs)
        : Math.round((end - begins.getTime()) / bucketMs) - 1
    return {
      ...counts,
      bucket: Math.min(BUCKETS_MAX, Math.max(-1, age)),
      month: oldest.getUTCFullYear() * 12 + oldest.getUTCMonth(),
      oldestAt: oldest.getTime(),
    }
  })
}

/** Quotes of one whole day, or of the part of one that lies in the bucket that `begins` then. */
interface CountedStretch {
  readonly begins: Date | null
  readonly oldest: Date
  readonly won: number
  readonly lost: number
  readonly pending: number
  readonly priced: number
  readonly rateSumCents: number
}

/** As readMilesCounts, over everything a tenant quoted (of one equipment, where one is given). */
export async function readTenantMiles(
  transaction: TenantTransaction,
  tenant: TenantId,
  equipmentCode: string | undefined,
): Promise<MilesCount[]> {
  let query = transaction
    .selectFrom('quote_miles')
    .select([
      sql<number | null>`nullif(miles, 0)`.as('miles'),
      sql<number>`sum(priced)::bigint`.as('priced'),
      sql<number>`sum(rate_sum_cents)::bigint`.as('rateSumCents'),
    ])
    .where('tenant_id', '=', tenant)
    .where('priced', '>', 0)
    .groupBy('miles')
  if (equipmentCode !== undefined) query = query.where('equipment_code', '=', equipmentCode)
  return query.execute()
}

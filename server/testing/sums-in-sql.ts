import { readFileSync } from 'node:fs'
import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import { type ConvertedCounts, noneConverted } from '#engine/quote-statistics/basis-counts.ts'
import type { EquipmentMonth } from '#engine/quote-statistics/lane-record.ts'
import type { FigureOfQuotes } from '#engine/quote-statistics/quotes-behind.ts'
import type { ShipmentTotals } from '#engine/quote-statistics/shipment-totals.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import { bySpecificity, type MinimumTerms, type PricingRule } from '#engine/rules/pricing-rules.ts'
import type { RuleConditions, RulePlace } from '#engine/rules/rule-conditions.ts'
import { isMixed, matching, type QuoteFilter } from '#server/database/queries/index.ts'
import type { Tables, TenantTransaction } from '#server/database/schema/index.ts'
import type { TenantId } from '#server/database/session/index.ts'
import { sinceQuotes } from './since-quotes.ts'

/*
 * The sums, conversions and comparisons of amounts in SQL, as the service had them before the engine and the book replaced them. Tests
 * compare the two: they are written in different languages, so that one mistake is not in both.
 */

const migration = (name: string) =>
  readFileSync(new URL(`../src/database/schema/migrations/${name}`, import.meta.url), 'utf8')
const between = (text: string, from: string, to: string) =>
  text.slice(text.indexOf(from), text.indexOf(to, text.indexOf(from)))

const direct = `coalesce(mode, 'truckload') = 'truckload' and stops is null`

/** Creates the view `counted_lanes` of earlier versions, which converts amounts in the database. The owner runs it. */
export const countedQuotes = [
  between(migration('0006-quotes.sql'), 'create function on_basis', '-- The lanes that statistics count'),
  sinceQuotes(
    between(
      migration('0066-offers-of-a-load.sql'),
      'create or replace view counted_lanes',
      '-- Returns the other offers',
    ),
  )
    // The column was renamed since.
    .replace('advice', 'forecast')
    // Since modes and stops, only direct truckloads count.
    .replace('where voided_at is null', `where ${direct} and voided_at is null`),
  'grant select on counted_lanes to lanewise_service;',
].join('\n')

/** Whether the margin has landed: AR and AP are both booked. */
export const marginLanded = sql<boolean>`(quotes.customer_rate_cents is not null and quotes.truck_cost_cents is not null)`

/** AR minus AP; null if either is unknown. */
export const landedMarginCents = sql<number | null>`(quotes.customer_rate_cents - quotes.truck_cost_cents)`

/** The truck cost expected at the time of the quote: the rep's estimate, else the estimate from AP history. */
export const quotedCostCents = sql<
  number | null
>`coalesce(nullif(quotes.estimated_cost_cents, 0), nullif(quotes.expected_cost_cents, 0))`

/** The quoted rate minus the expected cost; null if either is unknown. */
export const quotedMarginCents = sql<
  number | null
>`(nullif(quotes.quoted_rate_cents, 0) - ${quotedCostCents})`

/** Whether both the landed and the quoted margin are known. */
export const marginComparable = sql<boolean>`(${marginLanded} and ${quotedMarginCents} is not null)`

/** Margin lost to a truck cost above the expected cost; 0 if none. */
export const lostToCostCents = sql<number | null>`greatest(quotes.truck_cost_cents - ${quotedCostCents}, 0)`
/** Margin lost to a customer rate below the quoted rate; 0 if none. */
export const lostToRateCents = sql<
  number | null
>`greatest(quotes.quoted_rate_cents - quotes.customer_rate_cents, 0)`
/**
 * Whether AR and AP are on the same basis and in the same currency, so that they can be compared as they are. `assumed` is the
 * basis of an amount that states none. Without it, such an amount is only comparable to another one that states none.
 */
const comparableAsBooked = (assumed: RawBuilder<unknown> = sql`'not stated'`) =>
  sql<boolean>`(coalesce(quotes.truck_basis, ${assumed}) = coalesce(quotes.customer_basis, ${assumed})
  and coalesce(quotes.truck_currency, 'USD') = coalesce(quotes.customer_currency, 'USD'))`
/** Whether AP is above AR, both as they were sent. */
const bookedAtALoss = sql<boolean>`(quotes.truck_cost_cents > quotes.customer_rate_cents)`

/**
 * The lowest rate of a quote: the expected cost, or the minimum above it, as in `minimumRateCents` of the engine; null if no
 * cost was expected.
 */
function lowestRateCents({
  pct,
  cents,
  centsPerMile,
  rateCentsPerMile,
}: MinimumTerms): RawBuilder<number | null> {
  const costs = [
    quotedCostCents,
    ...(pct === undefined ? [] : [sql`ceil(${quotedCostCents} / (1 - ${pct}::float8 / 100))`]),
    ...(cents === undefined ? [] : [sql`${quotedCostCents} + ${cents}::integer`]),
    ...(centsPerMile === undefined
      ? []
      : [sql`ceil(${quotedCostCents} + coalesce(quotes.miles, 0) * ${centsPerMile}::integer)`]),
    ...(typeof rateCentsPerMile === 'number'
      ? [sql`ceil(coalesce(quotes.miles, 0) * ${rateCentsPerMile}::integer)`]
      : []),
  ]
  // Needs the case: greatest ignores nulls, and the last minimum is known even without a cost.
  return sql<
    number | null
  >`(case when ${quotedCostCents} is not null then greatest(${sql.join(costs)})::bigint end)`
}

/**
 * The amount by which a quote is below the lowest rate of the rule that applies to it: positive if it was too low; null if either
 * is unknown.
 */
export function tooLowCents(tenant: TenantId, rules: readonly PricingRule[]): RawBuilder<number | null> {
  const lowest = byMinimumOfQuote(tenant, rules, { ofMinimum: lowestRateCents, otherwise: quotedCostCents })
  return sql<number | null>`(${lowest} - nullif(quotes.quoted_rate_cents, 0))`
}

const columnsOf = {
  origin: { place: 'origin_key', market: 'origin_market', state: 'origin_state' },
  destination: { place: 'destination_key', market: 'destination_market', state: 'destination_state' },
} as const

/** Whether a quote is of a rate type: its own, or else the default of the brokerage. */
const isOfRateType = (tenant: TenantId, rateType: string) =>
  sql<boolean>`coalesce(quotes.rate_type,
    (select one.default_rate_type from tenants as one where one.tenant_id = ${tenant})) = ${rateType}`

/** Whether a quote meets conditions, as in `meets` of the engine; a test compares the two. A condition on the confidence is ignored. */
function meetsConditions(
  tenant: TenantId,
  { customer, tier, rep, team, equipment, milesOver, milesTo, rateType, ...ends }: RuleConditions,
): RawBuilder<boolean> {
  const quotedFor = sql`customer_key(quotes.quoted_customer_name)`
  const at = (end: 'origin' | 'destination', place: RulePlace | undefined) =>
    place === undefined ? [] : [sql`${sql.ref(`quotes.${columnsOf[end][place.kind]}`)} = ${place.key}`]
  const conditions = [
    ...(customer === undefined
      ? []
      : [
          sql`(${quotedFor} = ${customer.key} or ${quotedFor} in (
            select alias.customer_key from customer_aliases as alias
            join customer_aliases as named
              on named.tenant_id = ${tenant} and named.customer_id = alias.customer_id
            where alias.tenant_id = ${tenant} and named.customer_key = ${customer.key}
          ))`,
        ]),
    ...at('origin', ends.origin),
    ...at('destination', ends.destination),
    ...(tier === undefined
      ? []
      : [
          sql`${quotedFor} in (
            select alias.customer_key from customer_aliases as alias
            join customers as known on known.tenant_id = ${tenant} and known.customer_id = alias.customer_id
            where alias.tenant_id = ${tenant} and lower(known.tier) = lower(${tier})
          )`,
        ]),
    ...(rep === undefined ? [] : [sql`quotes.created_by = ${rep.userId}`]),
    ...(team === undefined
      ? []
      : [
          sql`quotes.created_by in (
            select of_team.user_id from team_members as of_team
            where of_team.tenant_id = ${tenant} and of_team.team_id = ${team.teamId}
          )`,
        ]),
    ...(equipment === undefined ? [] : [sql`quotes.equipment_code = ${equipment}`]),
    ...(milesOver === undefined ? [] : [sql`quotes.miles > ${milesOver}`]),
    ...(milesTo === undefined ? [] : [sql`quotes.miles <= ${milesTo}`]),
    ...(rateType === undefined ? [] : [sql`${isOfRateType(tenant, rateType)}`]),
  ]
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`(${sql.join(conditions, sql` and `)})`
}

/**
 * SQL for a value of the minimum that applies to a quote, the minimum of the most specific rule that has one; `otherwise`
 * where none applies. Rules with a condition on the confidence are left out, because the confidence at the time of a quote is not saved.
 */
function byMinimumOfQuote<Value>(
  tenant: TenantId,
  rules: readonly PricingRule[],
  {
    ofMinimum,
    otherwise,
  }: { ofMinimum: (minimum: MinimumTerms) => RawBuilder<Value>; otherwise: RawBuilder<Value> },
): RawBuilder<Value> {
  const cases = rules
    .toSorted(bySpecificity)
    .flatMap(({ conditions, terms: { minimum } }) =>
      minimum === undefined || conditions.confidenceAtMost !== undefined
        ? []
        : [sql`when ${meetsConditions(tenant, conditions)} then ${ofMinimum(minimum)}`],
    )
  return cases.length === 0 ? otherwise : sql<Value>`(case ${sql.join(cases, sql` `)} else ${otherwise} end)`
}

/** Whether an amount of a quote is on this basis. The condition of the indexes quotes_with_linehaul and quotes_with_all_in. */
function says(basis: RateBasis): RawBuilder<boolean> {
  const word = sql.lit(basis)
  return sql<boolean>`(quotes.quoted_basis = ${word} or quotes.customer_basis = ${word} or quotes.truck_basis = ${word})`
}

/** Whether an amount of a quote is in Canadian dollars. The condition of the index quotes_with_cad. */
const inCad = sql<boolean>`(quotes.quoted_currency = 'CAD' or quotes.customer_currency = 'CAD' or quotes.truck_currency = 'CAD')`

/** The quotes of a filter with an amount on the other basis or in the other currency. */
interface BasisCounts extends ConvertedCounts {
  readonly basis: RateBasis
}

async function comparedBasis(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ readonly basis: RateBasis; readonly mixed: boolean }> {
  return transaction
    .selectFrom('tenants as one')
    .select(['one.default_basis as basis', isMixed(tenant).as('mixed')])
    .where('one.tenant_id', '=', tenant)
    .executeTakeFirstOrThrow()
}

/** The basis of a brokerage's statistics over the quotes of a filter, and how many of these quotes were on another basis. */
export async function readBasisCounts(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: QuoteFilter,
): Promise<BasisCounts> {
  const { basis, mixed } = await comparedBasis(transaction, tenant)
  const { rows: others } = await sql<Pick<BasisCounts, 'notDirect'>>`
    select count(*) as "notDirect" from quotes
    where tenant_id = ${tenant} and not (${sql.raw(direct)})
      and superseded_by is null and ${matching(filter, tenant)(expressionBuilder<Tables, 'quotes'>())}
  `.execute(transaction)
  const notDirect = others[0]?.notDirect ?? 0
  if (!mixed) return { basis, ...noneConverted, notDirect }
  // Reads the view once for all these quotes, because each read of the view reads all days of fuel and exchange.
  const { rows } = await sql<
    BasisCounts['convertedBy'] & Pick<BasisCounts, 'notConverted' | 'notConvertedInCad'>
  >`
    with other as materialized (
      select lane_id, coalesce(${inCad}, false) as in_cad
      from quotes
      where tenant_id = ${tenant} and ${sql.raw(direct)} and (${says(basis === 'all_in' ? 'linehaul' : 'all_in')} or ${inCad})
        and superseded_by is null and ${matching(filter, tenant)(expressionBuilder<Tables, 'quotes'>())}
    ), counted as materialized (
      select lane_id, coalesce(converted_by, 'none') as how from counted_lanes
      where tenant_id = ${tenant} and lane_id = any (array(select lane_id from other))
    )
    select count(*) filter (where how = 'charges') as charges, count(*) filter (where how = 'schedule') as schedule,
      count(*) filter (where how = 'exchange') as exchange, count(*) filter (where how is null) as "notConverted",
      count(*) filter (where how is null and in_cad) as "notConvertedInCad"
    from other left join counted using (lane_id)
  `.execute(transaction)
  const [found] = rows
  if (found === undefined) return { basis, ...noneConverted, notDirect }
  const { notConverted, notConvertedInCad, ...convertedBy } = found
  return { basis, convertedBy, notConverted, notConvertedInCad, notDirect }
}

/** The condition of a figure, for amounts that can be compared as they are. */
function comparedAsTheyAre(
  figure: FigureOfQuotes,
  tenant: TenantId,
  rules: readonly PricingRule[],
): RawBuilder<boolean> {
  switch (figure) {
    case 'lost_to_cost':
      return sql<boolean>`(${marginComparable} and ${lostToCostCents} > 0)`
    case 'lost_to_rate':
      return sql<boolean>`(${marginComparable} and ${lostToRateCents} > 0)`
    case 'landed_vs_quoted':
      return marginComparable
    case 'booked_at_a_loss':
      return bookedAtALoss
    case 'quoted_too_low':
      return sql<boolean>`(${tooLowCents(tenant, rules)} > 0)`
  }
}

/** The ids of the quotes of a filter that count in a figure, in order. */
export async function idsBehind(
  transaction: TenantTransaction,
  tenant: TenantId,
  figure: FigureOfQuotes,
  { filter, rules }: { readonly filter: QuoteFilter; readonly rules: readonly PricingRule[] },
): Promise<number[]> {
  const isLoss = figure === 'booked_at_a_loss'
  // On one basis and in one currency, AR and AP are compared as they are, as in the margin of the quote.
  const comparable = comparableAsBooked(
    sql`(select one.default_basis from tenants as one where one.tenant_id = ${tenant})`,
  )
  const { rows } = await sql<{ id: number }>`
    select quotes.lane_id as id from quotes
    where quotes.tenant_id = ${tenant} and superseded_by is null and quotes.lane_id = any (array(
      select quotes.lane_id from quotes
      where quotes.tenant_id = ${tenant} and ${isLoss ? bookedAtALoss : sql`false`} and ${comparable}
      union all
      select quotes.lane_id from counted_lanes as quotes
      where quotes.tenant_id = ${tenant} and ${comparedAsTheyAre(figure, tenant, rules)}
        and ${isLoss ? sql`not ${comparable}` : sql`true`}
    )) and ${matching(filter, tenant)(expressionBuilder<Tables, 'quotes'>())}
    order by 1`.execute(transaction)
  return rows.map(({ id }) => id)
}

/** The totals of the shipments of a filter. */
export async function shipmentSums(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: QuoteFilter,
): Promise<ShipmentTotals> {
  const sum = (cents: RawBuilder<unknown>) => sql`coalesce(sum(${cents}), 0)::bigint`
  const standing = sql<boolean>`cancelled_at is null`
  const count = (condition: RawBuilder<boolean>) => sql`count(*) filter (where ${condition})`
  const { rows } = await sql<ShipmentTotals>`
    select ${count(standing)} as shipments, ${count(sql`cancelled_at is not null`)} as cancelled,
      ${sum(sql`customer_rate_cents`)} as "customerRateCents", ${sum(sql`truck_cost_cents`)} as "truckCostCents",
      ${count(marginLanded)} as "withMargin", ${sum(landedMarginCents)} as "marginCents",
      ${sum(sql`case when ${marginLanded} then customer_rate_cents end`)} as "marginBaseCents",
      ${count(sql`${standing} and ${quotedMarginCents} is not null`)} as "withQuotedMargin",
      ${sum(sql`case when ${standing} then ${quotedMarginCents} end`)} as "quotedMarginCents",
      ${count(marginComparable)} as comparable,
      ${sum(sql`${landedMarginCents} - ${quotedMarginCents}`)} as "landedVsQuotedCents"
    from counted_lanes as quotes
    where tenant_id = ${tenant} and superseded_by is null
      and ${matching({ ...filter, booked: true }, tenant)(expressionBuilder<Tables, 'quotes'>())}`.execute(
    transaction,
  )
  const [totals] = rows
  if (totals === undefined) throw new Error('A query of sums has one row.')
  return totals
}

/** The months of the quotes of a filter, in a time zone, for each type of equipment, oldest first. */
export async function monthSums(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: QuoteFilter,
  timeZone: string,
): Promise<EquipmentMonth[]> {
  const rate = sql`coalesce(customer_rate_cents, quoted_rate_cents)`
  const { rows } = await sql<EquipmentMonth>`
    select
      equipment_code as "equipmentCode",
      to_char(created_at at time zone ${timeZone}, 'YYYY-MM') as month,
      count(*) as quotes,
      count(*) filter (where outcome = 'won') as won,
      count(*) filter (where outcome = 'lost') as lost,
      count(*) filter (where outcome = 'pending') as pending,
      sum(${rate})::bigint as "rateCents",
      count(*) filter (where ${rate} > 0) as rates,
      coalesce(sum(${landedMarginCents}) filter (where ${marginLanded}), 0)::bigint as "marginCents",
      count(*) filter (where ${marginLanded}) as margins,
      coalesce(sum(customer_rate_cents) filter (where ${marginLanded}), 0)::bigint as "marginBaseCents"
    from counted_lanes as quotes
    where tenant_id = ${tenant} and superseded_by is null
      and ${matching(filter, tenant)(expressionBuilder<Tables, 'quotes'>())}
    group by 1, 2
    order by 2, 1`.execute(transaction)
  return rows
}

/** The newest quotes of a filter, newest first: id, rate, outcome and margin. */
export async function newestPoints(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: QuoteFilter,
  max: number,
): Promise<{ quoteId: number; rateCents: number; outcome: string; marginCents: number | null }[]> {
  const { rows } = await sql<{
    quoteId: number
    rateCents: number
    outcome: string
    marginCents: number | null
  }>`
    select lane_id as "quoteId", coalesce(customer_rate_cents, quoted_rate_cents) as "rateCents", outcome,
      ${landedMarginCents} as "marginCents"
    from counted_lanes as quotes
    where tenant_id = ${tenant} and superseded_by is null
      and ${matching(filter, tenant)(expressionBuilder<Tables, 'quotes'>())}
    order by created_at desc, lane_id desc limit ${max}`.execute(transaction)
  return rows
}

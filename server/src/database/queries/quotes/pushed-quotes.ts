import { sql } from 'kysely'
import { clearedBookingFields } from '#engine/booking-fields.ts'
import type { QuoteRow, TenantTransaction } from '../../schema/index.ts'
import { quotesChanged, type TenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'
import { bookingColumns } from './booking-columns.ts'
import { inShipments } from './shipment-lists.ts'
import type { NotApplied } from './shipment-updates.ts'

/**
 * Makes concurrent pushes of one brokerage wait for each other until the end of the transaction, because two pushes could create
 * the same external_id, or lock the same quotes in different orders.
 */
export async function lockPushes(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  await sql`select pg_advisory_xact_lock(${tenant}, hashtext('pushes'))`.execute(transaction)
}

/** The names by which a push refers to quotes. */
export interface NamedQuotes {
  readonly externalIds: readonly string[]
  readonly laneRefs: readonly string[]
}

/** A quote of a file, and the id under which another system now pushes it. */
export interface NamedImport {
  readonly quoteId: number
  readonly externalId: string
}

/**
 * Gives quotes that came in files the external_id under which another system pushes them now: both are the same quotes.
 * The caller holds the lock of pushes and has locked the quotes.
 */
export async function nameImportedQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  named: readonly NamedImport[],
): Promise<void> {
  if (named.length === 0) return
  const ids = named.map(({ quoteId }) => quoteId)
  await sql`
    update quotes as known set external_id = sent.external_id
    from tenants as one cross join unnest(
      ${ids}::bigint[], ${named.map(({ externalId }) => externalId)}::text[]
    ) as sent (lane_id, external_id)
    where one.tenant_id = ${tenant} and known.tenant_id = one.tenant_id and known.lane_id = sent.lane_id
  `.execute(transaction)
  quotesChanged(transaction, ids)
}

/** The quotes that files created with these fingerprints and that have no external_id, locked until the end of the transaction. */
export async function lockImportedQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  fingerprints: readonly Buffer[],
): Promise<(QuoteRow & { readonly import_fingerprint: Buffer })[]> {
  if (fingerprints.length === 0) return []
  const rows = await transaction
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`import_fingerprint = any(${binaryArrays.byteStrings(fingerprints)}::bytea[])`)
    .where('external_id', 'is', null)
    .orderBy('lane_id')
    .forUpdate()
    .execute()
  return rows.flatMap((quote) =>
    quote.import_fingerprint === null ? [] : [{ ...quote, import_fingerprint: quote.import_fingerprint }],
  )
}

/** The quotes with these names, in order of id, locked until the end of the transaction. */
export async function lockNamedQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  { externalIds, laneRefs }: NamedQuotes,
): Promise<QuoteRow[]> {
  // One look-up for each index: with both in one condition, PostgreSQL read all quotes until it had analyzed the table.
  const lookUps = [
    sql`select lane_id from quotes where tenant_id = ${tenant} and external_id = any(${[...externalIds]}::text[])`,
    sql`select lane_id from quotes where tenant_id = ${tenant} and lane_ref = any(${[...laneRefs]}::text[])`,
  ]
  return transaction
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`lane_id = any(array(${sql.join(lookUps, sql` union all `)}))`)
    .orderBy('lane_id')
    .forUpdate()
    .execute()
}

/** The people of the brokerage with these names or e-mail addresses, by the text that was looked up. Ambiguous texts are absent. */
export async function findReps(
  transaction: TenantTransaction,
  tenant: TenantId,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map()
  const { rows } = await sql<{ asked: string; user_id: number }>`
    select asked.name as asked, min(users.user_id) as user_id
    from tenants as one
    cross join (select distinct unnest(${[...names]}::text[]) as name) as asked
    join users on users.tenant_id = one.tenant_id
      and lower(asked.name) in (lower(users.name), lower(users.email))
    where one.tenant_id = ${tenant}
    group by asked.name having count(*) = 1
  `.execute(transaction)
  return new Map(rows.map(({ asked, user_id }) => [asked, user_id]))
}

/** The saved answers to items of a bulk call that was acknowledged before, by the digest of the item in hex. */
export async function findRecordedUpdates(
  transaction: TenantTransaction,
  tenant: TenantId,
  digests: readonly Buffer[],
): Promise<ReadonlyMap<string, boolean>> {
  const rows = await transaction
    .selectFrom('shipment_updates')
    .select(['request_digest', 'updated'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`request_digest = any(${[...digests]}::bytea[])`)
    .execute()
  return new Map(rows.map(({ request_digest, updated }) => [request_digest.toString('hex'), updated]))
}

/** A shipment update of a bulk call, as it is saved. */
export interface RecordedUpdate {
  readonly digest: Buffer
  readonly quoteId: number
  readonly signedAt: Date
  readonly receivedAt: Date
  readonly tokenId: number
  readonly carried: unknown
  readonly applied: readonly string[]
  readonly updated: boolean
  readonly notApplied: NotApplied | null
}

/** Saves updates, and the events of those that were not applied. */
export async function insertRecordedUpdates(
  transaction: TenantTransaction,
  tenant: TenantId,
  updates: readonly RecordedUpdate[],
): Promise<void> {
  if (updates.length === 0) return
  await transaction
    .insertInto('shipment_updates')
    .values(
      updates.map((update) => ({
        tenant_id: tenant,
        request_digest: update.digest,
        lane_id: update.quoteId,
        signed_at: update.signedAt,
        received_at: update.receivedAt,
        token_id: update.tokenId,
        carried: JSON.stringify(update.carried),
        applied: JSON.stringify(update.applied),
        updated: update.updated,
      })),
    )
    .execute()
  const notApplied = updates.flatMap(({ quoteId, notApplied: about }) =>
    about === null ? [] : { lane_id: quoteId, about },
  )
  if (notApplied.length === 0) return
  await sql`
    select announce_not_applied(${tenant}, (one ->> 'lane_id')::bigint, one -> 'about')
    from jsonb_array_elements(${JSON.stringify(notApplied)}::jsonb) as one
  `.execute(transaction)
}

/** A place in the order of changes: after this quote of this version. */
export interface ChangePlace {
  readonly version: number
  readonly quoteId: number
}

export interface ChangesFilter {
  readonly updatedSince: Date | null
  readonly laneRef: string | null
  readonly externalId: string | null
}

/** The names of a quote that a reader is told to remove; null if they are not known any more. */
export interface RemovedNames {
  readonly laneRef: string | null
  readonly externalId: string | null
}

/** A quote that changed: its row, or the names of one to remove. */
export type ChangedQuote = ChangePlace &
  (
    | { readonly quote: QuoteRow; readonly removed: null }
    | { readonly quote: null; readonly removed: RemovedNames }
  )

/** A page of changes, and the place to continue after. */
export interface ChangesPage {
  readonly changed: readonly ChangedQuote[]
  readonly end: ChangePlace
  readonly more: boolean
}

/** The most quotes in which one statement looks for shipments, which takes a few tens of milliseconds. */
const quotesPerStatement = 5_000

/**
 * The quotes that changed after a place, each once with its newest version, in the order of their versions: all quotes, or
 * those that are shipments. A quote whose booking was rolled back is reported as a removed shipment; a quote that never had a
 * booking is left out. The page has `limit` quotes if there are so many.
 *
 * One statement reads versions, rows and history, so that no value is newer than its quote's version.
 */
export async function readQuoteChanges(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: ChangePlace,
  filter: ChangesFilter & { readonly shipments: boolean },
  limit: number,
): Promise<ChangesPage> {
  // The index of versions is in the right order; a plan made for a small table would sort all rows.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`.execute(
    transaction,
  )
  const changed: ChangedQuote[] = []
  let end = after
  for (;;) {
    const last = filter.shipments ? await placeAfter(transaction, tenant, end, quotesPerStatement) : null
    const left = limit - changed.length
    const rows = await changesBetween(transaction, tenant, { after: end, last }, filter, left)
    changed.push(...rows)
    const full = rows.length === left
    end = (full || last === null ? rows.at(-1) : last) ?? end
    if (full || last === null)
      return { changed, end: { version: end.version, quoteId: end.quoteId }, more: full }
  }
}

/** The place of the `count`-th quote after a place; null if there are fewer. */
async function placeAfter(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: ChangePlace,
  count: number,
): Promise<ChangePlace | null> {
  const row = await transaction
    .selectFrom('quote_versions as known')
    .select(['known.version', 'known.lane_id as quoteId'])
    .where('known.tenant_id', '=', tenant)
    .where(isAfter(after))
    .orderBy('known.version')
    .orderBy('known.lane_id')
    .offset(count - 1)
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

const isAfter = ({ version, quoteId }: ChangePlace) =>
  sql<boolean>`(known.version, known.lane_id) > (${version}::bigint, ${quoteId}::bigint)`

async function changesBetween(
  transaction: TenantTransaction,
  tenant: TenantId,
  { after, last }: { readonly after: ChangePlace; readonly last: ChangePlace | null },
  { updatedSince, laneRef, externalId, shipments }: ChangesFilter & { readonly shipments: boolean },
  limit: number,
): Promise<ChangedQuote[]> {
  const isShipment = sql<boolean>`coalesce(${inShipments}, false)`
  let query = transaction
    .selectFrom('quote_versions as known')
    .leftJoin('quotes', (join) =>
      join.onRef('quotes.tenant_id', '=', 'known.tenant_id').onRef('quotes.lane_id', '=', 'known.lane_id'),
    )
    .selectAll('quotes')
    .select([
      'known.version as known_version',
      'known.lane_id as known_lane',
      'known.removed_ref',
      'known.removed_external_id',
      isShipment.as('is_shipment'),
    ])
    .where('known.tenant_id', '=', tenant)
    .where(isAfter(after))
    .orderBy('known.version')
    .orderBy('known.lane_id')
    .limit(limit)
  if (last !== null) {
    query = query.where(
      sql<boolean>`(known.version, known.lane_id) <= (${last.version}::bigint, ${last.quoteId}::bigint)`,
    )
  }
  if (updatedSince !== null) query = query.where('known.changed_at', '>=', updatedSince)
  const isNamed = (
    column: 'lane_ref' | 'external_id',
    removed: 'removed_ref' | 'removed_external_id',
    name: string,
  ) => sql<boolean>`(quotes.${sql.ref(column)} = ${name} or known.${sql.ref(removed)} = ${name})`
  if (laneRef !== null) query = query.where(isNamed('lane_ref', 'removed_ref', laneRef))
  if (externalId !== null) query = query.where(isNamed('external_id', 'removed_external_id', externalId))
  if (shipments) {
    query = query.where(
      sql<boolean>`case when quotes.lane_id is null then known.removed_shipment is distinct from false
        else ${isShipment} or ${wasShipment(tenant)} end`,
    )
  }
  const rows = await query.execute()
  return rows.map(
    ({
      known_version,
      known_lane,
      removed_ref,
      removed_external_id,
      is_shipment,
      ...quote
    }): ChangedQuote => {
      const place = { version: known_version, quoteId: known_lane }
      if (quote.lane_id === null) {
        return { ...place, quote: null, removed: { laneRef: removed_ref, externalId: removed_external_id } }
      }
      const row = quote as QuoteRow
      return shipments && !is_shipment
        ? { ...place, quote: null, removed: { laneRef: row.lane_ref, externalId: row.external_id } }
        : { ...place, quote: row, removed: null }
    },
  )
}

/** Whether a quote had a booking at some time: its history has a change of the booking. */
const wasShipment = (tenant: TenantId) => sql<boolean>`exists (
  select from quote_changes as change
  where change.tenant_id = ${tenant} and change.lane_id = quotes.lane_id
    and change.after ?| ${clearedBookingFields.map((field) => bookingColumns[field])}::text[]
)`

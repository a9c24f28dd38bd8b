import { sql } from 'kysely'
import { clearedBookingFields } from '#engine/booking-fields.ts'
import type { LaneRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { bookingColumns } from './booking-columns.ts'

/**
 * Makes concurrent pushes of one brokerage wait for each other until the end of the transaction: two of them could create the
 * same external_id, or lock the same lanes in another order.
 */
export async function lockPushes(transaction: TenantTransaction, tenant: TenantId): Promise<void> {
  await sql`select pg_advisory_xact_lock(${tenant}, hashtext('pushes'))`.execute(transaction)
}

/** Lanes as a push names them. */
export interface NamedLanes {
  readonly externalIds: readonly string[]
  readonly laneRefs: readonly string[]
}

/** The lanes with these names, in order of id, locked until the end of the transaction. */
export async function lockNamedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  { externalIds, laneRefs }: NamedLanes,
): Promise<LaneRow[]> {
  return transaction
    .selectFrom('lanes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(
      sql<boolean>`(external_id = any(${[...externalIds]}::text[]) or lane_ref = any(${[...laneRefs]}::text[]))`,
    )
    .orderBy('lane_id')
    .forUpdate()
    .execute()
}

/** The people of the brokerage with these names or e-mail addresses, by the text that was asked for. Ambiguous ones are absent. */
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

/** The stored answers to items of a bulk call that was acknowledged before, by the digest of the item in hex. */
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

/** A shipment update of a bulk call, as it is stored. */
export interface RecordedUpdate {
  readonly digest: Buffer
  readonly laneId: number
  readonly signedAt: Date
  readonly receivedAt: Date
  readonly tokenId: number
  readonly carried: unknown
  readonly applied: readonly string[]
  readonly updated: boolean
}

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
        lane_id: update.laneId,
        signed_at: update.signedAt,
        received_at: update.receivedAt,
        token_id: update.tokenId,
        carried: JSON.stringify(update.carried),
        applied: JSON.stringify(update.applied),
        updated: update.updated,
      })),
    )
    .execute()
}

/** A place in the order of changes: after this lane of this version. */
export interface ChangePlace {
  readonly version: number
  readonly laneId: number
}

export interface ChangesFilter {
  readonly updatedSince: Date | null
  readonly laneRef: string | null
  readonly externalId: string | null
}

/** A lane that changed: its row, or null if it was deleted. */
export interface ChangedLane extends ChangePlace {
  readonly lane: LaneRow | null
}

/**
 * The lanes that changed after a place, each once with its newest version, in the order of their versions. One statement
 * reads versions and rows, so a row is never newer than its version.
 */
export async function readLaneChanges(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: ChangePlace,
  { updatedSince, laneRef, externalId }: ChangesFilter,
  limit: number,
): Promise<ChangedLane[]> {
  // The index of versions is in the right order; a plan made for a small table would sort all rows.
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true)`.execute(
    transaction,
  )
  let query = transaction
    .selectFrom('lane_versions as known')
    .leftJoin('lanes', (join) =>
      join.onRef('lanes.tenant_id', '=', 'known.tenant_id').onRef('lanes.lane_id', '=', 'known.lane_id'),
    )
    .selectAll('lanes')
    .select(['known.version as known_version', 'known.lane_id as known_lane'])
    .where('known.tenant_id', '=', tenant)
    .where(sql<boolean>`(known.version, known.lane_id) > (${after.version}::bigint, ${after.laneId}::bigint)`)
    .orderBy('known.version')
    .orderBy('known.lane_id')
    .limit(limit)
  if (updatedSince !== null) query = query.where('known.changed_at', '>=', updatedSince)
  if (laneRef !== null) query = query.where('lanes.lane_ref', '=', laneRef)
  if (externalId !== null) query = query.where('lanes.external_id', '=', externalId)
  const rows = await query.execute()
  return rows.map(({ known_version, known_lane, ...lane }) => ({
    version: known_version,
    laneId: known_lane,
    lane: lane.lane_id === null ? null : (lane as LaneRow),
  }))
}

/** Which of these lanes had a booking at some time: their history has a change of it. */
export async function lanesBookedBefore(
  transaction: TenantTransaction,
  tenant: TenantId,
  laneIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (laneIds.length === 0) return new Set()
  const rows = await transaction
    .selectFrom('lane_changes')
    .select('lane_id')
    .distinct()
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`lane_id = any(${[...laneIds]}::bigint[])`)
    .where(sql<boolean>`after ?| ${clearedBookingFields.map((field) => bookingColumns[field])}::text[]`)
    .execute()
  return new Set(rows.map(({ lane_id }) => lane_id))
}

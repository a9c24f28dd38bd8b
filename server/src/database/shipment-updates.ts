import { sql } from 'kysely'
import type { TenantId, TenantTransaction } from './open-database.ts'

/** The answer that an equal signed request was given before. */
export interface RecordedAnswer {
  readonly laneId: number
  readonly updated: boolean
}

/**
 * Makes equal signed requests take turns until the end of the transaction. The lock is of the digest, not of a row,
 * because the first of them has no row yet.
 */
export async function lockRequestDigest(
  transaction: TenantTransaction,
  tenant: TenantId,
  digest: Buffer,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(${tenant}::integer, ${digest.readInt32BE(0)}::integer)`.execute(
    transaction,
  )
}

export async function findRecordedAnswer(
  transaction: TenantTransaction,
  tenant: TenantId,
  digest: Buffer,
): Promise<RecordedAnswer | null> {
  const row = await transaction
    .selectFrom('shipment_updates')
    .select(['lane_id', 'updated'])
    .where('tenant_id', '=', tenant)
    .where('request_digest', '=', digest)
    .executeTakeFirst()
  return row === undefined ? null : { laneId: row.lane_id, updated: row.updated }
}

/** Keeps a signed update, applied or not, with its answer. Rows are never changed. */
export async function recordShipmentUpdate(
  transaction: TenantTransaction,
  tenant: TenantId,
  update: {
    digest: Buffer
    laneId: number
    signedAt: Date
    receivedAt: Date
    tokenId: number
    carried: unknown
    applied: readonly string[]
    updated: boolean
  },
): Promise<void> {
  await transaction
    .insertInto('shipment_updates')
    .values({
      tenant_id: tenant,
      request_digest: update.digest,
      lane_id: update.laneId,
      signed_at: update.signedAt,
      received_at: update.receivedAt,
      token_id: update.tokenId,
      carried: JSON.stringify(update.carried),
      applied: JSON.stringify(update.applied),
      updated: update.updated,
    })
    .execute()
}

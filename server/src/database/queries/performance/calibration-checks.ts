import { type Selectable, sql } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'

export type CalibrationCheckRow = Selectable<Tables['calibration_checks']>

/** The active tenants whose quotes have changed since their calibration was checked, if that was before `before`. */
export async function tenantsToCheck(transaction: TenantTransaction, before: Date): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_to_check(${before}) as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** The number of tenants whose calibration is broken. */
export async function brokenCalibrations(transaction: TenantTransaction): Promise<number> {
  const { rows } = await sql<{ broken: number }>`select broken_calibrations() as broken`.execute(transaction)
  return rows[0]?.broken ?? 0
}

/** The last check of a tenant's calibration; null before the first. */
export async function findCalibrationCheck(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<CalibrationCheckRow | null> {
  const row = await transaction
    .selectFrom('calibration_checks')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  return row ?? null
}

/** Stores a check. */
export async function putCalibrationCheck(
  transaction: TenantTransaction,
  tenant: TenantId,
  check: Omit<CalibrationCheckRow, 'tenant_id'>,
): Promise<void> {
  await transaction
    .insertInto('calibration_checks')
    .values({ tenant_id: tenant, ...check })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet(check))
    .execute()
}

/** A quote that was won or lost, with the win probability that was recorded with it. */
export interface RecordedForecast {
  readonly decided_at: Date
  readonly outcome: 'won' | 'lost'
  readonly origin_key: string
  readonly destination_key: string
  readonly equipment_code: string
  /** Null if the recorded forecast has no number. */
  readonly probability: number | null
}

/**
 * The live quotes that were decided since `decidedSince`, with the win probability that the pilot recorded, or else the one that
 * the quote desk showed when the quote was saved. Quotes of before `quotedSince` are not read.
 */
export async function recordedForecasts(
  transaction: TenantTransaction,
  tenant: TenantId,
  { decidedSince, quotedSince }: { readonly decidedSince: Date; readonly quotedSince: Date },
): Promise<RecordedForecast[]> {
  const { rows } = await sql<RecordedForecast>`
    select decided_at, outcome, origin_key, destination_key, equipment_code, coalesce((
      select (entry.body::jsonb ->> 'probability')::float8 from pilot_entries as entry
      where entry.tenant_id = ${tenant} and entry.lane_id = lanes.lane_id and entry.kind = 'forecast'
        and entry.body::jsonb ->> 'late' is null
      order by entry.entry_number desc limit 1
    ), (advice ->> 'win_probability')::float8) as probability
    from lanes
    where tenant_id = ${tenant} and created_at >= ${quotedSince} and decided_at >= ${decidedSince}
      and outcome in ('won', 'lost') and voided_at is null and import_id is null
  `.execute(transaction)
  return rows
}

import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'

const { byteStrings } = binaryArrays

/** A quote that an import created. */
export interface ImportedBefore {
  readonly quoteId: number
  readonly said: string | null
}

/** The quotes that another system pushed under these ids: external_id -> quote. */
export async function findPushed(
  transaction: TenantTransaction,
  tenant: TenantId,
  externalIds: readonly string[],
): Promise<Map<string, ImportedBefore>> {
  if (externalIds.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('quotes')
    .select(['external_id', 'lane_id', 'import_said'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`external_id = any(${[...externalIds]}::text[])`)
    .execute()
  return new Map(rows.map((row) => [row.external_id ?? '', { quoteId: row.lane_id, said: row.import_said }]))
}

/** The rows that exist already: fingerprint in hex -> quote. */
export async function findImported(
  transaction: TenantTransaction,
  tenant: TenantId,
  fingerprints: readonly Buffer[],
): Promise<Map<string, ImportedBefore>> {
  if (fingerprints.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('quotes')
    .select(['import_fingerprint', 'lane_id', 'import_said'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`import_fingerprint = any(${byteStrings(fingerprints)}::bytea[])`)
    .execute()
  return new Map(
    rows.map((row) => [
      row.import_fingerprint?.toString('hex') ?? '',
      { quoteId: row.lane_id, said: row.import_said },
    ]),
  )
}

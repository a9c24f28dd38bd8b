import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { auditHash, auditRowsAfter, noRow } from './audit-log.ts'

/**
 * The audit log of a tenant is a chain of hashes. Each row has a number, counted from 1 without gaps, and a hash that covers the row
 * and the hash of the row before it. To change, remove, or insert a row, an attacker must recompute all later hashes, and the
 * service's log, which is elsewhere, has some of them.
 */

/** A wrong row, and why it is wrong. */
export interface WrongRow {
  readonly entry: number
  readonly why: string
}

/** A hash that was noted when its row was the newest. */
export interface NotedHead {
  readonly entry: number
  readonly hash: string
}

const rowsPerLook = 1_000

/** Runs one query in a transaction of the tenant. */
export type Look = <T>(work: (transaction: TenantTransaction) => Promise<T>) => Promise<T>

/**
 * Verifies the audit log from its first row, and compares it with noted heads. Returns the number of rows and the first wrong row.
 *
 * @example (await verifyAuditChain(look, tenant, [])).wrong // { entry: 17, why: 'was changed after it was written' }
 */
export async function verifyAuditChain(
  look: Look,
  tenant: TenantId,
  heads: readonly NotedHead[],
): Promise<{ rows: number; newest: Buffer; wrong: WrongRow | null }> {
  const noted = Map.groupBy(heads, (head) => head.entry)
  // Read the head first, so that rows appended during the verification are not reported as missing.
  const counted = await look((transaction) => countedRows(transaction, tenant))
  let newest: Buffer = noRow
  let rows = 0
  for (;;) {
    const from = rows
    const chunk = await look((transaction) => auditRowsAfter(transaction, tenant, from, rowsPerLook))
    for (const row of chunk) {
      if (row.entry_number !== rows + 1)
        return { rows, newest, wrong: { entry: rows + 1, why: 'is missing' } }
      rows++
      if (!auditHash(newest, row).equals(row.hash)) {
        return { rows, newest, wrong: { entry: rows, why: 'was changed after it was written' } }
      }
      const hash = row.hash.toString('hex')
      if (noted.get(rows)?.some((head) => head.hash !== hash) === true) {
        return { rows, newest, wrong: { entry: rows, why: 'is not the one that the service logged' } }
      }
      newest = row.hash
    }
    if (chunk.length < rowsPerLook) break
  }
  const last = Math.max(counted, ...noted.keys())
  return {
    rows,
    newest,
    wrong: last > rows ? { entry: rows + 1, why: `is missing, and all up to ${last}` } : null,
  }
}

async function countedRows(transaction: TenantTransaction, tenant: TenantId): Promise<number> {
  const row = await transaction
    .selectFrom('tenant_counters')
    .select('last_number')
    .where('tenant_id', '=', tenant)
    .where('counter', '=', 'audit')
    .executeTakeFirst()
  return row?.last_number ?? 0
}

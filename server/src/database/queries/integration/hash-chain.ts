import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { ChainName, TenantId } from '../../session/index.ts'
import { nextTenantNumber } from '../people/people.ts'

/**
 * Chains of hashes. A tenant has two: the audit log and the entries of its pilot. Each row of a chain has a number, counted
 * from 1 without gaps, and a hash that covers the row and the hash of the row before it. To change, remove, or insert a row,
 * an attacker must recompute all later hashes, and somebody has noted some of them.
 */

/** The hash before the first row. */
export const noRow = Buffer.alloc(32)

/** A row of a chain. */
export interface ChainRow {
  readonly entry_number: number
  readonly hash: Buffer
}

/** How to read a chain and compute its hashes. */
export interface HashChain<Row extends ChainRow> {
  readonly name: ChainName
  /** Rows in order, after the number `after`. */
  rowsAfter(
    transaction: TenantTransaction,
    tenant: TenantId,
    after: number,
    limit: number,
  ): Promise<readonly Row[]>
  hash(before: Buffer, row: Row): Buffer
}

const tables: Readonly<Record<ChainName, string>> = { audit: 'audit_log', pilot: 'pilot_entries' }

/** The hash of a row: SHA-256 over the hash of the previous row and this row's members as one JSON array. */
export function hashAfter(before: Buffer, members: readonly unknown[]): Buffer {
  return createHash('sha256').update(before).update(JSON.stringify(members)).digest()
}

/** The end of a chain that is about to grow: the number of its next row, and the hash and time of its newest row. */
export interface ChainEnd {
  readonly next: number
  readonly hash: Buffer
  readonly at: Date | null
}

/**
 * Reserves the numbers of the next `count` rows of a chain. The counter's row serves as a lock until the commit, so that
 * appends of one tenant are sequential: call it last in a transaction.
 */
export async function chainEnd(
  transaction: TenantTransaction,
  tenant: TenantId,
  chain: ChainName,
  count = 1,
): Promise<ChainEnd> {
  const last = await nextTenantNumber(transaction, tenant, chain, count)
  // A separate statement after the lock, so that it sees a row that was committed during the wait.
  const { rows } = await sql<{ hash: Buffer; at: Date }>`
    select hash, at from ${sql.table(tables[chain])} where tenant_id = ${tenant} order by entry_number desc limit 1
  `.execute(transaction)
  return { next: last - count + 1, hash: rows[0]?.hash ?? noRow, at: rows[0]?.at ?? null }
}

/** The newest row of a chain; null before the first. */
export async function newestOfChain(transaction: TenantTransaction, tenant: TenantId, chain: ChainName) {
  const { rows } = await sql<{ entry_number: number; at: Date; hash: Buffer }>`
    select entry_number, at, hash from ${sql.table(tables[chain])}
    where tenant_id = ${tenant} order by entry_number desc limit 1
  `.execute(transaction)
  return rows[0] ?? null
}

/** A wrong row, and why it is wrong. */
export interface WrongRow {
  readonly entry: number
  readonly why: string
}

/** A hash that was noted as the newest of a chain. */
export interface NotedHead {
  readonly entry: number
  readonly hash: string
}

const rowsPerLook = 1_000

/** Runs one query in a transaction of the tenant. */
export type Look = <T>(work: (transaction: TenantTransaction) => Promise<T>) => Promise<T>

/**
 * Verifies a chain from its first row, and compares it with noted heads. Returns the number of rows and the first wrong row.
 *
 * @example (await verifyChain(look, tenant, auditChain, [])).wrong // { entry: 17, why: 'was changed after it was written' }
 */
export async function verifyChain<Row extends ChainRow>(
  look: Look,
  tenant: TenantId,
  chain: HashChain<Row>,
  heads: readonly NotedHead[],
): Promise<{ rows: number; newest: Buffer; wrong: WrongRow | null }> {
  const noted = Map.groupBy(heads, (head) => head.entry)
  // Read the head first, so that rows appended during the verification are not reported as missing.
  const counted = await look((transaction) => countedRows(transaction, tenant, chain.name))
  let newest: Buffer = noRow
  let rows = 0
  for (;;) {
    const from = rows
    const chunk = await look((transaction) => chain.rowsAfter(transaction, tenant, from, rowsPerLook))
    for (const row of chunk) {
      if (row.entry_number !== rows + 1)
        return { rows, newest, wrong: { entry: rows + 1, why: 'is missing' } }
      rows++
      if (!chain.hash(newest, row).equals(row.hash)) {
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

async function countedRows(
  transaction: TenantTransaction,
  tenant: TenantId,
  chain: ChainName,
): Promise<number> {
  const row = await transaction
    .selectFrom('tenant_counters')
    .select('last_number')
    .where('tenant_id', '=', tenant)
    .where('counter', '=', chain)
    .executeTakeFirst()
  return row?.last_number ?? 0
}

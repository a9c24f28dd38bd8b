import type { TenantTransaction } from '../schema/index.ts'
import type { TenantId } from './tenant.ts'

/** The transactions of a database that Citus distributes over workers. */
export const distributedTransactions = new WeakSet<TenantTransaction>()

/** Whether this transaction is in a database that Citus distributes over workers. */
export function isDistributedTransaction(transaction: TenantTransaction): boolean {
  return distributedTransactions.has(transaction)
}

/** The changes of a transaction for its tenant. The versions of the tenant increase when it commits. */
export interface Moves {
  facts: 0 | 1
  access: 0 | 1
  /** Ids of quotes that were inserted, updated, or deleted. */
  readonly changed: Set<number>
  /** Ids of new quotes, for events. */
  made: number[]
}

export const moves = new WeakMap<TenantTransaction, Moves>()

function movesOf(transaction: TenantTransaction): Moves {
  const known = moves.get(transaction) ?? { facts: 0, access: 0, changed: new Set<number>(), made: [] }
  moves.set(transaction, known)
  return known
}

/**
 * Records that this transaction inserts, updates, or deletes quotes, by their ids. Every process that caches the brokerage's
 * quotes then reads these again. All code that writes quotes must call it.
 */
export function quotesChanged(transaction: TenantTransaction, lanes: readonly number[]): void {
  if (lanes.length === 0) return
  const changes = movesOf(transaction)
  changes.facts = 1
  for (const lane of lanes) changes.changed.add(lane)
}

/** Records that this transaction creates quotes. If it commits, events are sent to the brokerage's event endpoints. */
export function quotesMade(
  transaction: TenantTransaction,
  quotes: readonly { readonly lane_id: number }[],
): void {
  movesOf(transaction).made.push(...quotes.map(({ lane_id }) => lane_id))
}

/**
 * Records that this transaction changes a tenant's tokens, secrets, users, status, or settings. All code that writes those
 * must call it, so that no process continues with cached values.
 */
export function accessChanged(transaction: TenantTransaction): void {
  movesOf(transaction).access = 1
}

/** The newest row of a tenant's audit log, which is a chain of hashes. */
export interface AuditHead {
  readonly tenant: TenantId
  readonly entry: number
  readonly hash: Buffer
}

/** Transactions that have appended to an audit log, with the row that becomes its newest when they commit. */
export const movedAudits = new WeakMap<TenantTransaction, AuditHead>()

/** Records that this transaction has appended to the audit log. All code that appends must call it. */
export function auditMoved(transaction: TenantTransaction, head: AuditHead): void {
  movedAudits.set(transaction, head)
}

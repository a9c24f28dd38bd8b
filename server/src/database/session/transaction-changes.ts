import type { TenantTransaction } from '../schema/index.ts'
import type { TenantId } from './tenant.ts'

/** What a transaction has changed of its tenant: the versions move on as it commits. */
export interface Moves {
  facts: 0 | 1
  access: 0 | 1
  /** Lanes that were inserted, updated or deleted. */
  readonly changed: Set<number>
  /** Quotes that were made, to be told of. */
  made: number[]
}

export const moves = new WeakMap<TenantTransaction, Moves>()

function movesOf(transaction: TenantTransaction): Moves {
  const known = moves.get(transaction) ?? { facts: 0, access: 0, changed: new Set<number>(), made: [] }
  moves.set(transaction, known)
  return known
}

/**
 * Says that this transaction inserts, updates or deletes these lanes, by their ids: every process that keeps the quotes of
 * the brokerage reads them again. Whoever writes lanes calls it.
 */
export function quotesChanged(transaction: TenantTransaction, lanes: readonly number[]): void {
  if (lanes.length === 0) return
  const mine = movesOf(transaction)
  mine.facts = 1
  for (const lane of lanes) mine.changed.add(lane)
}

/** Says that this transaction has made these quotes: they are told of to whoever the brokerage wants told, if it commits. */
export function quotesMade(
  transaction: TenantTransaction,
  lanes: readonly { readonly lane_id: number }[],
): void {
  movesOf(transaction).made.push(...lanes.map(({ lane_id }) => lane_id))
}

/**
 * Says that this transaction changes who may call or how a tenant is answered: its tokens, secrets, people, status or
 * settings. Whoever writes those calls it, so that no process goes on with what it remembers.
 */
export function accessChanged(transaction: TenantTransaction): void {
  movesOf(transaction).access = 1
}

/** The newest row of a tenant's audit log. */
export interface AuditHead {
  readonly tenant: TenantId
  readonly entry: number
  readonly hash: Buffer
}

/** Transactions that have appended to a tenant's audit log, with the row that is its newest once they commit. */
export const movedAudits = new WeakMap<TenantTransaction, AuditHead>()

/** Says that this transaction has appended to the audit log. Who appends calls it. */
export function auditMoved(transaction: TenantTransaction, head: AuditHead): void {
  movedAudits.set(transaction, head)
}

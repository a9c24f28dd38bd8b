import { sql } from 'kysely'
import type { LaneRow, TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type TenantId } from '../../session/index.ts'
import { laneSeenByViewer } from '../customers/teams.ts'

/** What a person did with an item of their inbox. */
export interface InboxMark {
  readonly item: string
  readonly seen_at: Date | null
  readonly done_at: Date | null
  readonly snoozed_until: Date | null
}

/** Marks older than this are deleted: no item is shown for so long. */
const marksKeptDays = 120

/** The marks of a person. */
export async function inboxMarks(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<InboxMark[]> {
  return transaction
    .selectFrom('inbox_marks')
    .select(['item', 'seen_at', 'done_at', 'snoozed_until'])
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
}

/** Marks items for a person; what is left out stays. */
export async function markInbox(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  {
    items,
    mark,
    now,
  }: {
    readonly items: readonly string[]
    readonly mark: Partial<Omit<InboxMark, 'item'>>
    readonly now: Date
  },
): Promise<void> {
  if (items.length === 0) return
  await transaction
    .insertInto('inbox_marks')
    .values(items.map((item) => ({ tenant_id: tenant, user_id: userId, item, marked_at: now, ...mark })))
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'user_id', 'item']).doUpdateSet({ ...mark, marked_at: now }),
    )
    .execute()
  await transaction
    .deleteFrom('inbox_marks')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('marked_at', '<', new Date(now.getTime() - marksKeptDays * 86_400_000))
    .execute()
}

/**
 * The people whose pending quotes a person follows up: their own, unless somebody else does; those given to them; and, for an admin,
 * those of people who left or are suspended, and gave them to nobody.
 */
export async function followedPeople(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, isAdmin }: { readonly userId: number; readonly isAdmin: boolean },
): Promise<number[]> {
  const rows = await transaction
    .selectFrom('users as person')
    .leftJoin('users as other', (join) =>
      join.onRef('other.tenant_id', '=', 'person.tenant_id').onRef('other.user_id', '=', 'person.quotes_to'),
    )
    .select([
      'person.user_id',
      'person.status',
      'person.quotes_to',
      'other.status as other_status',
      'other.role as other_role',
    ])
    .where('person.tenant_id', '=', tenant)
    .execute()
  return rows
    .filter((row) => {
      // A stand-in who left, is suspended, or may not quote any more, counts as none.
      const canQuote = row.other_status === 'active' && row.other_role !== 'viewer'
      const standIn = canQuote ? row.quotes_to : null
      if (standIn !== null) return standIn === userId
      return row.status === 'removed' || row.status === 'suspended' ? isAdmin : row.user_id === userId
    })
    .map((row) => row.user_id)
}

/** Has another person follow up the pending quotes of a person; null for the usual one. */
export async function giveQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  to: number | null,
): Promise<void> {
  await transaction
    .updateTable('users')
    .set({ quotes_to: to })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .execute()
  accessChanged(transaction)
}

/** A pending quote, and when its validity ends. */
export type PendingQuote = Pick<
  LaneRow,
  | 'lane_ref'
  | 'origin'
  | 'destination'
  | 'equipment'
  | 'quoted_customer_name'
  | 'quoted_rate_cents'
  | 'estimated_cost_cents'
  | 'expected_cost_cents'
  | 'expected_basis'
  | 'quoted_basis'
  | 'quoted_currency'
  | 'created_at'
  | 'created_by'
> & { readonly ends_at: Date | null }

/** Quotes without an end are listed for so long. */
const listedDays = 30
const pendingQuotesMax = 300

/** The pending quotes of some people that are neither booked nor over, those that end first first. */
export async function pendingQuotesOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  userIds: readonly number[],
  { now, validDays }: { readonly now: Date; readonly validDays: number | null },
): Promise<PendingQuote[]> {
  const before = (days: number) => new Date(now.getTime() - days * 86_400_000)
  const rows = await transaction
    .selectFrom('lanes')
    .select([
      'lane_ref',
      'origin',
      'destination',
      'equipment',
      'quoted_customer_name',
      'quoted_rate_cents',
      'estimated_cost_cents',
      'expected_cost_cents',
      'expected_basis',
      'quoted_basis',
      'quoted_currency',
      'created_at',
      'created_by',
      'valid_until',
    ])
    .where('tenant_id', '=', tenant)
    .where('outcome', '=', 'pending')
    .where('voided_at', 'is', null)
    .where('superseded_by', 'is', null)
    // Who imported a quote did not make it, unless the file names them as its rep.
    .where((lane) => lane.or([lane('import_id', 'is', null), lane('rep_name', 'is not', null)]))
    .where('customer_rate_cents', 'is', null)
    .where('truck_cost_cents', 'is', null)
    .where(sql<boolean>`created_by = any(${[...userIds]}::integer[])`)
    .where(
      sql<boolean>`(valid_until > ${now} or (valid_until is null and created_at > ${before(validDays ?? listedDays)}))`,
    )
    .where(laneSeenByViewer(tenant))
    .orderBy(sql`valid_until asc nulls last`)
    .orderBy('lane_id', 'desc')
    .limit(pendingQuotesMax)
    .execute()
  return rows.map(({ valid_until, ...quote }) => ({
    ...quote,
    ends_at:
      valid_until ??
      (validDays === null ? null : new Date(quote.created_at.getTime() + validDays * 86_400_000)),
  }))
}

/** The imports of a person that ended since a time, newest first. */
export async function endedImports(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  since: Date,
) {
  return transaction
    .selectFrom('imports')
    .select(['import_id', 'file_name', 'status', 'rows_added', 'rows_updated', 'rows_refused', 'finished_at'])
    .where('tenant_id', '=', tenant)
    .where('created_by', '=', userId)
    .where('dry_run', '=', false)
    .where('finished_at', '>', since)
    .orderBy('import_id', 'desc')
    .limit(20)
    .execute()
}

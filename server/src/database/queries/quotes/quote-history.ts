import { sql } from 'kysely'
import type { OutcomeSource } from '#engine/quote-outcome.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** The changes of a quote, newest first, with the name of the user if a user made the change. */
export async function listChanges(transaction: TenantTransaction, tenant: TenantId, quoteId: number) {
  return transaction
    .selectFrom('quote_changes')
    .leftJoin('users', (join) =>
      join
        .onRef('users.tenant_id', '=', 'quote_changes.tenant_id')
        .onRef('users.user_id', '=', 'quote_changes.user_id'),
    )
    .select([
      'change_number',
      'source',
      'quote_changes.user_id',
      'users.name as user_name',
      'changed_at',
      'before',
      'after',
      'rolled_back_change',
      'rule',
    ])
    .where('quote_changes.tenant_id', '=', tenant)
    .where('lane_id', '=', quoteId)
    .orderBy('change_number', 'desc')
    .execute()
}

/** The origin of the current value of a column: a user by name, or only the source. */
export interface Setter {
  readonly source: OutcomeSource
  readonly name: string | null
}

/** The origin of each of these columns of quotes, in the given order; null if the quote was created with the value. */
export async function settersOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  asked: readonly { readonly quoteId: number; readonly column: string }[],
): Promise<(Setter | null)[]> {
  const { rows } = await sql<{ nth: number; source: Setter['source']; name: string | null }>`
    select nth::integer as nth, change.source, users.name
    from tenants as one
    cross join unnest(${asked.map(({ quoteId }) => quoteId)}::bigint[], ${asked.map(({ column }) => column)}::text[])
      with ordinality as asked (lane, wanted, nth)
    cross join lateral (
      select source, user_id from quote_changes
      where quote_changes.tenant_id = ${tenant} and lane_id = asked.lane and after ? asked.wanted
      order by change_number desc limit 1
    ) as change
    left join users on users.tenant_id = ${tenant} and users.user_id = change.user_id
    where one.tenant_id = ${tenant}
  `.execute(transaction)
  const found = new Map(rows.map(({ nth, source, name }) => [nth, { source, name }]))
  return asked.map((_, index) => found.get(index + 1) ?? null)
}

/** The ids of those quotes whose outcome changed from pending to another one at or after `since`. */
export async function quotesPendingSince(
  transaction: TenantTransaction,
  tenant: TenantId,
  quoteIds: readonly number[],
  since: Date,
): Promise<ReadonlySet<number>> {
  const rows = await transaction
    .selectFrom('quote_changes')
    .select('lane_id')
    .distinct()
    .where('tenant_id', '=', tenant)
    .where('lane_id', 'in', quoteIds)
    .where('changed_at', '>=', since)
    .where(sql<boolean>`before ->> 'outcome' = 'pending'`)
    .execute()
  return new Set(rows.map(({ lane_id }) => lane_id))
}

export async function findChange(
  transaction: TenantTransaction,
  tenant: TenantId,
  quoteId: number,
  changeNumber: number,
) {
  return (
    (await transaction
      .selectFrom('quote_changes')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('lane_id', '=', quoteId)
      .where('change_number', '=', changeNumber)
      .executeTakeFirst()) ?? null
  )
}

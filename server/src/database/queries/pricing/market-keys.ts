import type { Selectable } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'
import { countToday, usedToday } from '../people/daily-counts.ts'
import { findTenant } from '../people/people.ts'

export type MarketKeyRow = Omit<Selectable<Tables['market_keys']>, 'tenant_id'>

/** The keys of a brokerage for providers of market rates, by the number of the adapter. */
export async function listMarketKeys(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<MarketKeyRow[]> {
  return transaction
    .selectFrom('market_keys')
    .select(['secret_id', 'sealed', 'set_at', 'answered_at', 'failure', 'failed_at', 'failures', 'retry_at'])
    .where('tenant_id', '=', tenant)
    .orderBy('secret_id')
    .execute()
}

/** Stores a key, or replaces the stored one and forgets its results. */
export async function putMarketKey(
  transaction: TenantTransaction,
  tenant: TenantId,
  { secretId, sealed, setAt }: { readonly secretId: number; readonly sealed: Buffer; readonly setAt: Date },
): Promise<void> {
  const key = {
    sealed,
    set_at: setAt,
    answered_at: null,
    failure: null,
    failed_at: null,
    failures: 0,
    retry_at: null,
  }
  await transaction
    .insertInto('market_keys')
    .values({ ...key, tenant_id: tenant, secret_id: secretId })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'secret_id']).doUpdateSet(key))
    .execute()
}

/** Deletes a key. Returns whether there was one. */
export async function deleteMarketKey(
  transaction: TenantTransaction,
  tenant: TenantId,
  secretId: number,
): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('market_keys')
    .where('tenant_id', '=', tenant)
    .where('secret_id', '=', secretId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** The result of a call with a key: an answer, or a failure with the time of the next attempt. */
export type MarketCallResult =
  | { readonly at: Date; readonly failure: null }
  | { readonly at: Date; readonly failure: string; readonly retryAt: Date }

/** Records the result of a call. Returns false, and changes nothing, if its key was removed or replaced meanwhile. */
export async function noteMarketCall(
  transaction: TenantTransaction,
  tenant: TenantId,
  { secret_id: secretId, set_at: setAt }: Pick<MarketKeyRow, 'secret_id' | 'set_at'>,
  result: MarketCallResult,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('market_keys')
    .set((row) =>
      result.failure === null
        ? { answered_at: result.at, failure: null, failed_at: null, failures: 0, retry_at: null }
        : {
            failure: result.failure,
            failed_at: result.at,
            failures: row('failures', '+', 1),
            retry_at: result.retryAt,
          },
    )
    .where('tenant_id', '=', tenant)
    .where('secret_id', '=', secretId)
    .where('set_at', '=', setAt)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The calls to all providers on this day of UTC, and the most that the brokerage permits. */
export async function marketCalls(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: number,
): Promise<{ readonly used: number; readonly max: number }> {
  return {
    used: await usedToday(transaction, tenant, 'market-call', now),
    max: await callsPerDay(transaction, tenant),
  }
}

/** Counts a call that is about to be made. Returns false if the brokerage permits no more calls on this day. */
export async function countMarketCall(
  transaction: TenantTransaction,
  tenant: TenantId,
  now: number,
): Promise<boolean> {
  const max = await callsPerDay(transaction, tenant)
  return countToday(transaction, tenant, { counter: 'market-call', max, now })
}

const callsPerDay = async (transaction: TenantTransaction, tenant: TenantId) =>
  (await findTenant(transaction, tenant))?.market_calls_per_day ?? 0

/** The sealed keys after one, locked, in the form in which all secrets are encrypted again. They do not expire. */
export async function sealedMarketKeys(
  transaction: TenantTransaction,
  tenant: TenantId,
  after: number,
  limit: number,
) {
  const rows = await transaction
    .selectFrom('market_keys')
    .select(['secret_id', 'sealed'])
    .where('tenant_id', '=', tenant)
    .where('secret_id', '>', after)
    .orderBy('secret_id')
    .limit(limit)
    .forNoKeyUpdate()
    .execute()
  return rows.map((row) => ({ ...row, expires_at: null }))
}

import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import type { Database, TenantId } from '../../session/index.ts'

/** A call to the integration API, as a row of the call log. */
export interface LoggedCall {
  /** When the request arrived, epoch milliseconds. */
  readonly at: number
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly query: string | null
  readonly status: number
  readonly problem: string | null
  readonly detail: string | null
  readonly requestId: string
  /** The jti of the token, which may be any token of the brokerage. */
  readonly jti: string
  readonly durationMs: number
  readonly network: string
  /** Further calls that were left out and are counted with this one. */
  readonly notKept: number
}

/**
 * Inserts calls of a tenant, in the given order and in one message. With `old`, deletes all but the newest `keptMax` calls,
 * and calls before `keptFrom`. Returns the number of the last call.
 */
export async function saveIntegrationCalls(
  database: Pick<Database, 'callInTenant'>,
  tenant: TenantId,
  calls: readonly LoggedCall[],
  old: { readonly keptMax: number; readonly keptFrom: Date } | null,
): Promise<number> {
  const rows = calls.map((call) => ({
    called_at: new Date(call.at).toISOString(),
    operation: call.operation,
    method: call.method,
    path: call.path,
    query: call.query,
    status: call.status,
    problem: call.problem,
    detail: call.detail,
    request_id: call.requestId,
    jti: call.jti,
    duration_ms: call.durationMs,
    network: call.network,
    not_kept: call.notKept,
  }))
  return database.callInTenant(tenant, 'keep_calls', [
    JSON.stringify(rows),
    old?.keptMax ?? null,
    old?.keptFrom ?? null,
  ])
}

export interface CallFilter {
  readonly outcome?: 'refused' | 'ok' | 'not_applied'
  readonly operation?: string
  readonly tokenId?: number
  /** Only calls from this time on. */
  readonly from: Date
}

/** Calls newest first, before the number `before`. Request one more than a page to learn whether there is another page. */
export async function listIntegrationCalls(
  transaction: TenantTransaction,
  tenant: TenantId,
  filter: CallFilter,
  page: { before: number | null; limit: number },
) {
  let query = transaction
    .selectFrom('integration_calls as call')
    .leftJoin('service_tokens as token', (join) =>
      join.onRef('token.tenant_id', '=', 'call.tenant_id').onRef('token.token_id', '=', 'call.token_id'),
    )
    .selectAll('call')
    .select('token.name as token_name')
    .where('call.tenant_id', '=', tenant)
    .where('call.called_at', '>=', filter.from)
  if (filter.outcome === 'refused') query = query.where('call.status', '>=', 400)
  if (filter.outcome === 'ok') query = query.where('call.status', '<', 400)
  if (filter.outcome === 'not_applied') {
    query = query.where('call.status', '<', 400).where('call.detail', 'is not', null)
  }
  if (filter.operation !== undefined) query = query.where('call.operation', '=', filter.operation)
  if (filter.tokenId !== undefined) query = query.where('call.token_id', '=', filter.tokenId)
  if (page.before !== null) query = query.where('call.call_id', '<', page.before)
  return query.orderBy('call.call_id', 'desc').limit(page.limit).execute()
}

export type IntegrationCallRow = Awaited<ReturnType<typeof listIntegrationCalls>>[number]

/** The number of logged updates since `from` that were answered with 200 and not applied: only these have a detail without a refusal. */
export async function countNotApplied(
  transaction: TenantTransaction,
  tenant: TenantId,
  from: Date,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('integration_calls')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('tenant_id', '=', tenant)
    .where('called_at', '>=', from)
    .where('status', '<', 400)
    .where('detail', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

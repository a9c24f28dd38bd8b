import { sql } from 'kysely'
import type { TenantId, TenantTransaction } from './open-database.ts'

/** A call to the integration interface, ready to be written down. */
export interface KeptCall {
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
  /** The jti of the token it came with, which may be any token of the brokerage. */
  readonly jti: string
  readonly durationMs: number
  readonly network: string
  /** Further calls that were counted with this one and not kept. */
  readonly notKept: number
}

/**
 * Writes down calls of a tenant in one statement, in the order they are given. Their numbers follow on from the last
 * ones: the counter's row is the lock, so that a reader never sees a later number before an earlier one. Answers the last
 * number.
 */
export async function insertIntegrationCalls(
  transaction: TenantTransaction,
  tenant: TenantId,
  calls: readonly KeptCall[],
): Promise<number> {
  const { last_number } = await transaction
    .insertInto('tenant_counters')
    .values({ tenant_id: tenant, counter: 'call', last_number: calls.length })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'counter'])
        .doUpdateSet({ last_number: sql`tenant_counters.last_number + ${calls.length}` }),
    )
    .returning('last_number')
    .executeTakeFirstOrThrow()
  const rows = calls.map((call, index) => ({
    call_id: last_number - calls.length + 1 + index,
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
  await sql`
    insert into integration_calls (
      tenant_id, call_id, called_at, operation, method, path, query, status, problem, detail, request_id, token_id,
      duration_ms, network, not_kept
    )
    select ${tenant}, call_id, called_at, operation, method, path, query, status, problem, detail, request_id, token_id,
           duration_ms, network, not_kept
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as call (
      call_id bigint, called_at timestamptz, operation text, method text, path text, query text, status smallint,
      problem text, detail text, request_id uuid, jti uuid, duration_ms double precision, network text, not_kept integer
    )
    left join service_tokens token on token.tenant_id = ${tenant} and token.jti = call.jti
  `.execute(transaction)
  return last_number
}

/** Deletes the calls of a tenant up to a number, and those from before a time. */
export async function pruneIntegrationCalls(
  transaction: TenantTransaction,
  tenant: TenantId,
  old: { upTo: number; before: Date },
): Promise<void> {
  await transaction
    .deleteFrom('integration_calls')
    .where('tenant_id', '=', tenant)
    .where((call) => call.or([call('call_id', '<=', old.upTo), call('called_at', '<', old.before)]))
    .execute()
}

export interface CallFilter {
  readonly outcome?: 'refused' | 'ok'
  readonly operation?: string
  readonly tokenId?: number
  /** Only calls from then on. */
  readonly from: Date
}

/** Calls newest first, from before the number `before`. Ask for one more than a page to know whether there is another. */
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
  if (filter.operation !== undefined) query = query.where('call.operation', '=', filter.operation)
  if (filter.tokenId !== undefined) query = query.where('call.token_id', '=', filter.tokenId)
  if (page.before !== null) query = query.where('call.call_id', '<', page.before)
  return query.orderBy('call.call_id', 'desc').limit(page.limit).execute()
}

export type IntegrationCallRow = Awaited<ReturnType<typeof listIntegrationCalls>>[number]

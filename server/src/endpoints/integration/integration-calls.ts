import { invalid } from '#contract/errors.ts'
import { getRateLimit, listIntegrationCalls } from '#contract/integration-calls.ts'
import {
  callsKeptDaysMax,
  pageSizeDefault,
  tenantRequestsPerWindowMax,
  tenantWindowSeconds,
} from '#contract/limits.ts'
import { integrationCalls as calls } from '../../database/queries/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'

const dayMs = 86_400_000

function callAnswer(call: calls.IntegrationCallRow) {
  return {
    call_id: call.call_id,
    at: call.called_at.toISOString(),
    operation: call.operation,
    method: call.method,
    path: call.path,
    query: call.query,
    status: call.status,
    problem: call.problem,
    detail: call.detail,
    request_id: call.request_id,
    token:
      call.token_id === null || call.token_name === null
        ? null
        : { id: call.token_id, name: call.token_name },
    ms: call.duration_ms,
    network: call.network,
    not_kept: call.not_kept,
  }
}

function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw invalid([
    { parameter: 'cursor', code: 'invalid', detail: 'cursor must be the next_cursor of the previous page.' },
  ])
}

export const integrationCallEndpoints: ServedEndpoint[] = [
  serve(listIntegrationCalls, async ({ caller, query, now }, { database }) => {
    const limit = query.limit ?? pageSizeDefault
    const filter = {
      from: new Date(now - callsKeptDaysMax * dayMs),
      ...(query.outcome === undefined ? {} : { outcome: query.outcome }),
      ...(query.operation === undefined ? {} : { operation: query.operation }),
      ...(query.token_id === undefined ? {} : { tokenId: query.token_id }),
    }
    const before = readCursor(query.cursor)
    const { rows, notApplied } = await database.inTenant(caller.tenant, async (transaction) => ({
      rows: await calls.listIntegrationCalls(transaction, caller.tenant, filter, {
        before,
        limit: limit + 1,
      }),
      notApplied: await calls.countNotApplied(transaction, caller.tenant, filter.from),
    }))
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return {
      calls: page.map(callAnswer),
      updates_not_applied: notApplied,
      next_cursor: rows.length > limit && last !== undefined ? String(last.call_id) : null,
    }
  }),

  serve(getRateLimit, async ({ caller, now }, { tenantLimit, calls: log }) => {
    const { requests, refused } = await log.lastMinute(caller.tenant, now)
    return {
      limit: tenantRequestsPerWindowMax,
      window_seconds: tenantWindowSeconds,
      remaining: tenantLimit.remaining(caller.tenant),
      requests_last_minute: requests,
      refused_last_minute: refused,
    }
  }),
]

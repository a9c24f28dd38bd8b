import type { Endpoint } from '#contract/endpoint.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import { loggedParametersOf } from './logged-call.ts'
import { type Doing, recordEvent } from './security-events.ts'

/**
 * Records in the audit log that a person downloads a file: which one, the record that its address names, and the parameters that select
 * its rows, as sent. Parameters that the endpoint does not have may contain a secret, so they are left out.
 *
 * @example await recordExport(transaction, call, exportQuotes, { url: '/api/lanes/export?outcome=won', params: {} })
 *   // about: { export: 'export-quotes', filter: 'outcome=won' }
 */
export async function recordExport(
  transaction: TenantTransaction,
  doing: Doing,
  endpoint: Pick<Endpoint, 'name' | 'query'>,
  { url, params }: { readonly url: string; readonly params: Readonly<Record<string, string>> },
): Promise<void> {
  const filter = loggedParametersOf(url, new Set(Object.keys(endpoint.query?.properties ?? {})))
  const about = { export: endpoint.name, ...params, ...(filter === null ? {} : { filter }) }
  await recordEvent(transaction, doing, 'data-exported', { about })
}

import type { Endpoint } from '#contract/endpoint.ts'
import type { LoggedCall } from '../database/queries/index.ts'
import type { DraftCall } from './pending-calls.ts'

/** The status of a call whose caller closed the connection before the answer. HTTP defines none; nginx uses 499. */
const clientClosedStatus = 499
const queryLengthMax = 300
/** A refusal that lists twenty unknown fields has about 1,300 characters. Longer texts are cut before they are searched. */
const detailLengthMax = 2_000

/** The row of the log for a call, without credentials. */
export function loggedCall({ call, problem, answer, notKept }: DraftCall): LoggedCall {
  const { status, ms, answered } = answer
  const why =
    problem?.message ??
    (answered ? (call.remark ?? null) : 'The caller closed the connection before the answer.')
  return {
    at: call.at,
    operation: call.endpoint.name,
    method: call.method,
    path: loggedPath(call.endpoint, call.url),
    query: loggedQuery(call.url),
    // The answer to an agent has status 200 even if it reports a refusal.
    status: answered ? Math.max(status, problem?.status ?? 0) : clientClosedStatus,
    problem: problem?.code ?? null,
    detail: why === null ? null : loggedText(why).slice(0, detailLengthMax),
    requestId: call.requestId,
    jti: call.jti,
    durationMs: ms,
    network: call.network,
    notKept,
  }
}

/** Our tokens and secrets. A caller may send one in the wrong place by mistake. */
const credentials = /lwsec_[0-9A-Za-z]*|eyJ[\w-]+(?:\.[\w-]+)*/g

/** A text without credentials, and without characters that the database cannot save. */
function loggedText(text: string): string {
  return text
    .slice(0, detailLengthMax)
    .replaceAll(credentials, '[removed]')
    .toWellFormed()
    .replaceAll('\0', '\uFFFD')
}

/** The path of the endpoint. A path parameter is filled in only if the value is a valid id. */
function loggedPath(endpoint: Endpoint, url: string): string {
  const sent = (url.split('?')[0] ?? '').split('/')
  return endpoint.path
    .split('/')
    .map((segment, index) =>
      segment.startsWith('{') && /^\d{1,10}$/.test(sent[index] ?? '') ? sent[index] : segment,
    )
    .join('/')
}

/** Query parameters that are logged. Any other parameter may contain a secret. */
const loggedParameters = new Set([
  'tool',
  'origin',
  'destination',
  'equipment',
  'proposed_rate',
  'market_rate',
  'include',
])

function loggedQuery(url: string): string | null {
  const text = loggedParametersOf(url, loggedParameters)
  if (text === null) return null
  // Drop a percent-encoded character that was cut in half.
  return text.slice(0, queryLengthMax).replace(/%[0-9A-F]?$/, '')
}

/**
 * The parameters of a URL that are named in `names`, as a query string without credentials; null if there is none.
 *
 * @example loggedParametersOf('/api/lanes/export?outcome=won&key=x', new Set(['outcome'])) // 'outcome=won'
 */
export function loggedParametersOf(url: string, names: ReadonlySet<string>): string | null {
  const start = url.indexOf('?')
  if (start === -1) return null
  const sent = [...new URLSearchParams(url.slice(start + 1))].filter(([name]) => names.has(name))
  if (sent.length === 0) return null
  return new URLSearchParams(
    sent.map(([name, value]): [string, string] => [name, loggedText(value)]),
  ).toString()
}

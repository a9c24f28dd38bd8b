import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, readsOnly, signsOf, underTenantLimit } from '#contract/endpoint.ts'
import type { Signs } from '#contract/signature.ts'

/**
 * The properties of an operation that a call needs. Schemas are not included, because the service validates requests.
 */
export interface OperationFacts {
  readonly method: Endpoint['method']
  readonly path: string
  /** The part of a request that its signature covers; null if the operation is not signed. */
  readonly signs: Signs | null
  /** Whether the operation changes nothing. */
  readonly isRead: boolean
  /** Whether the operation is idempotent. */
  readonly isRepeatable: boolean
  /** Whether the operation counts against the brokerage's rate limit. */
  readonly isLimited: boolean
  readonly bodyKind: 'json' | 'csv'
  readonly answerKind: 'json' | 'csv'
  /** Seconds for which the interface allows a client to cache the response; 0 if it does not. */
  readonly cacheSeconds: number
}

/**
 * All operations by name. The builds of the package and of the dashboard replace this file by a plain table, so that
 * they do not include the contract's schemas: see client/operations-table.ts.
 */
export const operations: Readonly<Record<string, OperationFacts>> = Object.fromEntries(
  (allEndpoints as readonly Endpoint[]).map((endpoint) => [endpoint.name, factsOf(endpoint)]),
)

function factsOf(endpoint: Endpoint): OperationFacts {
  const { method, path, who, bodyKind = 'json', answerKind = 'json', cacheSeconds = 0 } = endpoint
  const isRead = readsOnly(endpoint)
  const signs = signsOf(endpoint)
  return {
    method,
    path,
    signs,
    isRead,
    isRepeatable: signs !== null || isRead || method === 'DELETE',
    isLimited: underTenantLimit(endpoint) && who.kind !== 'anyone',
    bodyKind,
    answerKind,
    cacheSeconds,
  }
}

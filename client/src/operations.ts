import { allEndpoints } from '#contract/all-endpoints.ts'
import { type Endpoint, underTenantLimit } from '#contract/endpoint.ts'

/** What a call needs to know of the contract. The schemas stay behind: the service checks what it is sent. */
export interface OperationFacts {
  readonly method: Endpoint['method']
  readonly path: string
  /** A write that is signed over its bytes. */
  readonly isSigned: boolean
  /** Nothing is changed by it. */
  readonly isRead: boolean
  /** The same request twice has the effect of one. */
  readonly isRepeatable: boolean
  /** It counts against the brokerage's limit of requests. */
  readonly isLimited: boolean
  readonly answerKind: 'json' | 'csv'
  /** How long the interface allows a client to keep the answer; 0 where it says nothing. */
  readonly cacheSeconds: number
}

/**
 * Every operation by its name. The builds of the package and of the dashboard put a plain table in the place of this
 * file, so that neither carries the contract's schemas: see client/operations-table.ts.
 */
export const operations: Readonly<Record<string, OperationFacts>> = Object.fromEntries(
  (allEndpoints as readonly Endpoint[]).map((endpoint) => [endpoint.name, factsOf(endpoint)]),
)

function factsOf(endpoint: Endpoint): OperationFacts {
  const { method, path, who, answerKind = 'json', cacheSeconds = 0, isRead = method === 'GET' } = endpoint
  const isSigned = who.kind === 'service' && who.signed
  return {
    method,
    path,
    isSigned,
    isRead,
    isRepeatable: isSigned || isRead || method === 'DELETE',
    isLimited: underTenantLimit(endpoint) && who.kind !== 'anyone',
    answerKind,
    cacheSeconds,
  }
}

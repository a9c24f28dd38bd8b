import type { Received } from './call.ts'

/** The metadata of a response. */
export interface AnswerMeta {
  readonly status: number
  /** The id of the request in the service's log, for support requests. */
  readonly requestId: string | null
  /** True if the service had already received this request. It returned the saved response and changed nothing. */
  readonly replayed: boolean
  /** Unknown names in the request, such as a misspelled field. The service ignored them. */
  readonly ignored: readonly string[]
  /** The state of the rate limit at the time of the response. Null if no limit applies, and in a cached response. */
  readonly rateLimit: RateLimitState | null
  /** True for a response from the cache. The other members are from the original response. */
  readonly fromCache: boolean
  /** A copy of all response headers, which the caller may modify. */
  readonly headers: Headers
}

export interface RateLimitState {
  /** Maximum requests per second for the brokerage. */
  readonly limit: number
  readonly remaining: number
  /** Whole seconds until a request is certain to be admitted. */
  readonly resetSeconds: number
}

export interface AnswerWithMeta<Data> {
  readonly data: Data
  readonly meta: AnswerMeta
}

/**
 * A call in progress: `await` returns the response body, and `await` of `withMeta()` returns the body and its
 * metadata.
 */
export interface PendingAnswer<Data> extends Promise<Data> {
  /** @example const { data, meta } = await lanewise.shipmentUpdate(update).withMeta() */
  withMeta(): Promise<AnswerWithMeta<Data>>
}

export function pendingAnswer<Data>(both: Promise<AnswerWithMeta<Data>>): PendingAnswer<Data> {
  const data = both.then((answer) => answer.data)
  return Object.assign(data, {
    withMeta: () => {
      // The caller handles the other promise, so a rejection of this one must not be reported as unhandled.
      data.catch(() => {})
      return both.then((answer) => answer)
    },
  })
}

export function metaOf({ status, headers }: Received, fromCache: boolean): AnswerMeta {
  const [limit, remaining, resetSeconds] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    Number.parseInt(headers.get(`X-RateLimit-${name}`) ?? '', 10),
  ) as [number, number, number]
  return {
    status,
    requestId: headers.get('Request-Id'),
    replayed: headers.get('Idempotent-Replayed') === 'true',
    ignored: ignoredFields(headers),
    rateLimit:
      fromCache || !Number.isFinite(limit + remaining + resetSeconds)
        ? null
        : { limit, remaining, resetSeconds },
    fromCache,
    headers: new Headers(headers),
  }
}

/** The names in `Ignored-Fields`, which are percent-encoded. */
function ignoredFields(headers: Headers): string[] {
  const names = headers.get('Ignored-Fields')?.split(',') ?? []
  return names.map((part) => {
    const name = part.trim()
    try {
      return decodeURIComponent(name)
    } catch {
      return name
    }
  })
}

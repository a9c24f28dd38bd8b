import type { Received } from './call.ts'

/** What an answer says beside its body. */
export interface AnswerMeta {
  readonly status: number
  /** The id of the answer in the service's log, for a question to its operator. */
  readonly requestId: string | null
  /** The service had received this very request before: it gave the stored answer again and did nothing twice. */
  readonly replayed: boolean
  /** Names that were sent and that the service does not know, such as a misspelled field. It ignored them. */
  readonly ignored: readonly string[]
  /** The brokerage's rate limit when the service answered; null where it does not apply, or in a cached answer. */
  readonly rateLimit: RateLimitState | null
  /** The client gave an answer that it had kept; the other members are those of the request that fetched it. */
  readonly fromCache: boolean
  /** All headers of the answer: a copy, which the caller may change. */
  readonly headers: Headers
}

export interface RateLimitState {
  /** Requests that the brokerage may make in each second. */
  readonly limit: number
  readonly remaining: number
  /** Whole seconds until the limit has room again for certain. */
  readonly resetSeconds: number
}

export interface AnswerWithMeta<Data> {
  readonly data: Data
  readonly meta: AnswerMeta
}

/** A call under way: `await` gives the body of the answer, `await` of `withMeta()` the body and its metadata. */
export interface PendingAnswer<Data> extends Promise<Data> {
  /** @example const { data, meta } = await lanewise.shipmentUpdate(update).withMeta() */
  withMeta(): Promise<AnswerWithMeta<Data>>
}

export function pendingAnswer<Data>(both: Promise<AnswerWithMeta<Data>>): PendingAnswer<Data> {
  const data = both.then((answer) => answer.data)
  return Object.assign(data, {
    withMeta: () => {
      // The caller waits for another promise now: that nobody handles this one must not end the process.
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

/** The names in `Ignored-Fields`, which the service writes percent-encoded. */
function ignoredFields(headers: Headers): string[] {
  const names = headers.get('Ignored-Fields')?.split(/\s*,\s*/) ?? []
  return names.map((name) => {
    try {
      return decodeURIComponent(name)
    } catch {
      return name
    }
  })
}

import type { Endpoint } from '#contract/endpoint.ts'
import { tenantRequestsPerWindowMax, tenantWindowSeconds, tokenExpiryNoticeDays } from '#contract/limits.ts'
import { retryAfterSeconds } from '../limits/index.ts'
import type { Admission as Permit, TokenClaims } from '../security/index.ts'

/** Headers of every answer. A route may relax caching; the others are fixed. */
export const standardHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'Referrer-Policy': 'no-referrer',
  Vary: 'Authorization',
} as const

/** The headers of an endpoint's successful answers. */
export function answerHeaders({ cacheSeconds }: Endpoint): Record<string, string> {
  return {
    ...(cacheSeconds === undefined ? {} : { 'Cache-Control': `private, max-age=${cacheSeconds}` }),
    'Content-Type': 'application/json; charset=utf-8',
  }
}

/** The rate-limit headers of an answer, in the draft standard's form and in the older X-RateLimit form. */
export function limitHeaders({ remaining, retryAfterMs }: Pick<Permit, 'remaining' | 'retryAfterMs'>) {
  const wait = String(retryAfterSeconds(retryAfterMs))
  return {
    'RateLimit-Policy': `"tenant";q=${tenantRequestsPerWindowMax};w=${tenantWindowSeconds}`,
    RateLimit: `"tenant";r=${remaining};t=${wait}`,
    'X-RateLimit-Limit': String(tenantRequestsPerWindowMax),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': wait,
  }
}

const noticeMs = tokenExpiryNoticeDays * 86_400_000

/** The header Token-Expires, in the last 30 days of a service token; no header before that. */
export function expiryHeaders(
  { exp, scope }: Pick<TokenClaims, 'exp' | 'scope'>,
  now: number,
): Record<string, string> {
  const endsAt = exp * 1000
  // A session token lasts 12 hours and is rejected by integration endpoints, so its expiry is not announced.
  if (scope === 'dashboard' || endsAt - now > noticeMs) return {}
  return { 'Token-Expires': new Date(endsAt).toISOString() }
}

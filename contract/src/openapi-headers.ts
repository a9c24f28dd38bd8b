import { type Endpoint, underTenantLimit } from './endpoint.ts'
import { signatureToleranceSeconds, tenantRequestsPerWindowMax, tenantWindowSeconds } from './limits.ts'
import type { Json } from './openapi-schemas.ts'
import { signatureForm, timestampForm } from './signature.ts'
import { notAppliedHeader, notAppliedReasons } from './update-header.ts'

/** The request and response headers of the OpenAPI document. */

/** Header names in their documented case. HTTP header names are case-insensitive. */
export const timestampName = 'X-Service-Timestamp'
export const signatureName = 'X-Service-Signature'

export const requestHeaders = {
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'handling=strict rejects unknown fields and parameters with the problem unknown-field. Without it, they are ignored and listed in Ignored-Fields.',
    schema: { type: 'string' },
    example: 'handling=strict',
  },
  ServiceTimestamp: {
    name: timestampName,
    in: 'header',
    required: true,
    description: `Unix time in seconds as decimal digits, within ${signatureToleranceSeconds} seconds of the server clock`,
    schema: { type: 'string', pattern: timestampForm.source },
    example: '1772373600',
  },
  ServiceSignature: {
    name: signatureName,
    in: 'header',
    required: true,
    description:
      'sha256= and the lowercase hex HMAC-SHA256 of the signed text over the exact bytes of the body, with the whole signing secret as key. The description of the operation states the signed text',
    schema: { type: 'string', pattern: signatureForm.source },
    example: 'sha256=ecf09be4443dd83e3b10249a0ced1a5997097a2c0836d523395319ed27cf323b',
  },
} as const

const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === 'number' ? 'integer' : 'string' },
  example,
})

export const responseHeaders = {
  RequestId: header(
    'The id of this request. It is also in the log of the service',
    '5f0c1c7e-8f0f-4c39-9a2e-6f3d1b1f8c11',
  ),
  CacheControl: header(
    'How long, and by which caches, the response may be stored; no-store if it must not be stored',
    'no-store',
  ),
  IgnoredFields: header(
    'Unknown fields and parameters that were ignored, separated by commas. A nested member is listed by its path, such as lanes/0/quotedRate. In a long list, * replaces the index of an item. Each name is percent-encoded.',
    'lanes/0/quotedRate',
  ),
  IgnoredFieldsMore: header('Number of further entries that do not fit into Ignored-Fields', 3),
  RateLimit: header(
    'The remaining rate limit of the brokerage: r requests, and t seconds until more are available',
    '"tenant";r=7;t=1',
  ),
  RateLimitPolicy: header(
    'The rate limit of the brokerage: q requests in any w seconds',
    `"tenant";q=${tenantRequestsPerWindowMax};w=${tenantWindowSeconds}`,
  ),
  XRateLimitLimit: header('The rate limit of the brokerage (older header)', tenantRequestsPerWindowMax),
  XRateLimitRemaining: header('The remaining requests (older header)', 7),
  XRateLimitReset: header('Seconds until more requests are available (older header)', 1),
  RetryAfter: header('Seconds to wait before the same request is sent again', 1),
  IdempotentReplayed: header(
    'true: this is the saved response to an identical earlier signed request, and nothing was changed',
    'true',
  ),
  LanewiseUpdate: header(
    `Present only if updated is false: nothing of this update was applied. The reason is ${notAppliedReasons.join(' or ')}: newer signed values remain, or the update only names its quote. For a call with many updates, items is how many of them were not applied for that reason; ${notAppliedReasons[0]} comes first`,
    notAppliedHeader('older-signature')['Lanewise-Update'],
  ),
  WwwAuthenticate: header('How to authenticate', 'Bearer realm="integrations"'),
  AcceptPost: header('The content type that the address accepts', 'application/json'),
  AcceptEncoding: header('The content encoding that the address accepts', 'identity'),
  ContentDisposition: header('The name of the file', 'attachment; filename="lanes.csv"'),
  SetCookie: header('The session cookie for the dashboard', '__Host-lanewise=...; Path=/; HttpOnly'),
} as const

/** References to the given response headers. */
function headersOf(names: Readonly<Record<string, keyof typeof responseHeaders>>): Json {
  return Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )
}

const everyAnswer = { 'Request-Id': 'RequestId', 'Cache-Control': 'CacheControl' } as const

const limitHeaders = {
  'RateLimit-Policy': 'RateLimitPolicy',
  RateLimit: 'RateLimit',
  'X-RateLimit-Limit': 'XRateLimitLimit',
  'X-RateLimit-Remaining': 'XRateLimitRemaining',
  'X-RateLimit-Reset': 'XRateLimitReset',
} as const

const namesOfIgnored = {
  'Ignored-Fields': 'IgnoredFields',
  'Ignored-Fields-More': 'IgnoredFieldsMore',
} as const

/** The response headers that depend on the properties of the endpoint. */
function ownHeaders({ who, answerKind, setsSession, mayNotApply }: Endpoint) {
  return {
    ...(who.kind === 'service' && who.signed ? { 'Idempotent-Replayed': 'IdempotentReplayed' as const } : {}),
    ...(mayNotApply === true ? { 'Lanewise-Update': 'LanewiseUpdate' as const } : {}),
    ...(answerKind === 'csv' ? { 'Content-Disposition': 'ContentDisposition' as const } : {}),
    ...(setsSession === true ? { 'Set-Cookie': 'SetCookie' as const } : {}),
  }
}

/** The response headers of error responses, by status. */
const refusalHeaders: Readonly<Record<number, Readonly<Record<string, keyof typeof responseHeaders>>>> = {
  422: namesOfIgnored,
  401: { 'WWW-Authenticate': 'WwwAuthenticate' },
  403: { 'WWW-Authenticate': 'WwwAuthenticate' },
  409: { 'Retry-After': 'RetryAfter' },
  415: { 'Accept-Post': 'AcceptPost', 'Accept-Encoding': 'AcceptEncoding' },
  429: { 'Retry-After': 'RetryAfter' },
  503: { 'Retry-After': 'RetryAfter' },
}

/** The headers of the success response of an operation. */
export function answerHeadersOf(endpoint: Endpoint): Json {
  return headersOf({ ...everyAnswer, ...namesOfIgnored, ...limitOf(endpoint), ...ownHeaders(endpoint) })
}

/** The headers of an error response of an operation. */
export function refusalHeadersOf(endpoint: Endpoint, status: number): Json {
  return headersOf({ ...everyAnswer, ...limitOf(endpoint), ...refusalHeaders[status] })
}

const limitOf = (endpoint: Endpoint) => (underTenantLimit(endpoint) ? limitHeaders : {})

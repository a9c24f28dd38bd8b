import { type Endpoint, underTenantLimit } from './endpoint.ts'
import { signatureToleranceSeconds, tenantRequestsPerWindowMax, tenantWindowSeconds } from './limits.ts'
import type { Json } from './openapi-schemas.ts'
import { signatureForm, timestampForm } from './signature.ts'

/** The headers of requests and answers, as the OpenAPI document has them. */

/** Names of headers as they are written; HTTP reads them in any case. */
export const timestampName = 'X-Service-Timestamp'
export const signatureName = 'X-Service-Signature'

export const requestHeaders = {
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'handling=strict refuses fields and parameters that are not known with the problem unknown-field. Without it they are ignored, and named in Ignored-Fields.',
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
      'sha256= and the lowercase hex HMAC-SHA256 of "<timestamp>.<body>" over the exact bytes of the body, with the whole signing secret as key',
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
    'The id of this request, which is also in the log of the service',
    '5f0c1c7e-8f0f-4c39-9a2e-6f3d1b1f8c11',
  ),
  CacheControl: header(
    'For how long, and by whom, the answer may be kept: no-store where it may not be kept',
    'no-store',
  ),
  IgnoredFields: header(
    'Fields and parameters that were sent, are not known and had no effect, separated by commas. A member inside another is named by its path, such as lanes/0/quotedRate. In a long list a star stands for the number of an item. Each name is percent-encoded.',
    'lanes/0/quotedRate',
  ),
  IgnoredFieldsMore: header('How many further entries Ignored-Fields would have, where not all fit', 3),
  RateLimit: header(
    'What is left of the limit of the brokerage: r requests, and t seconds until there are more',
    '"tenant";r=7;t=1',
  ),
  RateLimitPolicy: header(
    'The limit of the brokerage: q requests in any w seconds',
    `"tenant";q=${tenantRequestsPerWindowMax};w=${tenantWindowSeconds}`,
  ),
  XRateLimitLimit: header('The limit of the brokerage, in the older form', tenantRequestsPerWindowMax),
  XRateLimitRemaining: header('What is left of it, in the older form', 7),
  XRateLimitReset: header('Seconds until there are more, in the older form', 1),
  RetryAfter: header('Seconds to wait before the same request is sent again', 1),
  IdempotentReplayed: header(
    'true: the same signed request was answered before; this is that answer, and nothing was done',
    'true',
  ),
  WwwAuthenticate: header('How to authenticate', 'Bearer realm="integrations"'),
  AcceptPost: header('The content type that the address takes', 'application/json'),
  AcceptEncoding: header('The content encoding that the address takes', 'identity'),
  ContentDisposition: header('The name of the file', 'attachment; filename="lanes.csv"'),
  SetCookie: header('The session, for the pages of the dashboard', '__Host-lanewise=...; Path=/; HttpOnly'),
} as const

/** The headers of an answer, by their names. */
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

/** The headers that an answer has because of what the endpoint does. */
function ownHeaders({ who, answerKind, setsSession }: Endpoint) {
  return {
    ...(who.kind === 'service' && who.signed ? { 'Idempotent-Replayed': 'IdempotentReplayed' as const } : {}),
    ...(answerKind === 'csv' ? { 'Content-Disposition': 'ContentDisposition' as const } : {}),
    ...(setsSession === true ? { 'Set-Cookie': 'SetCookie' as const } : {}),
  }
}

/** The headers that a refusal of some status may have. */
const refusalHeaders: Readonly<Record<number, Readonly<Record<string, keyof typeof responseHeaders>>>> = {
  422: namesOfIgnored,
  401: { 'WWW-Authenticate': 'WwwAuthenticate' },
  403: { 'WWW-Authenticate': 'WwwAuthenticate' },
  409: { 'Retry-After': 'RetryAfter' },
  415: { 'Accept-Post': 'AcceptPost', 'Accept-Encoding': 'AcceptEncoding' },
  429: { 'Retry-After': 'RetryAfter' },
  503: { 'Retry-After': 'RetryAfter' },
}

/** The headers of the answer of an operation. */
export function answerHeadersOf(endpoint: Endpoint): Json {
  return headersOf({ ...everyAnswer, ...namesOfIgnored, ...limitOf(endpoint), ...ownHeaders(endpoint) })
}

/** The headers of a refusal by an operation. */
export function refusalHeadersOf(endpoint: Endpoint, status: number): Json {
  return headersOf({ ...everyAnswer, ...limitOf(endpoint), ...refusalHeaders[status] })
}

const limitOf = (endpoint: Endpoint) => (underTenantLimit(endpoint) ? limitHeaders : {})

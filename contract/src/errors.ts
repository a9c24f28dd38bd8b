import { jsonDepthMax, unknownKeysMax } from './limits.ts'
import { tokenScopeNames } from './token-scopes.ts'

/**
 * Every error that the service can return: its code, HTTP status, title and remedy.
 *
 * The code is a member of the problem body and the last part of its `type` URI (RFC 9457). Clients switch on the
 * union of codes. `detail` is always a string, as the interface specifies for 404.
 */
export const problems = {
  'malformed-request': {
    status: 400,
    title: 'Request could not be read',
    remedy: 'Send one well-formed HTTP/1.1 request: no bad percent-encoding in the address, one Host header.',
  },
  'duplicate-header': {
    status: 400,
    title: 'A header was sent twice',
    remedy: 'Send Authorization and Content-Type once each.',
  },
  'malformed-json': {
    status: 400,
    title: 'Body is not valid JSON',
    remedy: `Send one JSON object in UTF-8 without a byte order mark, with at most ${jsonDepthMax} levels.`,
  },
  'duplicate-key': {
    status: 400,
    title: 'A JSON key appears twice',
    remedy: 'Send each key of an object once. Parsers disagree on which duplicate they use.',
  },
  'forbidden-key': {
    status: 400,
    title: 'A JSON key is not allowed',
    remedy: 'Leave out keys named __proto__, constructor or prototype.',
  },
  'token-missing': {
    status: 401,
    title: 'No token was sent',
    remedy: 'Send the header Authorization: Bearer <token>.',
  },
  'token-malformed': {
    status: 401,
    title: 'Authorization header is not a bearer token',
    remedy: 'Send the header Authorization: Bearer <token>, with the token exactly as issued.',
  },
  'token-invalid': {
    status: 401,
    title: 'Token is not valid',
    remedy: 'Send the token exactly as it was issued by this service.',
  },
  'token-expired': {
    status: 401,
    title: 'Token has expired',
    remedy: 'Sign in again, or ask an admin to create a new service token.',
  },
  'token-revoked': {
    status: 401,
    title: 'Token is no longer accepted',
    remedy:
      'The token was revoked, or its owner was removed or lost the required role. Ask an admin to create a new token.',
  },
  'token-wrong-kind': {
    status: 401,
    title: 'This kind of token is not accepted here',
    remedy:
      'The operations for other systems under /api/integrations, and /mcp, take a service token, which an admin creates with POST /api/integrations/tokens. All other addresses, and those of tokens and secrets, take the token of a dashboard sign-in, from POST /api/auth/sign-in. The detail names the required kind.',
  },
  'sign-in-failed': {
    status: 401,
    title: 'Sign-in failed',
    remedy: 'Check the e-mail address and the password.',
  },
  'signature-missing': {
    status: 401,
    title: 'Signature headers are missing',
    remedy: 'Send X-Service-Timestamp and X-Service-Signature with every write.',
  },
  'signature-malformed': {
    status: 401,
    title: 'Signature header is malformed',
    remedy: 'Send the header once, with sha256= followed by the 64 lowercase hex digits of the HMAC-SHA256.',
  },
  'signature-mismatch': {
    status: 401,
    title: 'Signature does not match',
    remedy:
      'Sign exactly the bytes you send, with the whole secret (prefix included) as UTF-8 key. The detail states the text to sign: <timestamp>.<body> for shipment-update; all other endpoints sign their method and path, too.',
  },
  'timestamp-malformed': {
    status: 401,
    title: 'Timestamp header is malformed',
    remedy: 'Send the header once, with the Unix time in seconds as plain decimal digits.',
  },
  'timestamp-out-of-window': {
    status: 401,
    title: 'Timestamp is too far from the server clock',
    remedy: 'Sign again with the current time. If your clock is wrong, set it by server_time.',
  },
  'role-required': {
    status: 403,
    title: 'Your role does not allow this',
    remedy: 'Ask an admin or owner of your brokerage.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'Token lacks the required scope',
    remedy: `Use a service token with the scope that the detail names. The scopes are ${tokenScopeNames.join(', ')}; a token can have several.`,
  },
  'customer-hidden': {
    status: 403,
    title: 'The customer belongs to another team',
    remedy: 'Ask an admin to add you to the team of the customer, or to do it for you.',
  },
  csrf: {
    status: 403,
    title: 'Request did not come from the dashboard',
    remedy:
      'Calls with the session cookie must come from the same origin and carry the header X-Lanewise-Request: 1.',
  },
  'sign-up-disabled': {
    status: 403,
    title: 'Sign-up is switched off',
    remedy:
      'Ask the operator to create a brokerage (npm run tenant -- create), or ask an owner or admin of a brokerage for an invitation.',
  },
  'route-not-found': {
    status: 404,
    title: 'No such address',
    remedy: 'See /openapi.json for all addresses.',
  },
  'outside-rules': {
    status: 422,
    title: 'Quote is outside the pricing rules',
    remedy:
      'Quote a rate within the rules, or ask for approval with POST /api/approvals. Each error names the rule. An error with the code blocked cannot be approved.',
  },
  'lane-not-found': {
    status: 404,
    title: 'No lane was found',
    remedy: 'Send the lane_ref exactly as the service assigned it.',
  },
  'not-found': { status: 404, title: 'Not found', remedy: 'Check the identifier in the address.' },
  'method-not-allowed': {
    status: 405,
    title: 'Method is not allowed here',
    remedy: 'Use one of the methods in the Allow header.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request took too long to arrive',
    remedy: 'Send the request again.',
  },
  'request-in-progress': {
    status: 409,
    title: 'The same request is still being processed',
    remedy: 'Wait for Retry-After seconds and send the same request again.',
  },
  'request-key-reused': {
    status: 422,
    title: 'The request_key belongs to another request',
    remedy: 'Send a new request_key for a new request. To repeat a request, send its key with the same body.',
  },
  'too-many-live-secrets': {
    status: 409,
    title: 'Two secrets with this name are already live',
    remedy: 'Rotate or revoke one of them first.',
  },
  'too-many-event-endpoints': {
    status: 409,
    title: 'The maximum number of event addresses is reached',
    remedy: 'Remove one of the addresses first.',
  },
  'events-off': {
    status: 409,
    title: 'Events are switched off',
    remedy: 'Ask the operator of the service to set EVENTS=on.',
  },
  'email-taken': {
    status: 409,
    title: 'E-mail address is in use',
    remedy: 'Sign in, or use another address.',
  },
  'last-owner': {
    status: 409,
    title: 'A brokerage needs an owner',
    remedy: 'Make another person an owner first.',
  },
  'tokens-to-hand-over': {
    status: 409,
    title: 'This person has live service tokens',
    remedy:
      'Choose what happens to the tokens: tokens=revoke revokes them, tokens=hand-over transfers them to you.',
  },
  'state-conflict': {
    status: 409,
    title: 'Not possible in the current state',
    remedy: 'Read the resource again, then decide whether to retry.',
  },
  'body-too-large': {
    status: 413,
    title: 'Body is too large',
    remedy: `Send a smaller body, or several. The reference states the maximum bytes of each operation and, for JSON, the maximum keys in all objects together: those of the largest valid body, and ${unknownKeysMax} unknown ones in the body and in each item of its lists. JSON must be sent uncompressed. A CSV file may be sent as gzip; the limit applies to the compressed and to the uncompressed file.`,
  },
  'uri-too-long': { status: 414, title: 'Address is too long', remedy: 'Send an address of at most 8 KiB.' },
  'unsupported-media-type': {
    status: 415,
    title: 'Content type is not supported',
    remedy: 'Send Content-Type: application/json, in UTF-8.',
  },
  'unsupported-encoding': {
    status: 415,
    title: 'Content encoding is not supported',
    remedy: 'Send the body uncompressed.',
  },
  'validation-failed': {
    status: 422,
    title: 'A field is missing or not valid',
    remedy: 'See errors: each entry names the field, the problem and the expected value.',
  },
  'url-not-allowed': {
    status: 422,
    title: 'Events cannot be sent to this address',
    remedy:
      'Use an https URL with a host name on the public internet, without a user name. Private network addresses are not allowed.',
  },
  'unknown-field': {
    status: 422,
    title: 'A field is not known',
    remedy:
      'Remove the field. Or remove the header Prefer: handling=strict; unknown fields are then ignored.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Headers are too large',
    remedy: 'Send at most 16 KiB of headers.',
  },
  'quota-exceeded': {
    status: 429,
    title: 'Too many requests',
    remedy: 'Back off and send the request again after Retry-After seconds.',
  },
  'too-many-attempts': {
    status: 429,
    title: 'Too many attempts',
    remedy: 'Wait for Retry-After seconds and try again.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    remedy: 'Include the request_id when you report the error.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    remedy: 'Send the same request again after Retry-After seconds.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>

export type ProblemCode = keyof typeof problems

/** An error in one field: a `pointer` (RFC 6901) into the body, or the name of a query `parameter`. */
export interface FieldError {
  readonly pointer?: string
  readonly parameter?: string
  readonly code: string
  readonly detail: string
  /** Suggested values, best first, that a form can offer. Each can be sent unchanged. */
  readonly suggestions?: readonly string[]
}

/** The body of every error response, as `application/problem+json`. */
export interface ProblemBody {
  readonly type: string
  /** The last part of `type`. */
  readonly code: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly request_id: string
  readonly errors?: readonly FieldError[]
  readonly [member: string]: unknown
}

export const problemContentType = 'application/problem+json'

/**
 * The URI of a problem type. `quota-exceeded` uses its registered IANA URI; every other type is a page of this
 * service.
 */
export function problemType(code: ProblemCode): string {
  return code === 'quota-exceeded'
    ? 'https://iana.org/assignments/http-problem-types#quota-exceeded'
    : `/problems/${code}`
}

/** An error that the HTTP layer converts to a problem response. Any code may throw it. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly errors: readonly FieldError[] | undefined
  readonly members: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ProblemCode,
    detail: string,
    more: {
      errors?: readonly FieldError[]
      members?: Readonly<Record<string, unknown>>
      headers?: Readonly<Record<string, string>>
      cause?: unknown
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'Problem'
    this.code = code
    this.errors = more.errors
    this.members = more.members ?? {}
    this.headers = more.headers ?? {}
  }

  get status(): number {
    return problems[this.code].status
  }

  body(requestId: string): ProblemBody {
    return {
      type: problemType(this.code),
      code: this.code,
      title: problems[this.code].title,
      status: this.status,
      detail: this.message,
      request_id: requestId,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
      ...this.members,
    }
  }
}

/** Creates a problem to throw. @example throw problem('not-found', 'No user 7 in this brokerage.') */
export function problem(
  code: ProblemCode,
  detail: string,
  more?: ConstructorParameters<typeof Problem>[2],
): Problem {
  return new Problem(code, detail, more)
}

/** A 422 about fields. The detail repeats the first error, so that a log line contains the cause. */
export function invalid(errors: readonly FieldError[]): Problem {
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Problem('validation-failed', `${errors[0]?.detail ?? 'A field is not valid.'}${more}`, {
    errors,
  })
}

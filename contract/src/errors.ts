/**
 * Every error the service can answer, said once: its code, its HTTP status, its title and what to do about it.
 *
 * The code is a member of the problem body and the last part of its `type` URI (RFC 9457), and the union of codes is what
 * clients switch on. `detail` is always a string, as the interface's 404 has it.
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
    title: 'Body is not the JSON it should be',
    remedy: 'Send one JSON object as UTF-8 without a byte-order mark, at most 16 levels deep and 64 keys.',
  },
  'duplicate-key': {
    status: 400,
    title: 'A JSON key appears twice',
    remedy: 'Send each key of an object once. Parsers disagree on which of two wins.',
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
    remedy: 'Send the header Authorization: Bearer <token>, the token as it was issued.',
  },
  'token-invalid': {
    status: 401,
    title: 'Token is not valid',
    remedy: 'Send the token exactly as it was issued by this service.',
  },
  'token-expired': {
    status: 401,
    title: 'Token has expired',
    remedy: 'Sign in again, or have an admin create a new service token.',
  },
  'token-revoked': {
    status: 401,
    title: 'Token is no longer accepted',
    remedy: 'The token was revoked, or its owner has left or lost the role. Have an admin create a new one.',
  },
  'token-wrong-kind': {
    status: 401,
    title: 'This kind of token is not accepted here',
    remedy:
      'The TMS update, the reads under /api/integrations/insights, /api/integrations/shipments and /mcp take a service token, which an admin creates with POST /api/integrations/tokens. All other addresses take the token of a dashboard sign-in, from POST /api/auth/sign-in. The detail says which of the two is needed.',
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
    remedy: 'Send sha256= followed by the 64 lowercase hex digits of the HMAC-SHA256, once.',
  },
  'signature-mismatch': {
    status: 401,
    title: 'Signature does not match',
    remedy:
      'Sign the text <timestamp>.<body> over exactly the bytes you send, with the whole secret (prefix included) as UTF-8 key.',
  },
  'timestamp-malformed': {
    status: 401,
    title: 'Timestamp header is malformed',
    remedy: 'Send the Unix time in seconds as plain decimal digits, once.',
  },
  'timestamp-out-of-window': {
    status: 401,
    title: 'Timestamp is too far from the server clock',
    remedy: 'Sign again with the present time; set your clock by server_time if it is off.',
  },
  'role-required': {
    status: 403,
    title: 'Your role does not allow this',
    remedy: 'Ask an admin or owner of your brokerage.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'Token lacks the scope',
    remedy: 'Use a service token with the scope integrations:write.',
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
      'Ask the operator for a brokerage (npm run tenant -- create), or an owner or admin of one for an invitation.',
  },
  'route-not-found': {
    status: 404,
    title: 'No such address',
    remedy: 'See /openapi.json for every address.',
  },
  'lane-not-found': {
    status: 404,
    title: 'No lane was found',
    remedy: 'Send the lane_ref as the service assigned it.',
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
    title: 'The same request is still being worked on',
    remedy: 'Wait for Retry-After seconds and send the same request again.',
  },
  'request-key-reused': {
    status: 422,
    title: 'The request_key belongs to another request',
    remedy: 'Send a new request_key for a new request. To repeat a request, send its key with the same body.',
  },
  'too-many-live-secrets': {
    status: 409,
    title: 'Two secrets of this name are live already',
    remedy: 'Rotate or revoke one of them first.',
  },
  'too-many-event-endpoints': {
    status: 409,
    title: 'Events are sent to as many addresses as they can be',
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
    remedy: 'Make somebody else an owner first.',
  },
  'tokens-to-hand-over': {
    status: 409,
    title: 'This person holds live service tokens',
    remedy: 'Say what becomes of them: tokens=revoke, or tokens=hand-over to take them over yourself.',
  },
  'state-conflict': {
    status: 409,
    title: 'Not possible in the present state',
    remedy: 'Read the resource again and decide anew.',
  },
  'body-too-large': {
    status: 413,
    title: 'Body is too large',
    remedy:
      'Send a smaller body. JSON is sent uncompressed, so its size is that of the plain bytes; a CSV file may be sent as gzip, and its limit holds for the unpacked file as well.',
  },
  'uri-too-long': { status: 414, title: 'Address is too long', remedy: 'Send at most 8 KiB of address.' },
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
    remedy: 'See errors: each names the field, what was wrong and what would be right.',
  },
  'url-not-allowed': {
    status: 422,
    title: 'Nothing is sent to this address',
    remedy:
      'Give an https address on the public internet, by its name: no user name, no address of a private network.',
  },
  'unknown-field': {
    status: 422,
    title: 'A field is not known',
    remedy: 'Leave it out, or leave out Prefer: handling=strict to have it ignored.',
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
    remedy: 'Quote the request_id when you report it.',
  },
  unavailable: {
    status: 503,
    title: 'The service cannot answer right now',
    remedy: 'Send the same request again after Retry-After seconds.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>

export type ProblemCode = keyof typeof problems

/** One field that was wrong: `pointer` (RFC 6901) into the body, or the name of the query `parameter`. */
export interface FieldError {
  readonly pointer?: string
  readonly parameter?: string
  readonly code: string
  readonly detail: string
  /** What may have been meant, best first, each to be sent as it is: for a form to offer. */
  readonly suggestions?: readonly string[]
}

/** The body of every error answer, as `application/problem+json`. */
export interface ProblemBody {
  readonly type: string
  /** The same word as the end of `type`. */
  readonly code: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly request_id: string
  readonly errors?: readonly FieldError[]
  readonly [member: string]: unknown
}

export const problemContentType = 'application/problem+json'

/** The registered problem type of a spent quota has a URI of its own; every other type is a page of this service. */
export function problemType(code: ProblemCode): string {
  return code === 'quota-exceeded'
    ? 'https://iana.org/assignments/http-problem-types#quota-exceeded'
    : `/problems/${code}`
}

/** Thrown by anyone, turned into an HTTP answer in one place. */
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

/** A problem ready to throw. @example throw problem('not-found', 'No user 7 in this brokerage.') */
export function problem(
  code: ProblemCode,
  detail: string,
  more?: ConstructorParameters<typeof Problem>[2],
): Problem {
  return new Problem(code, detail, more)
}

/** A 422 about fields. The detail repeats the first error, so that a log line alone says what was wrong. */
export function invalid(errors: readonly FieldError[]): Problem {
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Problem('validation-failed', `${errors[0]?.detail ?? 'A field is not valid.'}${more}`, {
    errors,
  })
}

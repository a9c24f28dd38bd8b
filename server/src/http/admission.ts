import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Endpoint, roleAtLeast, underTenantLimit } from '#contract/endpoint.ts'
import { Problem, problem, problemContentType } from '#contract/errors.ts'
import {
  bodyArrivalSecondsMax,
  bodyBytesMax,
  tenantRequestsPerWindowMax,
  tenantWindowSeconds,
  tokenExpiryNoticeDays,
} from '#contract/limits.ts'
import { integrationsScope } from '#contract/service-token.ts'
import type { Callers, CallerWatch, PersonCaller, ServiceCaller } from '../access/index.ts'
import { RequestDeadline, withDeadline } from '../database/session/index.ts'
import type { Parts } from '../endpoints/index.ts'
import { quotaExceeded, retryAfterSeconds } from '../limits/index.ts'
import {
  callerNetwork,
  type Admission as Place,
  type RateLimit,
  type TokenClaims,
} from '../security/index.ts'
import { recordProblem } from '../watching/index.ts'

/** The limits that all endpoints of one process share. */
export interface Gates {
  readonly refusedLimit: RateLimit
  readonly callers: Callers
}

/** What the first hook found out, for the handler: nothing of it is read from the request again. */
export interface Admitted {
  readonly caller: PersonCaller | ServiceCaller | { readonly kind: 'anyone' }
  readonly now: number
  readonly network: string
  /** What is left of the time that the caller is let wait for the database. */
  readonly patience: RequestDeadline
  /** Ends what was begun before the body was read. */
  readonly end: () => void
}

/** The checks of one route that need no body, and what they found out for its handler. */
export interface Admission {
  /** The route's first hook. Throws the Problem of the first check that fails, before anything of the body is read. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>
  admitted(request: FastifyRequest): Admitted
  /** Work for a request draws on its patience, and is a part of its trace. */
  asAsked<T>(request: FastifyRequest, patience: RequestDeadline, work: () => Promise<T>): Promise<T>
}

/**
 * Every route that has an endpoint begins with these checks, in this order: duplicate headers, caller, tenant limit, scope
 * or role, what `refuse` says of this route alone, encoding, type and declared size of the body, what `beforeBody` settles.
 */
export function admission(
  endpoint: Endpoint,
  parts: Parts,
  gates: Gates,
  {
    refuse = () => {},
    beforeBody = async () => () => {},
  }: {
    readonly refuse?: (request: FastifyRequest) => void
    /** What is settled last; its answer ends that, when the request has ended at the latest. */
    readonly beforeBody?: (
      request: FastifyRequest,
      known: Pick<Admitted, 'caller' | 'now'>,
    ) => Promise<() => void>
  } = {},
): Admission {
  const known = new WeakMap<FastifyRequest, Admitted>()
  const bytesMax = bodyBytesMaxOf(endpoint)

  return {
    async admit(request, reply) {
      const network = callerNetwork(request.ip)
      const now = parts.clock()
      refuseEmptyPart(request)
      refuseDuplicateHeaders(request)
      const patience = new RequestDeadline()
      const caller = await asAsked(request, patience, () =>
        callerOf(endpoint, request, reply, { now, network }),
      )
      if (caller.kind !== 'anyone' && underTenantLimit(endpoint)) {
        const { tenant } = caller
        sayLimit(await asAsked(request, patience, () => parts.tenantLimit.admit(tenant)), reply)
      }
      refuseTooLittleRight(endpoint, caller)
      refuse(request)
      if (hasBody(request)) refuseUnreadableBody(endpoint, request, bytesMax)
      const end = await asAsked(request, patience, () => beforeBody(request, { caller, now }))
      if (reply.raw.closed) end()
      else reply.raw.once('close', end)
      askForBody(request, reply)
      known.set(request, { caller, now, network, patience, end })
    },
    admitted(request) {
      const found = known.get(request)
      if (found === undefined) throw new Error('The request was not admitted.')
      return found
    },
    asAsked,
  }

  function asAsked<T>(
    request: FastifyRequest,
    patience: RequestDeadline,
    work: () => Promise<T>,
  ): Promise<T> {
    return parts.traces.within(request.record?.span ?? null, () => withDeadline(patience, work))
  }

  async function callerOf(
    of: Endpoint,
    request: FastifyRequest,
    reply: FastifyReply,
    { now, network }: { now: number; network: string },
  ) {
    if (of.who.kind === 'anyone') return { kind: 'anyone' } as const
    const limited = underTenantLimit(of)
    const { id: requestId, method } = request
    const watch: CallerWatch = {
      signedBy(tenant, claims) {
        const { jti, user_id: userId } = claims
        if (request.record) request.record.tenant = tenant
        parts.refusals.signedBy(request, { tenant, userId, jti })
        if (of.who.kind === 'service') reply.headers(expiryHeaders(claims, now))
        if (!limited) return
        const url = request.raw.url ?? ''
        parts.calls.begin(request, { tenant, jti, endpoint: of, method, url, requestId, network, at: now })
        // Of an answer that its caller did not wait for nothing is told but the end of the connection.
        reply.raw.once('close', () => {
          const { statusCode: status, headersSent: answered } = reply.raw
          parts.calls.end(request, { status, ms: Math.round(reply.elapsedTime * 10) / 10, answered })
        })
      },
      refuseSpent(tenant) {
        const refusal = limited ? parts.tenantLimit.refusedNow(tenant) : null
        if (refusal !== null) sayLimit(refusal, reply)
      },
    }
    try {
      return of.who.kind === 'service'
        ? await gates.callers.service(request.headers.authorization, now, network, watch)
        : await gates.callers.person(request, now, !limited, watch)
    } catch (error) {
      throw countedRefusal(error, network, gates, parts)
    }
  }

  function sayLimit(place: Place, reply: FastifyReply): void {
    reply.headers(limitHeaders(place))
    if (!place.admitted) throw quotaExceeded(place)
  }
}

/** The bytes that the body of a route may have. */
export function bodyBytesMaxOf({ body, bodyBytesMax: ownMax }: Endpoint): number {
  return body === undefined ? bodyBytesMax : (ownMax ?? bodyBytesMax)
}

/** A refused credential costs its network a place. The right token is never refused for what others at its address did. */
function countedRefusal(
  error: unknown,
  network: string,
  { refusedLimit }: Pick<Gates, 'refusedLimit'>,
  { monotonic }: Pick<Parts, 'monotonic'>,
): unknown {
  if (!(error instanceof Problem) || error.status !== 401) return error
  if (refusedLimit.admit(network, monotonic()).admitted) return error
  return problem('too-many-attempts', 'Too many refused requests from your network. Wait a second.', {
    headers: { 'Retry-After': '1' },
  })
}

/** What an answer says of the tenant's limit, in the words of the standard to be and in the older ones. */
export function limitHeaders({ remaining, retryAfterMs }: Pick<Place, 'remaining' | 'retryAfterMs'>) {
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

/** What an answer says of the end of the service token that it was asked with: from a month before on, when it is. */
export function expiryHeaders(
  { exp, scope }: Pick<TokenClaims, 'exp' | 'scope'>,
  now: number,
): Record<string, string> {
  const endsAt = exp * 1000
  // A person's token lasts half a day, and is refused where a machine's is asked for.
  if (scope === 'dashboard' || endsAt - now > noticeMs) return {}
  return { 'Token-Expires': new Date(endsAt).toISOString() }
}

/** `/api/lanes/` names no lane: it is no address of ours, as with any other stroke too many. */
function refuseEmptyPart(request: FastifyRequest): void {
  if (Object.values(request.params as Record<string, string>).includes('')) {
    throw problem('route-not-found', 'There is nothing at this address.')
  }
}

/** Headers that two parties could read differently. Node keeps the first of two and says nothing. */
const singleHeaders = new Set(['authorization', 'content-type', 'content-length', 'host'])

function refuseDuplicateHeaders(request: FastifyRequest): void {
  const seen = new Set<string>()
  const raw = request.raw.rawHeaders
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? ''
    if (!singleHeaders.has(name)) continue
    if (seen.has(name)) throw problem('duplicate-header', `The header ${raw[index]} was sent twice.`)
    seen.add(name)
  }
}

function refuseTooLittleRight(endpoint: Endpoint, caller: Admitted['caller'] & { scope?: string }): void {
  const { who } = endpoint
  if (who.kind === 'dashboard' && caller.kind === 'dashboard' && !roleAtLeast(caller.role, who.role)) {
    throw problem('role-required', `This needs the role ${who.role}; you are ${caller.role}.`)
  }
  if (who.kind === 'service' && who.signed && caller.scope !== integrationsScope) {
    throw problem(
      'insufficient-scope',
      `Writing needs a service token with the scope ${integrationsScope}.`,
      {
        headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${integrationsScope}"` },
      },
    )
  }
}

export function hasBody(request: FastifyRequest): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** How long a body says that it is; undefined where it does not say. */
export function declaredBytes({ headers }: FastifyRequest): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

const csvTypes = /^(text\/csv|application\/csv|application\/gzip)$/

function refuseUnreadableBody(endpoint: Endpoint, request: FastifyRequest, bytesMax: number): void {
  if (endpoint.body === undefined) return
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw problem(
      'unsupported-encoding',
      'Send the body uncompressed: the signature and the limits are of plain bytes.',
      {
        headers: { 'Accept-Encoding': 'identity' },
      },
    )
  }
  const isCsv = endpoint.bodyKind === 'csv'
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim())
  const charset = parameters
    .find((parameter) => /^charset\s*=/i.test(parameter))
    ?.replace(/^charset\s*=\s*"?([^"]*)"?$/i, '$1')
  const fits = isCsv ? csvTypes.test(type.toLowerCase()) : type.toLowerCase() === 'application/json'
  if (!fits || (charset !== undefined && !/^utf-?8$/i.test(charset))) {
    const right = isCsv ? 'text/csv' : 'application/json'
    throw problem(
      'unsupported-media-type',
      `Send Content-Type: ${right}, in UTF-8; it was ${type === '' ? 'absent' : JSON.stringify(request.headers['content-type'])}.`,
      {
        headers: { 'Accept-Post': right },
      },
    )
  }
  if ((declaredBytes(request) ?? 0) > bytesMax) throw tooLarge(bytesMax)
}

export function tooLarge(bytesMax: number): Problem {
  return problem(
    'body-too-large',
    `The body must be at most ${bytesMax.toLocaleString('en-US')} bytes as it is sent.`,
    {
      headers: { Connection: 'close' },
    },
  )
}

/** `Expect: 100-continue`: who asks first is told to send, now that nothing known without the body is wrong. */
function askForBody(request: FastifyRequest, reply: FastifyReply): void {
  const { httpVersion, headers } = request.raw
  if (httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue()
}

/**
 * Bounds how long a body may take to arrive, at any address and whatever it is answered: one that trickles in byte by byte
 * holds a socket. Before the answer it is refused with 408; after the answer the connection ends. An upload that is being
 * read has the longer time-out of the server itself.
 */
export function limitArrival(request: FastifyRequest, reply: FastifyReply, parts: Parts): void {
  if (!hasBody(request)) return
  const { raw } = request
  const timer = setTimeout(() => {
    if (raw.complete || raw.socket.destroyed) return
    if (reply.sent) {
      raw.destroy()
      return
    }
    if (request.routeOptions.config.isUpload === true) return
    const late = problem('request-timeout', 'The body took too long to arrive.')
    parts.calls.refuse(request, late)
    recordProblem(request, late, parts)
    const headers = reply.getHeaders()
    reply.hijack()
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    const body = JSON.stringify(late.body(request.id))
    reply.raw.writeHead(408, {
      'Content-Type': problemContentType,
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    })
    reply.raw.end(body, () => raw.destroy())
  }, bodyArrivalSecondsMax * 1000)
  timer.unref()
  // Nearly every body is there before its answer. One that is not is still waited for, and no longer than this.
  reply.raw.once('close', () => {
    if (raw.complete) clearTimeout(timer)
  })
}

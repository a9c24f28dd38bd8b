import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { bodyBytesMaxOf, type Endpoint, roleAtLeast, underTenantLimit } from '#contract/endpoint.ts'
import { Problem, problem } from '#contract/errors.ts'
import type { Callers, CallerWatch, PersonCaller, ServiceCaller } from '../access/index.ts'
import {
  asCurrentViewer,
  RequestDeadline,
  type TeamViewer,
  type TenantId,
  withDeadline,
  withViewer,
} from '../database/session/index.ts'
import type { Call, CsvFile, Parts, Release, ServedEndpoint } from '../endpoints/index.ts'
import { type DashboardShare, quotaExceeded } from '../limits/index.ts'
import { andThen, type NowOrLater, onBehalfOf } from '../runtime/index.ts'
import { callerNetwork, type Admission as Permit, type RateLimit } from '../security/index.ts'
import { expiryHeaders, limitHeaders } from './answer-headers.ts'
import { refuseTooLittleRight } from './caller-rights.ts'
import { hasBody, refuseUnreadableBody, sendContinue } from './request-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of admission; null before it. */
    admitted: Admitted | null
  }
}

/** State that all routes of one process share. */
export interface Gates {
  /** The limit of rejected credentials per network. */
  readonly refusedLimit: RateLimit
  readonly callers: Callers
  /** The bounds of each brokerage's dashboard requests. */
  readonly share: DashboardShare
}

/** The result of admission. The handler uses it instead of reading these values from the request again. */
export interface Admitted {
  readonly caller: PersonCaller | ServiceCaller | { readonly kind: 'anyone' }
  readonly now: number
  readonly network: string
  /** The deadline for the request's database work. */
  readonly deadline: RequestDeadline
  /** Releases what `beforeBody` reserved. Called by `holding`, or when the request ends before its body has arrived. */
  readonly end: Release
}

/** The checks of one route in addition to the checks of every route. */
interface OwnChecks {
  readonly refuse?: (request: FastifyRequest) => void
  /** The last check. Returns a function that releases what it reserved. */
  readonly beforeBody?: (request: FastifyRequest, known: Pick<Admitted, 'caller' | 'now'>) => Promise<Release>
}

const nothingReserved: Release = () => {}

/** The person whose teams decide which customers the answer may show. Admins, owners and service tokens see all. */
function viewerOf(caller: Admitted['caller']): TeamViewer | null {
  return caller.kind === 'dashboard' && !roleAtLeast(caller.role, 'admin') ? { userId: caller.userId } : null
}

/**
 * The checks of one route that need no body, in this order: duplicate headers, caller, tenant limit, scope or role, the
 * route's own `refuse`, encoding, type and declared size of the body, the route's own `beforeBody`.
 */
export class Admission {
  readonly #endpoint: Endpoint
  readonly #parts: Parts
  readonly #gates: Gates
  readonly #own: OwnChecks
  readonly #bytesMax: number
  readonly #isLimited: boolean

  constructor(endpoint: Endpoint, parts: Parts, gates: Gates, own: OwnChecks = {}) {
    this.#endpoint = endpoint
    this.#parts = parts
    this.#gates = gates
    this.#own = own
    this.#bytesMax = bodyBytesMaxOf(endpoint)
    this.#isLimited = underTenantLimit(endpoint)
  }

  /**
   * The route's first hook. Answers with the Problem of the first check that fails, before the body is read. A request whose
   * token and limit are known in memory is admitted at once; any other request waits for the database.
   */
  readonly admit: onRequestHookHandler = (request, reply, done) => {
    const { requestMs } = this.#parts.database.deadlines
    const admitted = this.#run(request, new RequestDeadline(requestMs), (deadline) =>
      this.#check(request, reply, deadline),
    )
    if (admitted instanceof Promise) admitted.then(() => done(), done)
    else done()
  }

  #check(request: FastifyRequest, reply: FastifyReply, deadline: RequestDeadline): NowOrLater<void> {
    const network = request.record?.network ?? callerNetwork(request.ip)
    const now = this.#parts.clock()
    refuseDuplicateHeaders(request)
    return andThen(this.#callerOf(request, reply, { now, network }), (caller) =>
      andThen(this.#takePermit(caller, reply), () => {
        refuseTooLittleRight(this.#endpoint, caller)
        this.#own.refuse?.(request)
        if (hasBody(request)) refuseUnreadableBody(this.#endpoint, request, this.#bytesMax)
        const end = this.#own.beforeBody?.(request, { caller, now }) ?? nothingReserved
        return andThen(end, (end) => {
          if (end !== nothingReserved) {
            if (reply.raw.closed) end()
            else reply.raw.once('close', end)
          }
          sendContinue(request, reply)
          request.admitted = { caller, now, network, deadline, end }
        })
      }),
    )
  }

  /** Takes one of the tenant's permits, if the endpoint has a limit. @throws Problem quota-exceeded */
  #takePermit(caller: Admitted['caller'], reply: FastifyReply): NowOrLater<void> {
    if (caller.kind === 'anyone' || !this.#isLimited) return
    const { tenantLimit } = this.#parts
    const permit = tenantLimit.admitNow(caller.tenant) ?? tenantLimit.admit(caller.tenant)
    return andThen(permit, (permit) => applyPermit(permit, reply))
  }

  admitted(request: FastifyRequest): Admitted {
    const found = request.admitted
    if (found === null) throw new Error('The request was not admitted.')
    return found
  }

  /** Runs work for an admitted request, within its deadline and its trace. */
  run<T>(request: FastifyRequest, work: () => NowOrLater<T>): NowOrLater<T> {
    return this.#run(request, this.admitted(request).deadline, work)
  }

  /**
   * Runs the work of a request whose body has arrived, and then releases what `beforeBody` reserved. Not before, even if the
   * caller hangs up, because the work still holds the body.
   */
  holding<T>(request: FastifyRequest, reply: FastifyReply, work: () => NowOrLater<T>): NowOrLater<T> {
    const { end } = this.admitted(request)
    return end === nothingReserved ? work() : holding(end, reply, work)
  }

  /**
   * Runs a request's work. A dashboard request waits for its brokerage's turn; the others are under the brokerage's rate limit.
   *
   * @throws BrokerageBusy
   */
  inTurn<T>(request: FastifyRequest, work: () => NowOrLater<T>): NowOrLater<T> {
    const { caller } = this.admitted(request)
    if (caller.kind === 'anyone' || this.#isLimited) return work()
    return this.run(request, () => this.#gates.share.run(this.#shareOf(caller), async () => work()))
  }

  /** Runs work that does not yield, such as writing an answer, and counts its time against the brokerage of a dashboard request. */
  charge<T>(request: FastifyRequest, work: () => T): T {
    const { caller } = this.admitted(request)
    return caller.kind === 'anyone' || this.#isLimited
      ? work()
      : this.#gates.share.charge(this.#shareOf(caller), work)
  }

  /** Runs the handler of an endpoint with the caller that was admitted. */
  handle(
    request: FastifyRequest,
    { endpoint, handler }: ServedEndpoint,
    sent: { readonly [Name in 'params' | 'query' | 'body' | 'signed' | 'gone']: unknown },
  ): NowOrLater<unknown> {
    const { caller, now, network } = this.admitted(request)
    // An agent's message is admitted once and may then call other endpoints, so check its rights for each.
    refuseTooLittleRight(endpoint, caller)
    const call: Omit<Call<Endpoint>, 'caller' | keyof typeof sent> & Record<string, unknown> = {
      ...sent,
      caller,
      now,
      network,
      requestId: request.id,
    }
    const answer = () =>
      this.run(request, () =>
        withViewer(viewerOf(caller), () => {
          const result = handler(call as never, this.#parts)
          // A CSV file is made later, while it is sent.
          if (endpoint.answerKind !== 'csv') return result
          return result.then((file) => ({
            ...(file as CsvFile),
            text: asCurrentViewer((file as CsvFile).text),
          }))
        }),
      )
    return caller.kind === 'anyone' ? answer() : onBehalfOf(this.#shareOf(caller), answer)
  }

  #shareOf({ tenant }: PersonCaller | ServiceCaller): TenantId {
    return this.#parts.database.shares.of(tenant)
  }

  #run<T>(
    request: FastifyRequest,
    deadline: RequestDeadline,
    work: (deadline: RequestDeadline) => NowOrLater<T>,
  ): NowOrLater<T> {
    const { traces } = this.#parts
    return traces.within(request.record?.span ?? null, () => withDeadline(deadline, () => work(deadline)))
  }

  #callerOf(
    request: FastifyRequest,
    reply: FastifyReply,
    { now, network }: { now: number; network: string },
  ): NowOrLater<Admitted['caller']> {
    const { kind } = this.#endpoint.who
    if (kind === 'anyone') return { kind } as const
    const { callers } = this.#gates
    const watch = this.#callerWatch(request, reply, { now, network })
    const refused = (error: unknown): never => {
      throw countedRefusal(error, network, this.#gates, this.#parts)
    }
    try {
      const caller =
        kind === 'service'
          ? callers.service(request.headers.authorization, now, network, watch)
          : callers.person(request, now, !this.#isLimited, watch)
      return caller instanceof Promise ? caller.catch(refused) : caller
    } catch (error) {
      return refused(error)
    }
  }

  /** Records what becomes known of the caller on the way: the tenant of a verified token, and an exhausted limit. */
  #callerWatch(
    request: FastifyRequest,
    reply: FastifyReply,
    { now, network }: { now: number; network: string },
  ): CallerWatch {
    const endpoint = this.#endpoint
    const { calls, tenantLimit } = this.#parts
    return {
      signedBy: (tenant, claims) => {
        const { record } = request
        if (record == null) return
        const { jti, user_id: userId } = claims
        record.signer = { tenant, userId, jti }
        if (endpoint.who.kind === 'service') reply.headers(expiryHeaders(claims, now))
        if (!this.#isLimited) return
        const { id: requestId, method } = request
        const url = request.raw.url ?? ''
        const call = calls.begin({ tenant, jti, endpoint, method, url, requestId, network, at: now })
        record.call = call
        // 'close' is the only event when the caller disconnects before the answer.
        reply.raw.once('close', () => {
          const { statusCode: status, headersSent: answered } = reply.raw
          call.end({ status, ms: Math.round(reply.elapsedTime * 10) / 10, answered })
        })
      },
      refuseSpent: (tenant) => {
        const refusal = this.#isLimited ? tenantLimit.refusedNow(tenant) : null
        if (refusal !== null) applyPermit(refusal, reply)
      },
    }
  }
}

/** Runs `work`, and then releases what was reserved. @throws Problem malformed-request if the caller has hung up */
async function holding<T>(end: () => void, reply: FastifyReply, work: () => NowOrLater<T>): Promise<T> {
  // Nobody waits for the answer, and the caller's next file may already have this file's place.
  if (reply.raw.closed) {
    throw problem('malformed-request', 'The connection was closed while the request arrived.')
  }
  reply.raw.off('close', end)
  try {
    return await work()
  } finally {
    end()
  }
}

/** @throws Problem quota-exceeded */
function applyPermit(permit: Permit, reply: FastifyReply): void {
  reply.headers(limitHeaders(permit))
  if (!permit.admitted) throw quotaExceeded(permit)
}

/**
 * Counts a rejected credential against the limit of its network, and returns the error to answer with. A valid token is
 * never rejected because of other callers in its network.
 */
function countedRefusal(
  error: unknown,
  network: string,
  { refusedLimit }: Pick<Gates, 'refusedLimit'>,
  { monotonic }: Pick<Parts, 'monotonic'>,
): unknown {
  if (!(error instanceof Problem) || error.status !== 401) return error
  if (refusedLimit.admit(network, monotonic()).admitted) return error
  return problem('too-many-attempts', 'Too many rejected requests from your network. Wait a second.', {
    headers: { 'Retry-After': '1' },
  })
}

/** Headers that two parties could read differently when repeated. Node silently uses the first. */
const singleHeaders = new Set(['authorization', 'content-type', 'content-length', 'host'])

function refuseDuplicateHeaders(request: FastifyRequest): void {
  const raw = request.raw.rawHeaders
  // With as many names as lines, no header was sent twice.
  if (Object.keys(request.raw.headers).length * 2 === raw.length) return
  const seen = new Set<string>()
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? ''
    if (!singleHeaders.has(name)) continue
    if (seen.has(name)) throw problem('duplicate-header', `The header ${raw[index]} was sent twice.`)
    seen.add(name)
  }
}

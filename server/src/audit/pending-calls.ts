import type { Endpoint } from '#contract/endpoint.ts'
import type { Problem, ProblemCode } from '#contract/errors.ts'
import type { TenantId } from '../database/session/index.ts'

/** Calls held per tenant until the next flush. The rate limit admits fewer between two flushes, so admitted calls always fit. */
const heldPerFlushMax = 50
/** The most of these that are refusals without a permit of the tenant, because such refusals can arrive by the thousand. */
const cheapRefusalsPerFlushMax = 40
/** Calls held over all tenants: about ten megabytes. */
const heldMax = 10_000

/** A request with a token that this service signed, whether it is admitted or refused. */
export interface BegunCall {
  readonly tenant: TenantId
  readonly jti: string
  readonly endpoint: Endpoint
  readonly method: string
  readonly url: string
  readonly requestId: string
  readonly network: string
  readonly at: number
  /** What the caller of an answered call should know. */
  readonly remark?: string
}

export interface CallAnswer {
  readonly status: number
  readonly ms: number
  readonly answered: boolean
}

/** A recorded call. Its row is built when it is written, because most calls of a flood are never written. */
export interface DraftCall {
  readonly call: BegunCall
  readonly problem: Problem | null
  readonly answer: CallAnswer
  /** Calls that were left out and are counted with this one. */
  notKept: number
}

interface TenantCalls {
  readonly calls: DraftCall[]
  cheapRefusals: number
}

const cheapRefusals: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'quota-exceeded',
  'too-many-attempts',
  'token-expired',
  'token-revoked',
  'token-invalid',
  'token-wrong-kind',
])

/** The calls that wait to be written, bounded per tenant and in total. */
export class PendingCalls {
  readonly #byTenant = new Map<TenantId, TenantCalls>()
  #held = 0

  get held(): number {
    return this.#held
  }

  get isEmpty(): boolean {
    return this.#byTenant.size === 0
  }

  /** Returns `left out` if the call is only counted with another call, and `lost` if there was no space for it at all. */
  add(call: BegunCall, problem: Problem | null, answer: CallAnswer): 'kept' | 'left out' | 'lost' {
    const ofTenant = this.#byTenant.get(call.tenant) ?? { calls: [], cheapRefusals: 0 }
    const { calls } = ofTenant
    const isCheap = problem !== null && cheapRefusals.has(problem.code)
    const last = calls.at(-1)
    const isFull =
      calls.length >= heldPerFlushMax || (isCheap && ofTenant.cheapRefusals >= cheapRefusalsPerFlushMax)
    if (last !== undefined && isFull) {
      // Count the new call with one that has the same problem, if any: calls that are left out are nearly always repetitions.
      const similar = calls.findLast((kept) => kept.problem?.code === problem?.code) ?? last
      similar.notKept++
      return 'left out'
    }
    if (this.#held >= heldMax) return 'lost'
    this.#held++
    calls.push({ call, problem, answer, notKept: 0 })
    if (isCheap) ofTenant.cheapRefusals++
    this.#byTenant.set(call.tenant, ofTenant)
    return 'kept'
  }

  /** Removes and returns the calls of the tenants that have waited longest. */
  take(tenantsMax: number): [TenantId, readonly DraftCall[]][] {
    const taken: [TenantId, readonly DraftCall[]][] = []
    for (const [tenant, { calls }] of this.#byTenant) {
      if (taken.length >= tenantsMax) break
      taken.push([tenant, calls])
      this.#byTenant.delete(tenant)
      this.#held -= calls.length
    }
    return taken
  }
}

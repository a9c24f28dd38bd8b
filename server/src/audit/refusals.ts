import type { AuditKind } from '#contract/audit-kinds.ts'
import type { Problem, ProblemCode } from '#contract/errors.ts'
import { type AuditEvent, appendAudit, signInOf } from '../database/queries/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import type { Log } from '../runtime/index.ts'
import { auditEvent } from './security-events.ts'

/** Where a request came from, and when. */
export interface CameFrom {
  readonly network: string
  readonly requestId: string
}

/** The owner of a token whose signature was verified, whether it is then accepted or not. */
export interface TokenOwner {
  readonly tenant: TenantId
  readonly userId: number
  readonly jti: string
}

/** Records refusals in the audit logs of brokerages, in the background. */
export interface Refusals {
  /** Counts a refusal for which the audit log has a kind. `signer`: the owner of the request's verified token. */
  refuse(signer: TokenOwner, why: Problem, from: CameFrom): void
  /** A sign-in of a known user with a wrong password. */
  signInFailed(tenant: TenantId, userId: number, doing: CameFrom & { readonly now: number }): void
  /** A sign-in for an account, known or unknown, that was refused without a check after too many failures. */
  backedOff(account: string, doing: CameFrom & { readonly now: number }): void
  /** Resolves when all rows that are due have been written. */
  settle(): Promise<void>
  drain(): Promise<void>
}

/** Refusals of one kind and brokerage within this time become one row. */
const rowEveryMs = 60_000
/** While refusals continue, each row covers twice the time of the one before, up to this maximum, because a script may retry for years. */
const rowEveryMsMax = 3_600_000
const lookEveryMs = 1_000
/** Rows that wait to be written, and kinds of refusals being counted: about ten megabytes at most. */
const waitingMax = 10_000

const kindOf: Partial<Record<ProblemCode, AuditKind>> = {
  'role-required': 'role-refused',
  'insufficient-scope': 'scope-refused',
  csrf: 'csrf-refused',
  'sign-in-failed': 'sign-in-failed',
  'signature-missing': 'signature-refused',
  'signature-malformed': 'signature-refused',
  'signature-mismatch': 'signature-refused',
  'timestamp-malformed': 'signature-refused',
  'timestamp-out-of-window': 'signature-refused',
  'token-expired': 'expired-token-used',
  'token-revoked': 'revoked-token-used',
  'token-wrong-kind': 'wrong-kind-token-used',
  'token-invalid': 'unknown-token-used',
}

/** Refusals of one kind: when the next row is due, and what has been counted for it. */
interface Counted {
  /** Null for an account whose brokerage has not been looked up. */
  readonly tenant: TenantId | null
  rowAt: number
  everyMs: number
  first: AuditEvent | null
  count: number
}

interface RefusalParts {
  readonly database: Database
  readonly clock: () => number
  readonly log: Log
}

/**
 * Writes refusals to the audit logs of the brokerages that they concern. It works in the background, so that the time of
 * an answer does not reveal whether an email address is known. The first refusal of a kind is written at once. Those of
 * the next minute are counted and written as one row at its end, or when the service stops. While refusals continue, the
 * next rows follow after two minutes, then four, and finally once an hour.
 */
export function refusals(parts: RefusalParts): Refusals {
  return new CountedRefusals(parts)
}

class CountedRefusals implements Refusals {
  readonly #parts: RefusalParts
  readonly #counting = new Map<string, Counted>()
  readonly #timer: NodeJS.Timeout
  #writing: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(parts: RefusalParts) {
    this.#parts = parts
    this.#timer = setInterval(() => this.#writeAllDue(), lookEveryMs)
    this.#timer.unref()
  }

  refuse({ tenant, userId, jti }: TokenOwner, why: Problem, from: CameFrom): void {
    const kind = kindOf[why.code]
    if (kind === undefined) return
    const subject = kind === 'sign-in-failed' ? userId : null
    const about = { problem: why.code }
    const event = auditEvent(userId, { ...from, now: this.#parts.clock() }, kind, { subject, about })
    this.#count(tenant, '', { ...event, jti })
  }

  signInFailed(tenant: TenantId, userId: number, doing: CameFrom & { readonly now: number }): void {
    this.#queue(tenant, '', auditEvent(null, doing, 'sign-in-failed', { subject: userId }))
  }

  backedOff(account: string, doing: CameFrom & { readonly now: number }): void {
    this.#count(null, account, auditEvent(null, doing, 'sign-in-backed-off'))
  }

  async settle(): Promise<void> {
    this.#writeAllDue()
    await this.#writing
  }

  async drain(): Promise<void> {
    clearInterval(this.#timer)
    for (const [key, counted] of [...this.#counting]) this.#writeCounted(key, counted)
    await this.#writing
  }

  #count(tenant: TenantId | null, account: string, event: AuditEvent): void {
    const key = `${tenant ?? account} ${event.kind}`
    const now = this.#parts.clock()
    let known = this.#counting.get(key)
    if (known !== undefined && !isCounting(known, now)) {
      this.#writeCounted(key, known)
      known = this.#counting.get(key)
    }
    if (known !== undefined) {
      known.first ??= event
      known.count++
      return
    }
    if (this.#counting.size >= waitingMax) {
      this.#warnFull({ tenant_id: tenant, kind: event.kind })
      return
    }
    this.#counting.set(key, { tenant, rowAt: now + rowEveryMs, everyMs: rowEveryMs, first: null, count: 0 })
    this.#queue(tenant, account, event)
  }

  #writeAllDue(): void {
    const now = this.#parts.clock()
    for (const [key, counted] of [...this.#counting]) {
      if (!isCounting(counted, now)) this.#writeCounted(key, counted)
    }
  }

  /** Writes the counted refusals as one row, and starts the next interval. A kind without new refusals is dropped. */
  #writeCounted(key: string, { tenant, everyMs, first, count }: Counted): void {
    this.#counting.delete(key)
    if (first === null) return
    this.#queue(tenant, key.slice(0, key.lastIndexOf(' ')), { ...first, count })
    const next = Math.min(everyMs * 2, rowEveryMsMax)
    const rowAt = this.#parts.clock() + next
    this.#counting.set(key, { tenant, rowAt, everyMs: next, first: null, count: 0 })
  }

  #queue(tenant: TenantId | null, account: string, event: AuditEvent): void {
    if (this.#waiting >= waitingMax) {
      this.#warnFull({ tenant_id: tenant, kind: event.kind, count: event.count })
      return
    }
    this.#waiting++
    // Write rows sequentially: refusals use one connection, and the others are for requests.
    this.#writing = this.#writing.then(async () => {
      await this.#write(tenant, account, event)
      this.#waiting--
    })
  }

  async #write(tenant: TenantId | null, account: string, event: AuditEvent): Promise<void> {
    const { database, log } = this.#parts
    const { kind, count } = event
    try {
      const owner =
        tenant === null ? await signInOf(database, account) : { tenant, userId: event.subjectUserId }
      // An unknown email address belongs to no brokerage. The attempt is in the request log.
      if (owner === null) return
      await database.inTenant(owner.tenant, (transaction) =>
        appendAudit(transaction, owner.tenant, { ...event, subjectUserId: owner.userId }),
      )
    } catch (error) {
      log.warn(
        { err: error, tenant_id: tenant, kind, count },
        'a refusal could not be written to the audit log',
      )
    }
  }

  #warnFull(fields: object): void {
    this.#parts.log.warn(fields, 'a refusal was left out of the audit log: too many are waiting')
  }
}

/** Whether the interval of a row is still running. A clock that was set back ends it. */
function isCounting({ rowAt, everyMs }: Counted, now: number): boolean {
  return now < rowAt && now >= rowAt - everyMs
}

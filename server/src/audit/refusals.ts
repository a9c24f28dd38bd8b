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

/** Notes refusals in the audit logs of the brokerages they concern, behind the requests. */
export interface Refusals {
  /** Notes whose token a request came with, once its signature has held. */
  signedBy(request: object, signer: { tenant: TenantId; userId: number; jti: string }): void
  /** Counts a refusal that the audit log has a kind for; nothing for a request of which nobody knows whose it is. */
  refuse(request: object, why: Problem, from: CameFrom): void
  /** A sign-in of somebody who is known, with a password that does not fit. */
  signInFailed(tenant: TenantId, userId: number, doing: CameFrom & { readonly now: number }): void
  /** An attempt on an account, known or not, that was not looked at because too many before it failed. */
  backedOff(account: string, doing: CameFrom & { readonly now: number }): void
  /** Resolves when all that is due has been written. */
  settle(): Promise<void>
  drain(): Promise<void>
}

/** Refusals of a brokerage that are of one kind within this time are one row. */
const rowEveryMs = 60_000
/** While they go on, each row stands for twice the time of the one before, up to this: a machine may try for years. */
const rowEveryMsMax = 3_600_000
const lookEveryMs = 1_000
/** Accounts that wait to be looked up, and kinds of refusal that are being counted: some ten megabytes at most. */
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

/** Refusals of one kind: when the next row may be written, and what has been counted for it. */
interface Counted {
  /** Null for an account, of which nobody has looked up yet whose it is. */
  readonly tenant: TenantId | null
  rowAt: number
  everyMs: number
  first: AuditEvent | null
  count: number
}

/**
 * Writes refusals into the audit logs of the brokerages they concern, behind the requests: nobody can tell from the time
 * of an answer whether an address is known, and a flood of refusals is few rows. The first of a kind is written at
 * once; what follows within a minute is counted, and written as one row at its end or when the service stops. While they
 * go on, the next row comes after two minutes, then after four, and at last once an hour.
 */
export function refusals({
  database,
  clock,
  log,
}: {
  database: Database
  clock: () => number
  log: Log
}): Refusals {
  const signers = new WeakMap<object, { tenant: TenantId; userId: number; jti: string }>()
  const counting = new Map<string, Counted>()
  let writing: Promise<void> = Promise.resolve()
  let waiting = 0

  async function write(tenant: TenantId | null, account: string, event: AuditEvent): Promise<void> {
    const { kind, count } = event
    try {
      const owner =
        tenant === null ? await signInOf(database, account) : { tenant, userId: event.subjectUserId }
      // An address that nobody has belongs to no brokerage: that somebody tried it is in the log of requests.
      if (owner === null) return
      await database.inTenant(owner.tenant, (transaction) =>
        appendAudit(transaction, owner.tenant, { ...event, subjectUserId: owner.userId }),
      )
    } catch (error) {
      log.warn(
        { err: error, tenant_id: tenant, kind, count },
        'a refusal could not be written into the audit log',
      )
    }
  }

  function queue(tenant: TenantId | null, account: string, event: AuditEvent): void {
    if (waiting >= waitingMax) {
      log.warn(
        { tenant_id: tenant, kind: event.kind, count: event.count },
        'a refusal found no place in the audit log',
      )
      return
    }
    waiting++
    // One after the other: refusals take one connection, and the others are for requests.
    writing = writing.then(async () => {
      await write(tenant, account, event)
      waiting--
    })
  }

  function count(tenant: TenantId | null, account: string, event: AuditEvent): void {
    const key = `${tenant ?? account} ${event.kind}`
    const now = clock()
    let known = counting.get(key)
    if (known !== undefined && !isCounting(known, now)) {
      writeDue(key, known)
      known = counting.get(key)
    }
    if (known !== undefined) {
      known.first ??= event
      known.count++
      return
    }
    if (counting.size >= waitingMax) {
      log.warn({ tenant_id: tenant, kind: event.kind }, 'a refusal found no place in the audit log')
      return
    }
    counting.set(key, { tenant, rowAt: now + rowEveryMs, everyMs: rowEveryMs, first: null, count: 0 })
    queue(tenant, account, event)
  }

  /** A clock that was set back keeps no row waiting. */
  const isCounting = ({ rowAt, everyMs }: Counted, now: number) => now < rowAt && now >= rowAt - everyMs

  /** Writes what was counted, and counts on; a kind of which nothing came is forgotten. */
  function writeDue(key: string, { tenant, everyMs, first, count: times }: Counted): void {
    counting.delete(key)
    if (first === null) return
    queue(tenant, key.slice(0, key.lastIndexOf(' ')), { ...first, count: times })
    const next = Math.min(everyMs * 2, rowEveryMsMax)
    counting.set(key, { tenant, rowAt: clock() + next, everyMs: next, first: null, count: 0 })
  }

  function writeAllDue(): void {
    const now = clock()
    for (const [key, counted] of [...counting]) if (!isCounting(counted, now)) writeDue(key, counted)
  }

  async function settle(): Promise<void> {
    writeAllDue()
    await writing
  }

  const timer = setInterval(writeAllDue, lookEveryMs)
  timer.unref()

  return {
    signedBy(request, signer) {
      signers.set(request, signer)
    },
    refuse(request: object, why: Problem, from) {
      const signer = signers.get(request)
      const kind = kindOf[why.code]
      if (signer === undefined || kind === undefined) return
      const { tenant, userId, jti } = signer
      const subject = kind === 'sign-in-failed' ? userId : null
      const about = { problem: why.code }
      const event = auditEvent(userId, { ...from, now: clock() }, kind, { subject, about })
      count(tenant, '', { ...event, jti })
    },
    signInFailed(tenant, userId, doing) {
      queue(tenant, '', auditEvent(null, doing, 'sign-in-failed', { subject: userId }))
    },
    backedOff(account, doing) {
      count(null, account, auditEvent(null, doing, 'sign-in-backed-off'))
    },
    settle,
    async drain() {
      clearInterval(timer)
      for (const [key, counted] of [...counting]) writeDue(key, counted)
      await writing
    },
  }
}

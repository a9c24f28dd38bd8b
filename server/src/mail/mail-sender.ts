import { setTimeout as delay } from 'node:timers/promises'
import { roleAtLeast } from '#contract/endpoint.ts'
import { isEmail } from '#contract/fields.ts'
import { mailSecondsMax } from '#contract/limits.ts'
import type { Config } from '../configuration/index.ts'
import {
  approvals,
  type ClaimedMail,
  claimMail,
  findMailServer,
  type MailResult,
  readVersions,
  settleMail,
  teams,
  tenantsWithDueMail,
} from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import { type Database, runInBackground, type TenantId, withViewer } from '../database/session/index.ts'
import { delayAfter } from '../events/index.ts'
import type { Log } from '../runtime/index.ts'
import { allowedPrivate, type SecretKeys } from '../security/index.ts'
import { mailLateApprovals } from './approval-mails.ts'
import { openMailServer } from './mail-servers.ts'
import { type Handed, handOver, type MailServer, oneLine } from './smtp.ts'

const lookEveryMs = 1_000
/** How often requests for approval that wait for too long are looked for: they are told within a minute. */
const lateEveryMs = 10_000
/** Longer than an attempt and the writes of its result can take. */
const leaseSeconds = mailSecondsMax + 60
/** How often the result of an attempt is written until the database takes it: within the lease. */
const settleTriesMax = 10
const settleAgainMs = 1_000
/** Brokerages that are sent for concurrently. Each has one connection. */
const tenantsAtOnceMax = 8
/** Mails of one brokerage before others get the place, and how long it keeps the place if its server is slow. */
const roundsMax = 20
const placeMs = 5_000
/** While a server is away, each attempt costs a mail one of its tries, so fewer are made: the first and the longest pause. */
const holdMs = 2_000
const holdMsMax = 30_000
/** On shutdown: how long running attempts may take before they are aborted. */
const drainMs = 5_000

interface MailSender {
  /** Starts no more attempts, and gives running ones a few seconds to finish. */
  drain(): Promise<void>
}

interface SenderParts {
  readonly config: Pick<Config, 'mail'>
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly clock: () => number
  readonly log: Log
}

interface SenderOptions {
  readonly everyMs?: number
  readonly lateEveryMs?: number
  /** The first pause after an attempt at a server that is away. */
  readonly holdMs?: number
  /** How long a brokerage keeps its place while others wait for one. */
  readonly placeMs?: number
  readonly handOver?: typeof handOver
}

/** Makes the sender of mail; null if there can be no mail server. */
export function mailSender(parts: SenderParts, options: SenderOptions = {}): MailSender | null {
  const { operators, byBrokerage } = parts.config.mail
  return operators === null && !byBrokerage ? null : new Postman(parts, options)
}

/**
 * The state of a mail after an attempt.
 *
 * @param random from 0 up to 1: spreads retries
 */
export function resultOf(attempt: number, handed: Handed, random: number): MailResult {
  if (handed.kind === 'accepted') return { state: 'sent' }
  const retrySeconds = handed.kind === 'refused' ? null : delayAfter(attempt, random)
  return retrySeconds === null
    ? { state: 'failed', failure: handed.reason }
    : { state: 'due', failure: handed.reason, retrySeconds }
}

/** A claimed mail with the server for it; no mail: it was not to be sent any more. */
interface Claimed {
  readonly mail: ClaimedMail | null
  readonly server: MailServer | string
}

/**
 * Sends the mails of the outbox, of all brokerages. Several instances share the work: each leases one mail at a time for a
 * brokerage, and a mail that a crash left unsettled becomes due again, with the same Message-ID.
 */
class Postman implements MailSender {
  readonly #parts: SenderParts
  readonly #everyMs: number
  readonly #holdMs: number
  readonly #placeMs: number
  readonly #lateEveryMs: number
  #lateAt = Number.NEGATIVE_INFINITY
  readonly #handOver: typeof handOver
  readonly #allowed: ReturnType<typeof allowedPrivate>
  readonly #sending = new Map<TenantId, Promise<void>>()
  /** The number of the last start for each brokerage: who started longest ago is next. */
  readonly #lastStarts = new Map<TenantId, number>()
  #starts = 0
  /** Brokerages whose server was away: how often in a row, and until when it is left alone. */
  readonly #held = new Map<TenantId, { readonly failures: number; readonly until: number }>()
  readonly #cutOff = new AbortController()
  #isStopping = false
  #isDatabaseDown = false
  #timer: NodeJS.Timeout | undefined
  #looking = Promise.resolve()

  constructor(parts: SenderParts, options: SenderOptions) {
    this.#parts = parts
    this.#everyMs = options.everyMs ?? lookEveryMs
    this.#lateEveryMs = options.lateEveryMs ?? lateEveryMs
    this.#holdMs = options.holdMs ?? holdMs
    this.#placeMs = options.placeMs ?? placeMs
    this.#handOver = options.handOver ?? handOver
    this.#allowed = allowedPrivate(parts.config.mail.allowPrivate)
    this.#schedule()
  }

  async drain(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    const deadline = setTimeout(() => this.#cutOff.abort(), drainMs)
    await this.#looking
    await Promise.all(this.#sending.values())
    clearTimeout(deadline)
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        if (!this.#isStopping) this.#schedule()
      })
    }, this.#everyMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const { database, log } = this.#parts
    try {
      const due = await runInBackground(() => database.acrossTenants(tenantsWithDueMail))
      const startOf = (tenant: TenantId) => this.#lastStarts.get(tenant) ?? 0
      for (const tenant of due.toSorted((one, other) => startOf(one) - startOf(other))) this.#begin(tenant)
      await this.#tellLate()
      this.#isDatabaseDown = false
    } catch (error) {
      // Logged once per outage, because every look fails during one.
      if (!this.#isDatabaseDown) log.warn({ err: error }, 'could not read the queue of mail')
      this.#isDatabaseDown = true
    }
  }

  async #tellLate(): Promise<void> {
    if (performance.now() - this.#lateAt < this.#lateEveryMs) return
    this.#lateAt = performance.now()
    const { database, config } = this.#parts
    const tenants = await runInBackground(() => database.acrossTenants(approvals.tenantsWithWaitingApprovals))
    for (const tenant of tenants) {
      if (this.#isStopping) return
      await runInBackground(() =>
        database.inTenant(tenant, (transaction) => mailLateApprovals(transaction, tenant, { config })),
      )
    }
  }

  #begin(tenant: TenantId): void {
    const isHeld = (this.#held.get(tenant)?.until ?? 0) > performance.now()
    if (this.#isStopping || isHeld || this.#sending.has(tenant) || this.#sending.size >= tenantsAtOnceMax)
      return
    const work = this.#sendFor(tenant)
      .catch((error: unknown) => this.#parts.log.warn({ err: error, tenant_id: tenant }, 'mail was not sent'))
      .finally(() => this.#sending.delete(tenant))
    this.#lastStarts.set(tenant, ++this.#starts)
    this.#sending.set(tenant, work)
  }

  /** Sends for one brokerage until nothing is due, its server is away, or others need the place. */
  async #sendFor(tenant: TenantId): Promise<void> {
    const until = performance.now() + this.#placeMs
    const mustYield = (round: number) =>
      this.#sending.size >= tenantsAtOnceMax && (round >= roundsMax || performance.now() >= until)
    // The first mail is sent in any case, so that each place sends one.
    for (let round = 0; !this.#isStopping && !(round > 0 && mustYield(round)); round++) {
      const claimed = await runInBackground(() =>
        this.#parts.database.inTenant(tenant, (transaction) => this.#claim(transaction, tenant)),
      )
      if (claimed === null) return
      if (claimed.mail === null) continue
      const handed = await this.#send(claimed.mail, claimed.server)
      await this.#settle(tenant, claimed.mail, resultOf(claimed.mail.attempts, handed, Math.random()))
      const isAway = handed.kind === 'later' && handed.isAway
      if (!isAway) {
        this.#held.delete(tenant)
        continue
      }
      const failures = (this.#held.get(tenant)?.failures ?? 0) + 1
      const pauseMs = Math.min(this.#holdMs * 2 ** (failures - 1), holdMsMax)
      this.#held.set(tenant, { failures, until: performance.now() + pauseMs })
      this.#parts.log.warn({ tenant_id: tenant, reason: handed.reason }, 'a mail server accepted nothing')
      return
    }
  }

  /** Claims the next mail, and decides whether its recipient may still be told. Null if none is due. */
  async #claim(transaction: TenantTransaction, tenant: TenantId): Promise<Claimed | null> {
    const mail = await claimMail(transaction, tenant, leaseSeconds)
    if (mail === null) return null
    const failure = await whyNot(transaction, tenant, mail, this.#parts.clock())
    if (failure !== null) {
      await settleMail(transaction, tenant, mail, { state: 'dropped', failure })
      return { mail: null, server: failure }
    }
    const { config, secretKeys } = this.#parts
    const own = await findMailServer(transaction, tenant)
    if (own !== null && config.mail.byBrokerage) {
      const server = openMailServer(secretKeys, own)
      return { mail, server: server ?? 'The password cannot be decrypted. Set the mail server again.' }
    }
    const { operators } = config.mail
    return {
      mail,
      server: operators === null ? 'No mail server is set.' : { ...operators, isOperators: true },
    }
  }

  async #send(mail: ClaimedMail, server: MailServer | string): Promise<Handed> {
    if (typeof server === 'string') return { kind: 'later', reason: server, isAway: true }
    const domain = server.from.slice(server.from.indexOf('@') + 1)
    const letter = {
      to:
        mail.to_address === null
          ? { name: oneLine(mail.name), address: mail.email }
          : { name: oneLine(mail.to_name ?? ''), address: mail.to_address },
      subject: mail.subject,
      text: mail.body,
      html: mail.html,
      picture: mail.picture,
      // The same for each attempt, so that a receiver recognizes a message that came before.
      messageId: `${mail.mail_id}@${domain}`,
      date: mail.created_at,
      ...(mail.to_address === null
        ? {}
        : {
            answer: { by: oneLine(mail.name), replyTo: mail.reply_to ?? [], inReplyTo: mail.in_reply_to },
          }),
    }
    return this.#handOver(server, letter, {
      allowed: this.#allowed,
      attempt: mail.attempts,
      stop: this.#cutOff.signal,
    })
  }

  /** A result that is not written would be sent again after the lease, so writing is tried for as long as the lease holds. */
  async #settle(tenant: TenantId, mail: ClaimedMail, result: MailResult): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await runInBackground(() =>
          this.#parts.database.inTenant(tenant, (transaction) =>
            settleMail(transaction, tenant, mail, result),
          ),
        )
        return
      } catch (error) {
        if (tries === settleTriesMax) throw error
        await delay(settleAgainMs)
      }
    }
  }
}

/** Why a mail is not sent any more, in words; null if it is. */
async function whyNot(
  transaction: TenantTransaction,
  tenant: TenantId,
  mail: ClaimedMail,
  now: number,
): Promise<string | null> {
  if (mail.status !== 'active') return 'The person is not in the brokerage any more.'
  if (!isEmail(mail.email)) return 'The person has no address that mail can be sent to.'
  if (mail.needs_role === 'admin' && mail.role !== 'admin' && mail.role !== 'owner') {
    return 'The person may not decide this any more.'
  }
  if (mail.ends_at.getTime() <= now) return 'It was not sent in time.'
  const { customer_name: customer, access_version: version } = mail
  if (roleAtLeast(mail.role as 'owner', 'admin')) return null
  if (version !== null && (await readVersions(transaction, tenant)).access !== version) {
    return 'What the person may see may have changed since it was written.'
  }
  if (customer === null) return null
  const isHidden = await withViewer({ userId: mail.user_id }, () =>
    teams.isHiddenCustomer(transaction, tenant, customer),
  )
  return isHidden ? 'The person does not see the customer any more.' : null
}

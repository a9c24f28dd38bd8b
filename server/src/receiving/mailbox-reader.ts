import { receivedBytesMax, receivedMailsKeptDays } from '#contract/limits.ts'
import type { Config } from '../configuration/index.ts'
import { mailboxes, people, receivedMails } from '../database/queries/index.ts'
import type { MailboxRow } from '../database/schema/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import { concurrencyLimit, type Log } from '../runtime/index.ts'
import { allowedPrivate, type SecretKeys } from '../security/index.ts'
import { MailboxFailed, type OpenMailbox, openMailbox } from './imap-mailbox.ts'
import { readReceived, storeReceived } from './read-received.ts'
import { parsed, readableMail, type StoredMail, unreadMail } from './received-mail.ts'
import { openSealedMailbox } from './sealed-mailbox.ts'
import { senderCheck } from './sender-check.ts'

const lookEveryMs = 2_000
/** How often texts are looked for that were kept for long enough. */
const pruneEveryMs = 600_000
/** Longer than the reading of a mail takes; another process opens the mailbox so long after this one was killed. */
const leaseSeconds = 90
/** A mail is found at once where the server tells of it (IDLE), and within this time in any case. */
const waitMs = 25_000
/** Mailboxes that one process reads: each has a connection. */
const mailboxesMax = 200
/** Mails that are fetched and parsed at once, which bounds the memory. */
const mailsAtOnce = 2
/** A mail is given up if the process ended so often while it read it. */
const triesMax = 5
/** The pauses after failures, in seconds. Servers lock an account after some wrong passwords, so these are longer. */
const pauses = [2, 10, 30, 60, 300] as const
const refusedPauses = [600, 3_600, 21_600] as const
/** A mail that came before the mailbox was set is not read, also if the server numbers its mails anew. Clocks differ. */
const clocksDifferMs = 3_600_000
const dayMs = 86_400_000
const prunedAtOnce = 500

interface ReaderParts {
  readonly config: Pick<Config, 'mailboxes'>
  readonly database: Database
  readonly secretKeys: SecretKeys
  readonly clock: () => number
  readonly log: Log
}

interface ReaderOptions {
  /** How often to look for mailboxes to open; null: never. */
  readonly everyMs?: number | null
  readonly waitMs?: number
  readonly leaseSeconds?: number
  readonly pauses?: readonly number[]
  readonly open?: typeof openMailbox
  /** Called when a mail was fetched, before it is stored. */
  readonly onFetched?: (uid: number) => Promise<void>
}

/** A mailbox that this process reads. */
interface Held {
  readonly tenant: TenantId
  readonly row: MailboxRow
  readonly lease: string
  /** How far it was read. */
  uidValidity: number
  lastUid: number
}

/** Another process reads the mailbox by now, or its settings were changed. */
class LeaseLost extends Error {}

/**
 * Reads the mailboxes of all brokerages. Several instances share the work: each mailbox is held by one process, under a lease. What was
 * read, and how far, is stored in one transaction, so that each mail is stored once.
 */
export function mailboxReader(parts: ReaderParts, options: ReaderOptions = {}) {
  return new MailboxReader(parts, options)
}

class MailboxReader {
  readonly #parts: ReaderParts
  readonly #options: ReaderOptions
  readonly #allowed: ReturnType<typeof allowedPrivate>
  readonly #reading = new Map<TenantId, Promise<void>>()
  readonly #open = new Set<OpenMailbox>()
  readonly #oneOf = concurrencyLimit<'mail'>(mailsAtOnce)
  #isStopping = false
  #isDatabaseDown = false
  #prunedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(parts: ReaderParts, options: ReaderOptions) {
    this.#parts = parts
    this.#options = options
    this.#allowed = allowedPrivate(parts.config.mailboxes?.allowPrivate ?? [])
    this.#schedule()
  }

  /** Stops after the mails that are being read, and gives the mailboxes to other processes. */
  async drain(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#timer)
    await this.#looking
    for (const mailbox of this.#open) mailbox.stopWaiting()
    await Promise.all(this.#reading.values())
  }

  #schedule(): void {
    const everyMs = this.#options.everyMs === undefined ? lookEveryMs : this.#options.everyMs
    if (everyMs === null) return
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        if (!this.#isStopping) this.#schedule()
      })
    }, everyMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const { database, log, config, clock } = this.#parts
    try {
      if (config.mailboxes !== null) {
        const due = await runInBackground(() => database.acrossTenants(mailboxes.tenantsWithDueMailboxes))
        for (const tenant of due) this.#begin(tenant)
      }
      if (clock() - this.#prunedAt >= pruneEveryMs) {
        this.#prunedAt = clock()
        await this.pruneNow()
      }
      this.#isDatabaseDown = false
    } catch (error) {
      // Logged once per outage, because every look fails during one.
      if (!this.#isDatabaseDown) log.warn({ err: error }, 'could not look for mailboxes')
      this.#isDatabaseDown = true
    }
  }

  /** Deletes texts and mails that were kept for long enough. */
  async pruneNow(): Promise<void> {
    const { database, clock } = this.#parts
    const now = new Date(clock())
    const oldest = new Date(clock() - receivedMailsKeptDays * dayMs)
    const tenants = await runInBackground(() =>
      database.acrossTenants((transaction) =>
        receivedMails.tenantsWithEndedTexts(transaction, { now, oldest }),
      ),
    )
    for (const tenant of tenants) {
      for (let count = prunedAtOnce; count >= prunedAtOnce && !this.#isStopping; ) {
        count = await runInBackground(() =>
          database.inTenant(tenant, (transaction) =>
            receivedMails.deleteEndedTexts(transaction, tenant, { now, oldest, limit: prunedAtOnce }),
          ),
        )
      }
    }
  }

  #begin(tenant: TenantId): void {
    if (this.#isStopping || this.#reading.has(tenant) || this.#reading.size >= mailboxesMax) return
    const work = runInBackground(() => this.#readFor(tenant))
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error, tenant_id: tenant }, 'the reading of a mailbox was interrupted'),
      )
      .finally(() => this.#reading.delete(tenant))
    this.#reading.set(tenant, work)
  }

  async #readFor(tenant: TenantId): Promise<void> {
    const { database, secretKeys, log } = this.#parts
    const seconds = this.#options.leaseSeconds ?? leaseSeconds
    const row = await database.inTenant(tenant, (transaction) =>
      mailboxes.claimMailbox(transaction, tenant, seconds),
    )
    if (row === null) return
    const lease = row.lease_id
    const access = openSealedMailbox(secretKeys, row)
    let inbox: OpenMailbox | null = null
    try {
      if (access === null) {
        throw new MailboxFailed('The password cannot be decrypted. Set the mailbox again.', true)
      }
      const open = this.#options.open ?? openMailbox
      inbox = await open(access, { allowed: this.#allowed, attempt: row.failures + 1 })
      this.#open.add(inbox)
      const held = await this.#position(tenant, row, inbox, lease)
      await this.#readOn(held, inbox)
      await this.#leave(tenant, lease, { seconds: 0, progress: {} })
    } catch (error) {
      if (error instanceof LeaseLost) return
      if (!(error instanceof MailboxFailed)) throw error
      log.warn({ tenant_id: tenant, reason: error.message }, 'a mailbox could not be read')
      await this.#fail(tenant, lease, error)
    } finally {
      if (inbox !== null) this.#open.delete(inbox)
      inbox?.close()
    }
  }

  /** Where to read on. A mailbox that was never opened begins now; one whose mails have new numbers, where it was left. */
  async #position(tenant: TenantId, row: MailboxRow, inbox: OpenMailbox, lease: string): Promise<Held> {
    const { uid_validity: known, last_uid: last } = row
    const isKnown = known === inbox.uidValidity && last !== null
    let lastUid = isKnown ? last : inbox.uidNext - 1
    if (!isKnown && known !== null) {
      const since = (row.read_at ?? row.set_at).getTime() - dayMs
      const [first] = await inbox.uidsSince(new Date(since))
      if (first !== undefined) lastUid = first - 1
    }
    const held = { tenant, row, lease, uidValidity: inbox.uidValidity, lastUid }
    const progress = { uid_validity: held.uidValidity, last_uid: lastUid }
    await this.#hold(held, isKnown ? {} : { ...progress, trying_uid: null, tries: 0 })
    return held
  }

  /** Reads what arrives until the connection ends, the lease is lost, or the service stops. */
  async #readOn(held: Held, inbox: OpenMailbox): Promise<void> {
    let tried = { uid: held.row.trying_uid, tries: held.row.tries }
    while (!this.#isStopping) {
      for (const uid of await inbox.uidsAfter(held.lastUid)) {
        if (this.#isStopping) return
        const tries = tried.uid === uid ? tried.tries : 0
        await this.#oneOf('mail', () => this.#readOne(held, inbox, { uid, tries }))
        tried = { uid: null, tries: 0 }
      }
      await this.#hold(held, {
        read_at: new Date(this.#parts.clock()),
        failures: 0,
        failing_since: null,
        is_refused: false,
        failure: null,
      })
      if (!inbox.isOpen()) throw new MailboxFailed('The connection was closed.')
      if (!this.#isStopping) await inbox.wait(this.#options.waitMs ?? waitMs)
    }
  }

  async #readOne(
    held: Held,
    inbox: OpenMailbox,
    { uid, tries }: { readonly uid: number; readonly tries: number },
  ): Promise<void> {
    await this.#hold(held, { trying_uid: uid, tries: tries + 1 })
    try {
      const mail = await this.#mailOf(held, inbox, { uid, isGivenUp: tries >= triesMax })
      await this.#options.onFetched?.(uid)
      await this.#store(held, uid, mail)
    } catch (error) {
      // What counts is how often the process ended, not the connection.
      if (error instanceof MailboxFailed) await this.#hold(held, { tries })
      throw error
    }
    held.lastUid = uid
  }

  /** Null for a mail that is gone, or came before the mailbox was set. */
  async #mailOf(
    { row }: Held,
    inbox: OpenMailbox,
    { uid, isGivenUp }: { readonly uid: number; readonly isGivenUp: boolean },
  ): Promise<StoredMail | null> {
    const found = await inbox.head(uid)
    if (found === null) return null
    const isDated = Number.isFinite(found.receivedAt.getTime())
    const head = { ...found, receivedAt: isDated ? found.receivedAt : new Date(this.#parts.clock()) }
    if (head.receivedAt.getTime() < row.set_at.getTime() - clocksDifferMs) return null
    if (head.bytes > receivedBytesMax) return unreadMail(head, 'too-large')
    if (isGivenUp) return unreadMail(head, 'unreadable')
    const source = await inbox.source(uid)
    if (source === null) return unreadMail(head, 'too-large')
    const parsing = await parsed(source, null)
    if (parsing === null) return unreadMail(head, 'unreadable')
    const { mail } = parsing
    return readableMail(head, parsing, senderCheck(mail.headers, mail.from.address, row.checking_server))
  }

  /** Stores a mail, and that it was read, in one transaction. */
  async #store(held: Held, uid: number, mail: StoredMail | null): Promise<void> {
    const { database } = this.#parts
    const { tenant, row, uidValidity } = held
    const read = mail === null ? null : await readReceived(database, tenant, mail)
    const progress = { last_uid: uid, trying_uid: null, tries: 0 }
    await database.inTenant(tenant, async (transaction) => {
      await this.#holdIn(transaction, held, progress)
      if (mail === null) return
      const { mailbox_id, kept_days } = row
      const place = { mailbox_id, kept_days, uid_validity: uidValidity, uid }
      await storeReceived(transaction, tenant, mail, { place, read })
    })
  }

  /** @throws LeaseLost */
  async #hold(held: Held, progress: mailboxes.MailboxProgress): Promise<void> {
    await this.#parts.database.inTenant(held.tenant, async (transaction) => {
      const { status } = await people.tenantOfSession(transaction, held.tenant)
      // A suspended brokerage is not read for.
      if (status !== 'active') throw new LeaseLost()
      await this.#holdIn(transaction, held, progress)
    })
  }

  async #holdIn(
    transaction: Parameters<typeof mailboxes.holdMailbox>[0],
    { tenant, lease }: Held,
    progress: mailboxes.MailboxProgress,
  ): Promise<void> {
    const seconds = this.#options.leaseSeconds ?? leaseSeconds
    const asked = { lease, leaseSeconds: seconds, progress }
    // Thrown within the transaction, so that nothing of it is stored.
    if (!(await mailboxes.holdMailbox(transaction, tenant, asked))) throw new LeaseLost()
  }

  async #fail(tenant: TenantId, lease: string, { message, isRefused }: MailboxFailed): Promise<void> {
    const { database, clock } = this.#parts
    const row = await database.inTenant(tenant, (transaction) => mailboxes.findMailbox(transaction, tenant))
    if (row === null) return
    const steps = isRefused ? refusedPauses : (this.#options.pauses ?? pauses)
    const nth = isRefused && !row.is_refused ? 0 : row.failures
    const seconds = steps[Math.min(nth, steps.length - 1)] ?? 0
    await this.#leave(tenant, lease, {
      seconds,
      progress: {
        failures: nth + 1,
        failing_since: row.failing_since ?? new Date(clock()),
        is_refused: isRefused,
        failure: message,
      },
    })
  }

  async #leave(
    tenant: TenantId,
    lease: string,
    { seconds, progress }: { readonly seconds: number; readonly progress: mailboxes.MailboxProgress },
  ): Promise<void> {
    await this.#parts.database.inTenant(tenant, (transaction) =>
      mailboxes.leaveMailbox(transaction, tenant, { lease, pauseSeconds: seconds, progress }),
    )
  }
}

import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import {
  forwardedMailsPerMinuteMax,
  mailConnectionsPerNetworkMax,
  mailRecipientsMax,
  receivedBytesMax,
} from '#contract/limits.ts'
import type { Config } from '../configuration/index.ts'
import { mailAddresses, people } from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId } from '../database/session/index.ts'
import { concurrencyLimit, type Log } from '../runtime/index.ts'
import {
  callerNetwork,
  limitSockets,
  type RateLimit,
  sameBytes,
  slidingWindow,
  trustedProxies,
} from '../security/index.ts'
import { readMailAddress } from './mail-addresses.ts'
import { readReceived, storeReceived } from './read-received.ts'
import { parsed, readableMail, type StoredMail } from './received-mail.ts'

/** A port that takes mails over SMTP. */
export interface MailListener {
  readonly port: number
  /** Takes no more connections, and finishes the mails that are being stored. */
  close(): Promise<void>
}

interface ListenerParts {
  readonly config: Pick<Config, 'trustProxy'>
  readonly database: Database
  readonly clock: () => number
  readonly log: Log
}

const connectionsMax = 100
/** A connection that is silent for so long is closed, and each after `connectionMs`: senders connect again. */
const silenceMs = 60_000
const connectionMs = 10 * 60_000
/** How long the service waits at its end for mails that are being sent. */
const leavingMs = 2_000
/** Bytes of mails in memory, of all brokerages and of one. A slow sender holds few, so it keeps no place from others. */
const bytesHeldMax = 8 * receivedBytesMax
const bytesHeldPerTenantMax = 2 * receivedBytesMax
/** Mails of one brokerage that are being sent. */
const mailsPerTenantMax = 10
/** How long a sender may take for one mail. */
const messageMs = 120_000
/** Mails that are parsed at once, as of the reader of mailboxes. */
const mailsAtOnce = 2
/** Unknown addresses that a network names in a minute before its connections are closed. */
const wrongAddressesMax = 30
/** A connection that names no address of a brokerage for so long is closed. */
const strangerMs = 30_000
const minuteMs = 60_000

/** An answer of SMTP that refuses: for good (5xx), or so that the sender tries again (4xx). */
class Refused extends Error {
  readonly responseCode: number
  constructor(responseCode: number, text: string) {
    super(text)
    this.responseCode = responseCode
  }
}

const laterAgain = (why: string) => new Refused(451, `4.3.0 ${why} Try again later.`)
const unknownAddress = () => new Refused(550, '5.1.1 There is no such address here.')

/**
 * Takes mails that brokerages forward to their addresses. A mail is acknowledged when it is stored, and the same mail is stored once, so a
 * sender that got no answer sends it again without harm. It is no relay: other recipients are refused.
 */
export async function listenForMail(
  parts: ListenerParts,
  at: NonNullable<Config['mailAddresses']>,
  { mailsPerMinute = forwardedMailsPerMinuteMax }: { readonly mailsPerMinute?: number } = {},
): Promise<MailListener> {
  // Loaded only here: most installations have no addresses.
  const { SMTPServer } = await import('smtp-server')
  const connections = new Map<string, Open>()
  const openOf = ({ remoteAddress, remotePort }: SMTPServerSession) =>
    connections.get(nameOf(remoteAddress, remotePort))
  const taker = new MailTaker(parts, at, {
    mailsPerMinute,
    cut: (session) => openOf(session)?.socket.destroy(),
  })
  const server = new SMTPServer({
    name: at.domain,
    banner: 'Lanewise',
    disabledCommands: at.tls === null ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    ...(at.tls === null ? {} : at.tls),
    disableReverseLookup: true,
    logger: false,
    size: receivedBytesMax,
    rejectOversized: true,
    maxClients: connectionsMax,
    socketTimeout: silenceMs,
    closeTimeout: leavingMs,
    onRcptTo(address, session, done) {
      taker.accept(address.address, session).then(() => {
        clearTimeout(openOf(session)?.stranger)
        done()
      }, done)
    },
    onData(stream, session, done) {
      taker.take(stream, session).then(
        () => done(null, 'The mail is stored.'),
        (error: unknown) => {
          if (!(error instanceof Refused)) parts.log.warn({ err: error }, 'a mail could not be taken')
          done(error instanceof Refused ? error : laterAgain('The mail cannot be taken now.'))
        },
      )
    },
  })
  // A connection that breaks is the sender's matter.
  server.on('error', () => {})
  const isProxy = trustedProxies(parts.config.trustProxy)
  limitSockets(server.server, { max: mailConnectionsPerNetworkMax, isProxy })
  server.server.on('connection', (socket) => {
    const name = nameOf(socket.remoteAddress, socket.remotePort)
    const stranger = setTimeout(() => socket.destroy(), strangerMs)
    const end = setTimeout(() => socket.destroy(), connectionMs)
    connections.set(name, { socket, stranger })
    socket.once('close', () => {
      clearTimeout(stranger)
      clearTimeout(end)
      connections.delete(name)
    })
  })
  const listener = server.listen(at.port, at.host)
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>()
      server.close(resolve)
      // Connections without a mail have nothing to wait for.
      for (const connection of server.connections) {
        if (connection.session.envelope.rcptTo.length === 0) connection.close()
      }
      const late = setTimeout(() => taker.abort(), leavingMs)
      await promise
      await taker.settled()
      clearTimeout(late)
    },
  }
}

/** The name of a connection. IPv4 addresses may have their IPv6 form. */
const nameOf = (address = '', port = 0) => `${address.replace(/^::ffff:/, '')} ${port}`

/** What is in memory of a brokerage. */
interface Held {
  bytes: number
  mails: number
}

interface Recipient {
  readonly tenant: TenantId
  readonly secret: string
}

/** An open connection, and when it is closed unless it names an address. */
interface Open {
  readonly socket: Socket
  readonly stranger: NodeJS.Timeout
}

class MailTaker {
  readonly #parts: ListenerParts
  readonly #at: NonNullable<Config['mailAddresses']>
  readonly #isProxy: (address: string) => boolean
  readonly #oneOf = concurrencyLimit<'mail'>(mailsAtOnce)
  readonly #oneOfTenant = concurrencyLimit<TenantId>(1)
  readonly #stop = new AbortController()
  readonly #perTenant: RateLimit
  readonly #wrong = slidingWindow(wrongAddressesMax, minuteMs)
  readonly #cut: (session: SMTPServerSession) => void
  /** Bytes in memory, and mails that are being sent, by brokerage. */
  readonly #held = new Map<TenantId, Held>()
  /** The bytes of all of them. */
  #bytesHeld = 0
  readonly #storing = new Set<Promise<void>>()

  constructor(
    parts: ListenerParts,
    at: NonNullable<Config['mailAddresses']>,
    {
      mailsPerMinute,
      cut,
    }: { readonly mailsPerMinute: number; readonly cut: (session: SMTPServerSession) => void },
  ) {
    this.#parts = parts
    this.#perTenant = slidingWindow(mailsPerMinute, minuteMs)
    this.#cut = cut
    this.#at = at
    this.#isProxy = trustedProxies(parts.config.trustProxy)
  }

  /** @throws Refused if the address is none of a brokerage, or it cannot be looked up now */
  async accept(address: string, session: SMTPServerSession): Promise<void> {
    const network = callerNetwork(session.remoteAddress)
    const now = this.#parts.clock()
    const recipient = readMailAddress(address, this.#at.domain)
    if (recipient === null) throw unknownAddress()
    if (session.envelope.rcptTo.length >= mailRecipientsMax) {
      throw new Refused(452, `4.5.3 A mail may have ${mailRecipientsMax} recipients here.`)
    }
    if (await this.#stored(() => this.#isKnown(recipient))) return
    // A relay carries the mails of many: its connections stay.
    const isGuess = !this.#isProxy(session.remoteAddress) && !this.#wrong.admit(network, now).admitted
    if (isGuess) this.#cut(session)
    throw unknownAddress()
  }

  async #isKnown({ tenant, secret }: Recipient): Promise<boolean> {
    return this.#parts.database.inTenant(tenant, async (transaction) => {
      const found = await people.findTenant(transaction, tenant)
      if (found?.status !== 'active') return false
      const address = await mailAddresses.findMailAddress(transaction, tenant)
      return address !== null && sameBytes(address.secret, secret)
    })
  }

  /** Stores a mail for each of its recipients. @throws Refused */
  async take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const named = session.envelope.rcptTo.flatMap(
      ({ address }) => readMailAddress(address, this.#at.domain) ?? [],
    )
    const recipients = [...new Map(named.map((one) => [one.tenant, one])).values()]
    const [first] = recipients
    const now = this.#parts.clock()
    const isOften = recipients.some(({ tenant }) => !this.#perTenant.admit(tenant, now).admitted)
    const held = (first === undefined ? undefined : this.#held.get(first.tenant)) ?? { bytes: 0, mails: 0 }
    if (first === undefined || isOften || held.mails >= mailsPerTenantMax) {
      // The mail is read to its end, because only then may it be answered.
      await drained(stream)
      throw laterAgain(isOften ? 'Too many mails in a minute.' : 'Too many mails at once.')
    }
    this.#held.set(first.tenant, held)
    held.mails++
    const late = setTimeout(() => this.#cut(session), messageMs)
    late.unref()
    const work = this.#takeHeld(stream, first.tenant, { recipients, held, late }).finally(() => {
      clearTimeout(late)
      if (--held.mails === 0) this.#held.delete(first.tenant)
    })
    const settled = work.catch(() => {})
    this.#storing.add(settled)
    await work.finally(() => this.#storing.delete(settled))
  }

  /** Stops the parsing of mails: their senders try again. */
  abort(): void {
    this.#stop.abort()
  }

  /** Waits for the mails that are being stored. */
  async settled(): Promise<void> {
    await Promise.all(this.#storing)
  }

  async #takeHeld(
    stream: SMTPServerDataStream,
    tenant: TenantId,
    {
      recipients,
      held,
      late,
    }: {
      readonly recipients: readonly Recipient[]
      readonly held: Held
      readonly late: NodeJS.Timeout
    },
  ): Promise<void> {
    const source = await this.#sourceOf(stream, held)
    clearTimeout(late)
    try {
      await this.#takeWhole(source, tenant, recipients)
    } finally {
      this.#count(held, -source.byteLength)
    }
  }

  async #takeWhole(source: Uint8Array, tenant: TenantId, recipients: readonly Recipient[]): Promise<void> {
    const { signal } = this.#stop
    const arrival = { nameServers: this.#at.nameServers }
    // A brokerage has one mail in the queue, so that the mails of one do not hold up those of others.
    const parsing = await this.#oneOfTenant(tenant, () =>
      this.#oneOf('mail', () => parsed(source, arrival, signal)),
    )
    if (signal.aborted) throw laterAgain('The service is stopping.')
    if (parsing === null) throw new Refused(554, '5.6.0 The mail cannot be parsed.')
    const head = { uid: 0, bytes: source.byteLength, receivedAt: new Date(this.#parts.clock()) }
    const stored = readableMail(head, parsing, parsing.check)
    for (const recipient of recipients) await this.#stored(() => this.#store(recipient, stored))
  }

  async #store({ tenant, secret }: Recipient, mail: StoredMail): Promise<void> {
    const { database } = this.#parts
    const read = await readReceived(database, tenant, mail)
    await database.inTenant(tenant, async (transaction) => {
      const numbered = await mailAddresses.numberMail(transaction, tenant, { secret, now: mail.received_at })
      if (numbered === null) throw unknownAddress()
      const { mailbox_id, kept_days, last_uid: uid } = numbered
      const place = { mailbox_id, kept_days, uid_validity: 0, uid }
      await storeReceived(transaction, tenant, mail, { place, read })
    })
  }

  /** Work in the database. If that fails, the sender tries again. */
  async #stored<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await runInBackground(work)
    } catch (error) {
      if (error instanceof Refused) throw error
      // Data that the database refuses, it refuses again (class 22 of PostgreSQL).
      if (/^22/.test(String((error as { code?: unknown }).code))) {
        throw new Refused(554, '5.6.0 The mail has text that cannot be stored.')
      }
      this.#parts.log.warn({ err: error }, 'a mail could not be stored; its sender is asked to try again')
      throw laterAgain('The mail cannot be stored now.')
    }
  }

  #count(held: Held, bytes: number): void {
    held.bytes += bytes
    this.#bytesHeld += bytes
  }

  /** The mail, while its bytes count as held. @throws Refused if it is too large, or too many bytes are held */
  async #sourceOf(stream: SMTPServerDataStream, held: Held): Promise<Uint8Array> {
    // One buffer: a sender chooses how small the pieces are, and millions of them would fill the memory.
    let buffer = Buffer.alloc(64 * 1024)
    let bytes = 0
    let isFull = false
    const release = () => {
      this.#count(held, -bytes)
      bytes = 0
      buffer = Buffer.alloc(0)
    }
    try {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        const { byteLength } = chunk
        isFull ||=
          this.#bytesHeld + byteLength > bytesHeldMax || held.bytes + byteLength > bytesHeldPerTenantMax
        if (isFull || stream.sizeExceeded) {
          release()
          continue
        }
        if (bytes + byteLength > buffer.byteLength) {
          const larger = Buffer.alloc(2 * (bytes + byteLength))
          buffer.copy(larger, 0, 0, bytes)
          buffer = larger
        }
        buffer.set(chunk, bytes)
        bytes += byteLength
        this.#count(held, byteLength)
      }
    } catch (error) {
      release()
      throw error
    }
    if (stream.sizeExceeded) throw new Refused(552, `5.3.4 A mail may have ${receivedBytesMax} bytes.`)
    if (isFull) throw laterAgain('Too many mails at once.')
    return new Uint8Array(buffer.subarray(0, bytes))
  }
}

async function drained(stream: SMTPServerDataStream): Promise<void> {
  for await (const _ of stream);
}

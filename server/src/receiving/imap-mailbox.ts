import { isIP } from 'node:net'
import type { ImapFlow } from 'imapflow'
import { receivedBytesMax } from '#contract/limits.ts'
import { type LookUp, systemLookUp } from '../events/index.ts'
import { addressesOf, connectionFaults, oneLine, shortened } from '../mail/index.ts'
import type { AllowedPrivate } from '../security/index.ts'
import type { MailboxAccess } from './sealed-mailbox.ts'

/** A mail of the mailbox, before its text is fetched. */
export interface MailHead {
  readonly uid: number
  readonly bytes: number
  readonly receivedAt: Date
  readonly subject: string
  readonly from: { readonly name: string; readonly address: string }
  readonly messageId: string | null
}

/** An open connection to the inbox of a mailbox. It cannot change anything in it. */
export interface OpenMailbox {
  readonly uidValidity: number
  /** The UID of the next mail that arrives. */
  readonly uidNext: number
  /** The UIDs after one, rising. */
  uidsAfter(uid: number): Promise<number[]>
  /** The UIDs of mails that arrived on a day or later, rising. */
  uidsSince(day: Date): Promise<number[]>
  /** Null if the mail is gone. */
  head(uid: number): Promise<MailHead | null>
  /** The mail in its transfer form; null if it is gone, or larger than it said. */
  source(uid: number): Promise<Uint8Array | null>
  /** Waits until a mail arrives, the connection ends, or `ms` milliseconds have passed. */
  wait(ms: number): Promise<void>
  /** Ends a wait. */
  stopWaiting(): void
  /** False after the connection has ended. */
  isOpen(): boolean
  close(): void
}

/** Why a mailbox could not be opened, or is not open any more. */
export class MailboxFailed extends Error {
  /** The server refused the user or the password. */
  readonly isRefused: boolean
  constructor(reason: string, isRefused = false) {
    super(reason)
    this.isRefused = isRefused
  }
}

const stepMs = 15_000
/** A server sends something at least this often, if only the answer to the search of each turn. */
const silenceMs = 120_000
/** On this port, TLS begins with the first byte (RFC 8314). On others, STARTTLS is required. */
const tlsPort = 993
/** Of answers other than the mail itself: the UIDs of a mailbox with a million mails. */
const answerBytesMax = 16 * 1024 * 1024

export interface ConnectOptions {
  readonly allowed: AllowedPrivate
  readonly lookUp?: LookUp
  /** 1 for the first one: another attempt uses another address of the host. */
  readonly attempt?: number
}

/**
 * Opens the inbox of a mailbox, to read only. The host must be on the public internet, unless the operator permits its name or network:
 * the name is resolved once, and the connection goes to a checked address. It is encrypted, with a certificate that the system trusts.
 *
 * @throws MailboxFailed
 */
export async function openMailbox(
  access: MailboxAccess,
  { allowed, lookUp = systemLookUp, attempt = 1 }: ConnectOptions,
): Promise<OpenMailbox> {
  let client: ImapFlow | null = null
  try {
    const addresses = await addressesOf({ ...access, isOperators: false }, allowed, lookUp)
    if (typeof addresses === 'string') throw new MailboxFailed(addresses)
    client = await clientOf(access, addresses[(attempt - 1) % addresses.length] ?? '')
    await client.connect()
    const inbox = await client.mailboxOpen('INBOX', { readOnly: true })
    return new Inbox(client, Number(inbox.uidValidity), inbox.uidNext)
  } catch (error) {
    client?.close()
    throw failureOf(error)
  }
}

async function clientOf({ host, port, user, password }: MailboxAccess, address: string): Promise<ImapFlow> {
  // Only a service that reads mailboxes needs it.
  const { ImapFlow } = await import('imapflow')
  const isTls = port === tlsPort
  const client = new ImapFlow({
    // An address, so that the name is not resolved again.
    host: address,
    port,
    secure: isTls,
    ...(isTls ? {} : { doSTARTTLS: true }),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    auth: { user, pass: password },
    clientInfo: { name: 'Lanewise' },
    logger: false,
    disableCompression: true,
    autoIdleDelay: 100,
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: silenceMs,
    maxLiteralSize: receivedBytesMax + 1_024,
    maxResponseSize: receivedBytesMax + answerBytesMax,
  })
  // Each command fails by itself. Without a listener, the process would end.
  client.on('error', () => {})
  return client
}

class Inbox implements OpenMailbox {
  readonly #client: ImapFlow
  readonly uidValidity: number
  readonly uidNext: number
  #hasNews = false
  #wake: () => void = () => {}

  constructor(client: ImapFlow, uidValidity: number, uidNext: number) {
    this.#client = client
    this.uidValidity = uidValidity
    this.uidNext = uidNext
    client.on('exists', () => this.stopWaiting())
    client.on('close', () => this.stopWaiting())
  }

  stopWaiting(): void {
    this.#hasNews = true
    this.#wake()
  }

  uidsAfter(uid: number): Promise<number[]> {
    return this.#uids({ uid: `${uid + 1}:*` }, uid)
  }

  uidsSince(day: Date): Promise<number[]> {
    return this.#uids({ since: day }, 0)
  }

  /** `5:*` also finds the last mail if its UID is below 5. */
  async #uids(query: { readonly uid: string } | { readonly since: Date }, after: number): Promise<number[]> {
    const found = await this.#ask(() => this.#client.search(query, { uid: true }))
    if (found === false || found === undefined)
      throw new MailboxFailed('The server did not search the mailbox.')
    return found.filter((uid) => uid > after).sort((one, other) => one - other)
  }

  async head(uid: number): Promise<MailHead | null> {
    const query = { uid: true, size: true, internalDate: true, envelope: true } as const
    const found = await this.#ask(() => this.#client.fetchOne(String(uid), query, { uid: true }))
    if (found === false || found === undefined || found.uid !== uid) return null
    const { size = 0, internalDate, envelope } = found
    const [sender] = envelope?.from ?? []
    return {
      uid,
      bytes: size,
      receivedAt: internalDate === undefined ? new Date(Number.NaN) : new Date(internalDate),
      subject: oneLine(envelope?.subject ?? ''),
      from: { name: oneLine(sender?.name ?? ''), address: oneLine(sender?.address ?? '').toLowerCase() },
      messageId: envelope?.messageId?.replace(/^\s*<|>\s*$/g, '') ?? null,
    }
  }

  async source(uid: number): Promise<Uint8Array | null> {
    const query = { uid: true, source: { maxLength: receivedBytesMax + 1 } }
    const found = await this.#ask(() => this.#client.fetchOne(String(uid), query, { uid: true }))
    const source = found === false ? undefined : found?.source
    return source === undefined || source.length > receivedBytesMax ? null : source
  }

  async wait(ms: number): Promise<void> {
    if (!this.#hasNews) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      this.#wake = resolve
      await promise
      clearTimeout(timer)
    }
    this.#hasNews = false
  }

  isOpen(): boolean {
    return this.#client.usable
  }

  close(): void {
    this.#client.close()
  }

  async #ask<T>(command: () => Promise<T>): Promise<T> {
    if (!this.#client.usable) throw new MailboxFailed('The connection was closed.')
    try {
      return await command()
    } catch (error) {
      throw failureOf(error)
    }
  }
}

const words: Readonly<Record<string, string>> = {
  ...connectionFaults,
  ETIMEOUT: 'The server did not answer in time.',
  CONNECT_TIMEOUT: 'The server did not answer in time.',
  GREETING_TIMEOUT: 'The server did not answer in time.',
  NoConnection: 'The connection was closed.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate was not signed by a trusted authority.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate was not signed by a trusted authority.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The server did not send the certificates up to a trusted authority.',
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
}

/** What an error of the mail library means, in words. */
function failureOf(error: unknown): MailboxFailed {
  if (error instanceof MailboxFailed) return error
  const { code, authenticationFailed, responseText, tlsFailed } = error as {
    code?: string
    authenticationFailed?: boolean
    responseText?: string
    tlsFailed?: boolean
  }
  const said = responseText === undefined ? '' : ` The server said: ${shortened(responseText)}`
  if (authenticationFailed === true) {
    return new MailboxFailed(`The user or the password was refused.${said}`, true)
  }
  if (tlsFailed === true) return new MailboxFailed('The connection could not be encrypted.')
  return new MailboxFailed(`${words[code ?? ''] ?? 'The mailbox could not be read.'}${said}`)
}

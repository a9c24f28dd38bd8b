import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { createTransport } from 'nodemailer'
import { isEmail } from '#contract/fields.ts'
import { mailSecondsMax } from '#contract/limits.ts'
import { type LookUp, systemLookUp } from '../events/index.ts'
import { type AllowedPrivate, mayReach, type OutboundTarget, outboundTarget } from '../security/index.ts'

/** A mail server and how to sign in to it. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte, as on port 465. Otherwise STARTTLS. */
  readonly isTls: boolean
  readonly user: string | null
  readonly password: string | null
  /** The sender of every message. */
  readonly from: string
  /** Chosen by the operator, who may name a host of the private network. */
  readonly isOperators: boolean
}

/** A message as it is handed to a mail server. Every attempt sends the same one. */
export interface Letter {
  readonly to: { readonly name: string; readonly address: string }
  readonly subject: string
  readonly text: string
  /** The same in HTML, and the PNG picture in it, which it names `cid:picture`. */
  readonly html?: string | null
  readonly picture?: Buffer | null
  /** Without angle brackets. */
  readonly messageId: string
  readonly date: Date
  /** For an answer that a person sends: where replies go, and the Message-ID that it answers. Without it, the message is automatic. */
  readonly answer?: {
    readonly by: string
    readonly replyTo: readonly string[]
    readonly inReplyTo: string | null
  }
}

/** What became of an attempt. */
export type Handed =
  | { readonly kind: 'accepted' }
  /** The server refused this message for good. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It may work later. `isAway`: no message would have been accepted. */
  | { readonly kind: 'later'; readonly reason: string; readonly isAway: boolean }

type SentMail = Parameters<ReturnType<typeof createTransport>['sendMail']>[0]

const stepSeconds = 10
/** Of what a server says: enough for a sentence and a link. */
const reasonLengthMax = 300

const anyControl = /\p{Cc}/u

/** Text in one line of a header: control characters would begin another header. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu, ' ').trim()
}

/** The URL form of a host and port, in which outbound targets are checked. */
export function mailUrl(host: string, port: number): string {
  return `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}/`
}

/**
 * Hands one message to a mail server. A brokerage's server must be on the public internet, unless the operator permits its name or
 * network: the name is resolved once, and the connection goes to a checked address. A password is sent over TLS only.
 *
 * @throws Error if an address or the subject has a control character: they would end a header
 */
export async function handOver(
  server: MailServer,
  letter: Letter,
  {
    allowed,
    attempt = 1,
    lookUp = systemLookUp,
    stop,
    patienceMs = mailSecondsMax * 1_000,
  }: {
    readonly allowed: AllowedPrivate
    /** 1 for the first one: another attempt uses another address of the host. */
    readonly attempt?: number
    readonly lookUp?: LookUp
    readonly stop?: AbortSignal
    readonly patienceMs?: number
  },
): Promise<Handed> {
  for (const address of [server.from, letter.to.address, ...(letter.answer?.replyTo ?? [])]) {
    if (!isEmail(address)) throw new Error('A mail address is not one address.')
  }
  const { by = '', inReplyTo = null } = letter.answer ?? {}
  if ([letter.subject, letter.to.name, by, inReplyTo ?? ''].some((text) => anyControl.test(text))) {
    throw new Error('A header of a mail has a control character.')
  }
  const signal = AbortSignal.any([AbortSignal.timeout(patienceMs), ...(stop === undefined ? [] : [stop])])
  try {
    const addresses = await addressesOf(server, allowed, lookUp)
    if (typeof addresses === 'string') return away(addresses)
    const address = addresses[(attempt - 1) % addresses.length] ?? ''
    await send(server, address, letter, { signal, isPrivate: isPrivate(server, allowed) })
    return { kind: 'accepted' }
  } catch (error) {
    if (stop?.aborted === true) return away('The service was stopped before an answer came.')
    if (signal.aborted) return away(`No answer within ${patienceMs / 1000} seconds.`)
    return resultOf(error)
  }
}

const away = (reason: string): Handed => ({ kind: 'later', reason, isAway: true })

/** Whether the operator permits this host although it is not on the public internet. */
function isPrivate(server: Pick<MailServer, 'host' | 'isOperators'>, allowed: AllowedPrivate): boolean {
  return server.isOperators || allowed.names.has(server.host) || allowed.networks(server.host)
}

/** The addresses of a server that may be connected to, or why there are none. */
export async function addressesOf(
  server: Pick<MailServer, 'host' | 'port' | 'isOperators'>,
  allowed: AllowedPrivate,
  lookUp: LookUp,
): Promise<readonly string[] | string> {
  const checked = outboundTarget(mailUrl(server.host, server.port), allowed)
  const target: OutboundTarget | string = server.isOperators
    ? { url: new URL(mailUrl(server.host, server.port)), host: server.host, isAllowedByName: true }
    : checked
  if (typeof target === 'string') return `The host ${target}.`
  const addresses = await lookUp(target)
  if (addresses.length === 0) return 'The host name has no address.'
  if (!addresses.every((address) => mayReach(target, address, allowed))) {
    return 'The host name resolves to an address that is not on the public internet.'
  }
  return addresses
}

async function send(
  server: MailServer,
  address: string,
  letter: Letter,
  { signal, isPrivate }: { readonly signal: AbortSignal; readonly isPrivate: boolean },
): Promise<void> {
  const needsTls = server.password !== null || !isPrivate
  const transport = createTransport({
    // An address, so that the name is not resolved again.
    host: address,
    port: server.port,
    secure: server.isTls,
    requireTLS: !server.isTls && needsTls,
    ...(server.user === null ? {} : { auth: { user: server.user, pass: server.password ?? '' } }),
    tls: {
      ...(isIP(server.host) === 0 ? { servername: server.host } : {}),
      // Where TLS is not required, encryption without a trusted certificate is better than none.
      rejectUnauthorized: server.isTls || needsTls,
    },
    connectionTimeout: stepSeconds * 1_000,
    greetingTimeout: stepSeconds * 1_000,
    socketTimeout: mailSecondsMax * 1_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.sendMail({
      from: letter.answer === undefined ? server.from : { name: letter.answer.by, address: server.from },
      to: letter.to,
      subject: letter.subject,
      text: letter.text,
      ...pictured(letter),
      messageId: `<${letter.messageId}>`,
      date: letter.date,
      ...headersOf(letter),
      signal,
    })
  } finally {
    transport.close()
  }
}

function headersOf({ answer }: Letter): Partial<SentMail> {
  // No automatic answers, such as out-of-office notes.
  if (answer === undefined)
    return { headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' } }
  const { replyTo, inReplyTo } = answer
  return {
    replyTo: [...replyTo],
    ...(inReplyTo === null ? {} : { inReplyTo: `<${inReplyTo}>`, references: [`<${inReplyTo}>`] }),
  }
}

/** The HTML of a letter with its picture. The parts have the same boundaries in each attempt, so that a copy has the same bytes. */
function pictured({ html = null, picture = null, messageId }: Letter): Partial<SentMail> {
  if (html === null) return {}
  const image = { filename: 'margin.png', content: picture ?? '', contentType: 'image/png', cid: 'picture' }
  return {
    html,
    baseBoundary: createHash('sha256').update(messageId).digest('hex').slice(0, 16),
    ...(picture === null ? {} : { attachments: [{ ...image, contentDisposition: 'inline' as const }] }),
  }
}

/** What the codes of a failed connection mean. */
export const connectionFaults: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The host name has no address.',
  ENODATA: 'The host name has no address.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed.',
  EHOSTUNREACH: 'The address cannot be reached.',
  ENETUNREACH: 'The address cannot be reached.',
  ETIMEDOUT: 'The server did not answer in time.',
}

const words: Readonly<Record<string, string>> = {
  ...connectionFaults,
  ECONNECTION: 'The connection was closed.',
  ETLS: 'The connection could not be encrypted.',
  EAUTH: 'The user or the password was refused.',
}

/** The result that an error of the mail library stands for. */
function resultOf(error: unknown): Handed {
  const { code, originalCode, command, response, responseCode } = error as {
    code?: string
    originalCode?: string
    command?: string
    response?: string
    responseCode?: number
  }
  const said = response === undefined ? '' : ` The server said: ${shortened(response)}`
  const isOfMessage = command === 'RCPT TO' || command === 'DATA'
  // A refused sign-in or sender concerns every message: the settings will be corrected, and nothing is lost.
  if (responseCode !== undefined && responseCode >= 500 && isOfMessage) {
    return { kind: 'refused', reason: `The server refused the message.${said}` }
  }
  const why =
    words[originalCode ?? ''] ??
    words[code ?? ''] ??
    (responseCode === undefined ? 'The message was not accepted.' : 'The server did not accept the message.')
  return { kind: 'later', reason: `${why}${said}`, isAway: !isOfMessage }
}

/** The beginning of what a server says. */
export function shortened(text: string): string {
  return [...oneLine(text)].slice(0, reasonLengthMax).join('')
}

import PostalMime, { type Email } from 'postal-mime'
import { receivedTablesMax } from '#contract/limits.ts'
import { type ReturnedMail, returnedMail } from './returned-mail.ts'
import type { MailHeader } from './sender-check.ts'

/** An attached file. `content` is null if the file is not one that can be a table, or if the mail has more of them. */
export interface ParsedAttachment {
  readonly name: string
  readonly bytes: number
  readonly content: Uint8Array | null
}

/** What a mail in its transfer form says. */
export interface ParsedMail {
  readonly messageId: string | null
  /** The Message-IDs of earlier mails of the thread, the newest first. */
  readonly references: readonly string[]
  readonly from: { readonly name: string; readonly address: string }
  readonly subject: string
  /** The header Date as it was sent. */
  readonly date: string | null
  readonly headers: readonly MailHeader[]
  readonly text: string
  /** The part in HTML without scripts and styles; null if there is none. */
  readonly html: string | null
  readonly attachments: readonly ParsedAttachment[]
  /** What it says about a mail that came back; null for other mails. */
  readonly returned: ReturnedMail | null
}

/** Longer texts are cut: a reader does not read further. */
const textLengthMax = 200_000
const htmlLengthMax = 400_000
const shortLengthMax = 998
const returnedReasonLengthMax = 300
const referencesMax = 30
const attachmentsListedMax = 50
/** Deeper parts are a fault or an attack: of multiparts, and of mails in mails. */
const partsDepthMax = 50
const mailsDepthMax = 10

/** Text that PostgreSQL can store. */
const storable = (text: string) => text.replaceAll('\0', '').toWellFormed()

/** The text of `<a@b> <c@d>` as `a@b`, `c@d`. */
function idsIn(text: string | undefined): string[] {
  const ids = [...storable(text ?? '').matchAll(/<([^<>\s]{1,900})>/g)].map(([, id]) => id ?? '')
  return ids.filter((id) => id !== '')
}

const short = (text: string) =>
  storable(text)
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ')
    .trim()
    .slice(0, shortLengthMax)

/** HTML without scripts and styles, in one pass. */
function withoutCode(html: string): string {
  const lower = html.toLowerCase()
  const open = /<(script|style)\b/g
  let kept = ''
  let at = 0
  for (let found = open.exec(lower); found !== null; found = open.exec(lower)) {
    kept += html.slice(at, found.index)
    const close = lower.indexOf(`</${found[1]}`, found.index)
    if (close < 0) return kept
    const end = lower.indexOf('>', close)
    at = end < 0 ? html.length : end + 1
    open.lastIndex = at
  }
  return kept + html.slice(at)
}

function returnedOf({ headers, attachments }: Email, source: Uint8Array): ReturnedMail | null {
  const reports = attachments.flatMap(({ mimeType, content }) =>
    mimeType === 'message/delivery-status' && content instanceof ArrayBuffer
      ? [Buffer.from(content).toString('utf8')]
      : [],
  )
  const found = returnedMail(headers, reports, source)
  return found === null ? null : { ...found, reason: short(found.reason).slice(0, returnedReasonLengthMax) }
}

const isTable = (name: string, type: string) =>
  /\.(?:csv|tsv|xlsx)$/i.test(name) ||
  /^text\/(?:csv|tab-separated-values)$|spreadsheetml\.sheet$/i.test(type)

/**
 * Parses a mail.
 *
 * @throws Error if its parts are nested too deeply, or its headers are too long
 */
export async function parseMail(source: Uint8Array): Promise<ParsedMail> {
  const mail = await PostalMime.parse(source, {
    maxNestingDepth: partsDepthMax,
    maxRfc822NestingDepth: mailsDepthMax,
    attachmentEncoding: 'arraybuffer',
  })
  const replied = idsIn(mail.inReplyTo)
  const references = [...new Set([...replied, ...idsIn(mail.references).toReversed()])]
  const sender = mail.from ?? mail.sender
  let tables = 0
  const attachments = mail.attachments.slice(0, attachmentsListedMax).map((one): ParsedAttachment => {
    const content = one.content instanceof ArrayBuffer ? new Uint8Array(one.content) : null
    const name = short(one.filename ?? '') || 'without a name'
    const isRead = content !== null && isTable(name, one.mimeType) && tables++ < receivedTablesMax
    return { name, bytes: content?.byteLength ?? 0, content: isRead ? content : null }
  })
  return {
    messageId: idsIn(mail.messageId)[0] ?? null,
    references: references.slice(0, referencesMax),
    from: { name: short(sender?.name ?? ''), address: short(sender?.address ?? '').toLowerCase() },
    subject: short(mail.subject ?? ''),
    date: mail.headers.find(({ key }) => key === 'date')?.value ?? null,
    headers: mail.headers
      .filter(({ key }) => key === 'authentication-results')
      .map(({ key, value }) => ({ key, value: value.slice(0, 10_000) })),
    text: storable(mail.text ?? '').slice(0, textLengthMax),
    html:
      mail.html === undefined
        ? null
        : storable(withoutCode(mail.html.slice(0, 5 * htmlLengthMax))).slice(0, htmlLengthMax),
    attachments,
    returned: returnedOf(mail, source),
  }
}

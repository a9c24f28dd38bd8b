import { createHash } from 'node:crypto'
import type { receivedMails } from '../database/queries/index.ts'
import { inThread, type ThreadOptions } from '../runtime/index.ts'
import type { MailHead } from './imap-mailbox.ts'
import type { Parsing } from './parsing-worker.ts'
import type { ReturnedMail } from './returned-mail.ts'
import type { Arrival, SenderCheck } from './sender-check.ts'

/** What is stored of a mail, before its lanes are read. */
export type StoredMail = Omit<
  receivedMails.NewReceivedMail,
  'mailbox_id' | 'uid_validity' | 'lanes_read' | 'questions_asked' | 'customer_name' | 'kept_days'
> & { readonly returned: ReturnedMail | null }

const parseLimits = {
  work: 'The parsing of a mail',
  durationMaxMs: 30_000,
  heapMaxMb: 256,
  youngMaxMb: 16,
} satisfies ThreadOptions
/** A sender's clock that is further off is wrong, or the mail is not new: then it was sent when it arrived. */
const clockOffMaxMs = 2 * 86_400_000

/**
 * Parses a mail in a thread. Null if it is no mail that can be parsed.
 *
 * @param arrival how the mail came, if nobody has checked its sender yet
 */
export async function parsed(
  source: Uint8Array,
  arrival: Arrival | null,
  signal?: AbortSignal,
): Promise<Parsing | null> {
  const file = new URL('./parsing-worker.ts', import.meta.url)
  try {
    return await inThread<Parsing>(
      file,
      { source, arrival },
      { ...parseLimits, ...(signal === undefined ? {} : { signal }) },
    )
  } catch {
    // Whatever a mail contains, the next one is read.
    return null
  }
}

/**
 * The same mail has the same digest, also if it comes again under another UID. What is read of it counts: who guesses a Message-ID cannot
 * have the mail with it taken for one that came before.
 */
function digestOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** A mail that is listed and not read, with why. */
export function unreadMail(
  { uid, bytes, receivedAt, subject, from, messageId }: MailHead,
  problem: 'too-large' | 'unreadable',
): StoredMail {
  return {
    digest: digestOf([messageId, from.address, subject, messageId === null ? receivedAt : null, bytes]),
    uid,
    message_id: messageId,
    references: [],
    from_name: from.name,
    from_address: from.address,
    subject,
    sent_at: receivedAt,
    sent_offset: null,
    received_at: receivedAt,
    bytes,
    sender_check: 'unknown',
    problem,
    attachments: [],
    body: null,
    tables: null,
    returned: null,
  }
}

/** @example sentOf('Mon, 2 Mar 2026 09:00:00 -0600', arrived) // 15:00 UTC, -360 minutes */
function sentOf(
  date: string | null,
  receivedAt: Date,
): { readonly at: Date; readonly offset: number | null } {
  const at = Date.parse(date ?? '')
  if (!(Math.abs(at - receivedAt.getTime()) <= clockOffMaxMs)) return { at: receivedAt, offset: null }
  const zone = ((date ?? '').split('(')[0] ?? '').trimEnd().slice(-6)
  const [, sign, hours, minutes] = /^\s([+-])(\d\d)(\d\d)$/.exec(zone) ?? []
  // -0000 says that the sender does not tell its zone (RFC 5322).
  const isKnown =
    hours !== undefined && minutes !== undefined && !(sign === '-' && hours === '00' && minutes === '00')
  const offset = isKnown ? (sign === '-' ? -1 : 1) * (60 * Number(hours) + Number(minutes)) : null
  return { at: new Date(at), offset: offset !== null && Math.abs(offset) <= 14 * 60 ? offset : null }
}

/** A mail with its text and tables. */
export function readableMail(
  head: Pick<MailHead, 'uid' | 'bytes' | 'receivedAt'>,
  { mail, body, tables, attachments, wholeDigest }: Parsing,
  check: SenderCheck,
): StoredMail {
  const { from, subject, messageId } = mail
  const sent = sentOf(mail.date, head.receivedAt)
  return {
    digest: digestOf([messageId ?? wholeDigest, from.address, subject, body, tables]),
    uid: head.uid,
    message_id: messageId,
    references: mail.references,
    from_name: from.name,
    from_address: from.address,
    subject,
    sent_at: sent.at,
    sent_offset: sent.offset,
    received_at: head.receivedAt,
    bytes: head.bytes,
    sender_check: check,
    problem: null,
    attachments: [...attachments],
    body,
    tables: [...tables],
    returned: mail.returned,
  }
}

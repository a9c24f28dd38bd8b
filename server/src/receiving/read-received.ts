import { mails, people, receivedMails } from '../database/queries/index.ts'
import type { ReceivedMailRow, TenantTransaction } from '../database/schema/index.ts'
import type { Database, TenantId } from '../database/session/index.ts'
import { type MailRead, readMailInSteps } from '../reading/index.ts'
import { yieldBetweenSteps } from '../runtime/index.ts'
import type { StoredMail } from './received-mail.ts'

/** Where a mail came from: its number there, and for how long its text is kept. */
export type MailPlace = Pick<
  receivedMails.NewReceivedMail,
  'mailbox_id' | 'uid_validity' | 'uid' | 'kept_days'
>

/**
 * Stores a mail with what was read from it. A report that a sent mail came back is noted at that mail, and asks for nothing. The same
 * mail is stored once.
 */
export async function storeReceived(
  transaction: TenantTransaction,
  tenant: TenantId,
  { returned, ...mail }: StoredMail,
  { place, read }: { readonly place: MailPlace; readonly read: MailRead | null },
): Promise<void> {
  const isNoted = returned !== null && (await mails.noteReturned(transaction, tenant, returned))
  await receivedMails.insertReceivedMail(transaction, tenant, {
    ...mail,
    ...place,
    state: isNoted ? 'done' : 'open',
    lanes_read: read?.lanes.length ?? 0,
    questions_asked: read?.questions.length ?? 0,
    customer_name: read?.customer?.value ?? null,
  })
}

/** What a reading needs of a mail. */
export type ReadableMail = Pick<
  ReceivedMailRow,
  'subject' | 'body' | 'tables' | 'from_address' | 'sent_at' | 'sent_offset' | 'sender_check'
>

/** Senders of forwarded mails are named at the beginning of the text. */
const headLength = 20_000
const addressesMax = 50

/** The addresses of a mail that may be those of a customer: of the sender, and of forwarded mails. */
function addressesOf({ from_address: from, body }: ReadableMail): string[] {
  const found = (body ?? '').slice(0, headLength).matchAll(/[\w.+-]{1,64}@[a-z\d.-]{1,255}/gi)
  const addresses = [from, ...[...found].map(([one]) => one.toLowerCase().replace(/\.$/, ''))]
  return [...new Set(addresses)].slice(0, addressesMax)
}

async function knowledge(transaction: TenantTransaction, tenant: TenantId, mail: ReadableMail) {
  const users = await people.listUsers(transaction, tenant)
  return {
    zone: await people.timeZoneOf(transaction, tenant),
    ownPeople: new Set(users.map(({ email }) => email.toLowerCase())),
    senders: await receivedMails.confirmedSenders(transaction, tenant, addressesOf(mail)),
  }
}

/**
 * Reads the lanes of a received mail. Its customer is certain only if the mail provider found that the sender is who it says: of
 * others, the customer is a question. Null if the mail has no text.
 */
export async function readReceived(
  database: Database,
  tenant: TenantId,
  mail: ReadableMail,
): Promise<MailRead | null> {
  const { body, tables, subject, from_address: from, sender_check: check } = mail
  if (body === null) return null
  const { senders, ...knows } = await database.inTenant(tenant, (transaction) =>
    knowledge(transaction, tenant, mail),
  )
  const isProven = check === 'passed'
  const asked = {
    subject,
    text: body,
    tables: tables ?? [],
    from,
    sentAt: mail.sent_at.getTime(),
    sentOffset: mail.sent_offset,
  }
  const known = { ...knows, senders: isProven ? senders : [] }
  const read = await yieldBetweenSteps(readMailInSteps(asked, known), tenant)
  if (isProven || senders.length === 0) return read
  const question = {
    lane: null,
    field: 'customer',
    detail: `It is not certain that the mail is from ${from}`,
    words: null,
    options: [...new Set(senders.map(({ customer }) => customer))],
  } as const
  return { ...read, questions: [...read.questions.filter(({ field }) => field !== 'customer'), question] }
}

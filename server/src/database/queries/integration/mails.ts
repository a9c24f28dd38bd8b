import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { mailsKeptDays, mailsListedMax } from '#contract/limits.ts'
import type { MailRow, MailServerRow, TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'
import { mailSeenByViewer } from '../customers/teams.ts'
import { databaseNow } from '../quotes/lane-changes.ts'

/** A message to a person of the brokerage. */
export interface NewMail {
  readonly userId: number
  /** Why it is sent, such as `test`. */
  readonly kind: string
  /** What it tells, such as `approval 12`: a person is told it once per kind. */
  readonly about: string
  readonly subject: string
  readonly body: string
  /** The body in HTML, and the PNG picture in it, which it names `cid:picture`. */
  readonly html?: string
  readonly picture?: Buffer
  /** It is not sent if what the person may see has changed since this version. */
  readonly accessVersion?: number
  /** It is not sent to a person who has lost this role by then. */
  readonly needsRole?: 'admin'
  /** It is not sent to a person from whom this customer is hidden by then. */
  readonly customerName?: string
  /** Not sent later than this: by then it is no news. */
  readonly endsAt: Date
  /** For a mail to a customer: then userId is the person who sends it. */
  readonly answer?: MailAnswer
}

/** Where an answer to a received mail goes. */
export interface MailAnswer {
  /** The received mail. */
  readonly mailId: string
  readonly to: { readonly name: string; readonly address: string }
  readonly replyTo: readonly string[]
  /** The Message-ID of the received mail, without angle brackets. */
  readonly inReplyTo: string | null
}

/** Settled messages that are deleted with a new one: more than one, so that their number falls. */
const prunedAtOnce = 20

/**
 * Writes messages to the outbox, in the transaction of the change that they tell of. A message that was written before is not
 * written again. Old settled messages of the brokerage are deleted.
 */
export async function insertMails(
  transaction: TenantTransaction,
  tenant: TenantId,
  mails: readonly NewMail[],
  now: Date,
): Promise<void> {
  const due = await databaseNow(transaction)
  for (const mail of mails) {
    await transaction
      .insertInto('mails')
      .values({
        tenant_id: tenant,
        mail_id: randomUUID(),
        user_id: mail.userId,
        kind: mail.kind,
        about: mail.about,
        subject: mail.subject,
        body: mail.body,
        html: mail.html ?? null,
        picture: mail.picture ?? null,
        access_version: mail.accessVersion ?? null,
        needs_role: mail.needsRole ?? null,
        customer_name: mail.customerName ?? null,
        state: 'due',
        // Of the database, like the clock that claims them.
        next_at: due,
        created_at: now,
        ends_at: mail.endsAt,
        ...(mail.answer === undefined
          ? {}
          : {
              answers_mail_id: mail.answer.mailId,
              to_name: mail.answer.to.name,
              to_address: mail.answer.to.address,
              reply_to: [...mail.answer.replyTo],
              in_reply_to: mail.answer.inReplyTo,
            }),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  await sql`
    delete from mails where tenant_id = ${tenant} and mail_id in (
      select mail_id from mails
      where tenant_id = ${tenant} and state <> 'due' and created_at < ${new Date(now.getTime() - mailsKeptDays * 86_400_000)}
      order by created_at limit ${prunedAtOnce}
    )
  `.execute(transaction)
}

/** The brokerages with mail that is due. */
export async function tenantsWithDueMail(transaction: TenantTransaction): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_due_mail() as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

const later = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1_000)

/** A message that was claimed, with its recipient as of now. */
export interface ClaimedMail
  extends Pick<
    MailRow,
    | 'mail_id'
    | 'user_id'
    | 'attempts'
    | 'subject'
    | 'body'
    | 'html'
    | 'picture'
    | 'access_version'
    | 'needs_role'
    | 'customer_name'
    | 'to_name'
    | 'to_address'
    | 'reply_to'
    | 'in_reply_to'
  > {
  readonly created_at: Date
  readonly ends_at: Date
  readonly name: string
  readonly email: string
  readonly role: string
  readonly status: string
}

/**
 * Claims the due message that has waited longest, for `leaseSeconds`. Unless it is settled by then, it is due again. Concurrent
 * claims get other messages. Null if none is due.
 */
export async function claimMail(
  transaction: TenantTransaction,
  tenant: TenantId,
  leaseSeconds: number,
): Promise<ClaimedMail | null> {
  const now = await databaseNow(transaction)
  const { rows } = await sql<ClaimedMail>`
    with next as (
      select mail_id from mails
      where tenant_id = ${tenant} and state = 'due' and next_at <= ${now}
      order by next_at limit 1 for no key update skip locked
    )
    update mails set attempts = mails.attempts + 1, failure = null, next_at = ${later(now, leaseSeconds)}
    from next, users
    where mails.tenant_id = ${tenant} and mails.mail_id = next.mail_id
      and users.tenant_id = ${tenant} and users.user_id = mails.user_id
    returning mails.mail_id, mails.user_id, mails.attempts, mails.subject, mails.body, mails.html, mails.picture,
      mails.access_version, mails.needs_role, mails.customer_name, mails.to_name, mails.to_address, mails.reply_to,
      mails.in_reply_to, mails.created_at, mails.ends_at, users.name, users.email, users.role, users.status
  `.execute(transaction)
  return rows[0] ?? null
}

/** The result of an attempt: sent, given up, not to be sent any more, or due again. */
export type MailResult =
  | { readonly state: 'sent' }
  | { readonly state: 'failed' | 'dropped'; readonly failure: string }
  | { readonly state: 'due'; readonly failure: string; readonly retrySeconds: number }

/** Records the result of an attempt. Returns false, and writes nothing, if there was a later attempt. */
export async function settleMail(
  transaction: TenantTransaction,
  tenant: TenantId,
  { mail_id: mailId, attempts }: Pick<ClaimedMail, 'mail_id' | 'attempts'>,
  result: MailResult,
): Promise<boolean> {
  const now = await databaseNow(transaction)
  const { numUpdatedRows } = await transaction
    .updateTable('mails')
    .set({
      state: result.state,
      failure: result.state === 'sent' ? null : result.failure,
      ...(result.state === 'due' ? { next_at: later(now, result.retrySeconds) } : { settled_at: now }),
    })
    .where('tenant_id', '=', tenant)
    .where('mail_id', '=', mailId)
    .where('attempts', '=', attempts)
    .where('state', '=', 'due')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** How the reason of a mail begins that a report says came back. It is not sent again: its recipient may have it. */
const cameBack = 'A report says that it came back: '
const reportDays = 7

/**
 * Records that mails which were sent to these recipients in the last days came back. Returns whether one of these is the brokerage's. Who
 * has a mail could forge a report of it, and say no more than that.
 */
export async function noteReturned(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    mailIds,
    recipients,
    reason,
  }: { readonly mailIds: readonly string[]; readonly recipients: readonly string[]; readonly reason: string },
): Promise<boolean> {
  if (mailIds.length === 0 || recipients.length === 0) return false
  const now = await databaseNow(transaction)
  const { numUpdatedRows } = await transaction
    .updateTable('mails')
    .set({ state: 'failed', failure: `${cameBack}${reason}`, settled_at: now })
    .where('tenant_id', '=', tenant)
    .where('mail_id', 'in', [...mailIds])
    .where('state', '=', 'sent')
    .where('settled_at', '>', later(now, -reportDays * 86_400))
    .where((mail) =>
      mail(
        sql<string>`lower(coalesce(to_address, (select email from users where users.tenant_id = ${tenant} and users.user_id = mails.user_id)))`,
        'in',
        [...recipients],
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The answers to the received mails that the current person sees. */
const answersSeen = (transaction: TenantTransaction, tenant: TenantId) =>
  transaction
    .selectFrom('mails')
    .innerJoin('received_mails', (join) =>
      join
        .onRef('received_mails.tenant_id', '=', 'mails.tenant_id')
        .onRef('received_mails.mail_id', '=', 'mails.answers_mail_id'),
    )
    .where('mails.tenant_id', '=', tenant)
    .where('received_mails.tenant_id', '=', tenant)
    .where(mailSeenByViewer(tenant))

/** The answers to received mails that a person sent and that did not reach their recipients, newest first. */
export async function failedAnswers(
  transaction: TenantTransaction,
  tenant: TenantId,
  { userId, since, limit }: { readonly userId: number; readonly since: Date; readonly limit: number },
) {
  return answersSeen(transaction, tenant)
    .select([
      'mails.mail_id',
      'mails.answers_mail_id',
      'mails.to_address',
      'mails.failure',
      'mails.settled_at',
    ])
    .where('mails.user_id', '=', userId)
    .where('mails.state', '=', 'failed')
    .where('mails.settled_at', '>', since)
    .orderBy('mails.settled_at', 'desc')
    .limit(limit)
    .execute()
}

/** The mails that wait to be sent, of all brokerages, and the age of the oldest. */
export interface MailQueue {
  readonly waiting: number
  readonly oldestSeconds: number
}

export async function mailQueue(transaction: TenantTransaction): Promise<MailQueue> {
  const { rows } = await sql<{ waiting: number; oldest_seconds: number }>`
    select * from mail_queue()
  `.execute(transaction)
  return { waiting: rows[0]?.waiting ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 }
}

/** Lets what asks for something that is decided by now, and was not sent yet, end. */
export async function endMails(
  transaction: TenantTransaction,
  tenant: TenantId,
  about: string,
  at: Date,
): Promise<void> {
  await transaction
    .updateTable('mails')
    .set({ ends_at: at })
    .where('tenant_id', '=', tenant)
    .where('about', '=', about)
    .where('state', '=', 'due')
    .execute()
}

/** The newest messages with their recipients, newest first. */
export async function listMails(transaction: TenantTransaction, tenant: TenantId) {
  return transaction
    .selectFrom('mails')
    .innerJoin('users', (join) =>
      join.onRef('users.tenant_id', '=', 'mails.tenant_id').onRef('users.user_id', '=', 'mails.user_id'),
    )
    .select([
      'mails.mail_id',
      'mails.kind',
      'mails.subject',
      'mails.state',
      'mails.attempts',
      'mails.next_at',
      'mails.created_at',
      'mails.settled_at',
      'mails.failure',
      'mails.user_id',
      'mails.to_address',
      'users.name',
    ])
    .where('mails.tenant_id', '=', tenant)
    .orderBy('mails.created_at', 'desc')
    .orderBy('mails.mail_id')
    .limit(mailsListedMax)
    .execute()
}

/** The answers to the mails of a thread that the current person sees, oldest first, with their senders. */
export async function listAnswers(
  transaction: TenantTransaction,
  tenant: TenantId,
  threadId: string,
  limit: number,
) {
  const rows = await answersSeen(transaction, tenant)
    .select([
      'mails.mail_id',
      'mails.answers_mail_id',
      'mails.user_id',
      'mails.to_address',
      'mails.subject',
      'mails.body',
      'mails.state',
      'mails.failure',
      'mails.created_at',
    ])
    .where('received_mails.thread_id', '=', threadId)
    .orderBy('mails.created_at', 'desc')
    .orderBy('mails.mail_id')
    .limit(limit)
    .execute()
  return rows.toReversed()
}

/** How many answers a received mail has. */
export async function countAnswers(
  transaction: TenantTransaction,
  tenant: TenantId,
  receivedMailId: string,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('mails')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('tenant_id', '=', tenant)
    .where('answers_mail_id', '=', receivedMailId)
    .executeTakeFirstOrThrow()
  return count
}

/** How many messages wait, and how many could not be sent. */
export async function countMails(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<{ readonly waiting: number; readonly failed: number }> {
  const { rows } = await sql<{ waiting: number; failed: number }>`
    select count(*) filter (where state = 'due')::integer as waiting,
      count(*) filter (where state = 'failed')::integer as failed
    from mails where tenant_id = ${tenant}
  `.execute(transaction)
  return rows[0] ?? { waiting: 0, failed: 0 }
}

/**
 * Makes the messages that could not be sent, and those that wait for another attempt, due now. Returns their number. What has ended
 * meanwhile stays ended: it is not sent.
 */
export async function retryMails(transaction: TenantTransaction, tenant: TenantId): Promise<number> {
  const now = await databaseNow(transaction)
  const { numUpdatedRows } = await transaction
    .updateTable('mails')
    .set({ state: 'due', settled_at: null, next_at: now })
    .where('tenant_id', '=', tenant)
    .where((row) =>
      row.or([
        row.and([row('state', '=', 'failed'), row('failure', 'not like', `${cameBack}%`)]),
        // An attempt that runs has no failure yet, and is left alone.
        row.and([row('state', '=', 'due'), row('failure', 'is not', null)]),
      ]),
    )
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** The brokerage's own mail server; null without one. */
export async function findMailServer(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<MailServerRow | null> {
  return (
    (await transaction
      .selectFrom('mail_servers')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .executeTakeFirst()) ?? null
  )
}

/** The number of the mail server of every brokerage. */
export const mailServerNumber = 1

/** Stores the mail server, or replaces the stored one. */
export async function putMailServer(
  transaction: TenantTransaction,
  tenant: TenantId,
  server: Omit<MailServerRow, 'tenant_id' | 'secret_id'>,
): Promise<void> {
  await transaction
    .insertInto('mail_servers')
    .values({ ...server, tenant_id: tenant, secret_id: mailServerNumber })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'secret_id']).doUpdateSet(server))
    .execute()
}

/** Deletes the mail server. Returns whether there was one. */
export async function deleteMailServer(transaction: TenantTransaction, tenant: TenantId): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('mail_servers')
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { ReceivedMailRow, TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'
import { mailSeenByViewer } from '../customers/teams.ts'

/** A mail that was read from the mailbox. */
export type NewReceivedMail = Pick<
  ReceivedMailRow,
  | 'digest'
  | 'mailbox_id'
  | 'uid_validity'
  | 'uid'
  | 'message_id'
  | 'from_name'
  | 'from_address'
  | 'subject'
  | 'sent_at'
  | 'sent_offset'
  | 'received_at'
  | 'bytes'
  | 'sender_check'
  | 'problem'
  | 'attachments'
  | 'lanes_read'
  | 'questions_asked'
  | 'body'
  | 'tables'
  | 'kept_days'
  | 'customer_name'
> & {
  /** The Message-IDs of earlier mails of its thread. */
  readonly references: readonly string[]
  /** `done` for a mail that asks for nothing; default: open. */
  readonly state?: 'open' | 'done'
}

/** The number of a day since 1970, in UTC. */
const dayOf = (at: Date) => Math.floor(at.getTime() / 86_400_000)

/** Stores a mail. A mail that is stored already, also under another UID, is not stored again: false. */
export async function insertReceivedMail(
  transaction: TenantTransaction,
  tenant: TenantId,
  { references, ...mail }: NewReceivedMail,
): Promise<boolean> {
  const mailId = randomUUID()
  const thread = await threadOf(transaction, tenant, references)
  const { numInsertedOrUpdatedRows } = await transaction
    .insertInto('received_mails')
    .values({
      ...mail,
      tenant_id: tenant,
      mail_id: mailId,
      thread_id: thread ?? mailId,
      received_day: dayOf(mail.received_at),
      attachments: JSON.stringify(mail.attachments),
      tables: mail.tables === null ? null : JSON.stringify(mail.tables),
      customer_confirmed: false,
      state: mail.state ?? 'open',
      assigned_to: null,
      request_id: null,
      settled_at: mail.state === 'done' ? mail.received_at : null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

const mailIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=@)/

/**
 * The thread of the newest stored mail among some, or of the mail that one of our answers among them answers; null if none is stored. Mails
 * of other brokerages are not looked at.
 */
async function threadOf(
  transaction: TenantTransaction,
  tenant: TenantId,
  references: readonly string[],
): Promise<string | null> {
  if (references.length === 0) return null
  const answers = references.flatMap((reference) => mailIdForm.exec(reference)?.[0] ?? [])
  const row = await transaction
    .selectFrom('received_mails')
    .select('thread_id')
    .where('tenant_id', '=', tenant)
    .where((mail) =>
      mail.or([
        mail('message_id', 'in', [...references]),
        ...(answers.length === 0
          ? []
          : [
              mail(
                'mail_id',
                'in',
                mail
                  .selectFrom('mails')
                  .select((answer) => answer.ref('answers_mail_id').$notNull().as('mail_id'))
                  .where('tenant_id', '=', tenant)
                  .where('mail_id', 'in', answers)
                  .where('answers_mail_id', 'is not', null),
              ),
            ]),
      ]),
    )
    .orderBy('received_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.thread_id ?? null
}

/** The customers that people confirmed for a sender: for the address, and for others of its domain. */
export async function confirmedSenders(
  transaction: TenantTransaction,
  tenant: TenantId,
  addresses: readonly string[],
): Promise<{ readonly sender: string; readonly customer: string }[]> {
  if (addresses.length === 0) return []
  const rows = await transaction
    .selectFrom('received_mails')
    .select(['from_address', 'customer_name'])
    .distinct()
    .where('tenant_id', '=', tenant)
    .where('customer_confirmed', '=', true)
    .where('from_address', 'in', [...addresses])
    .execute()
  return rows.flatMap((row) =>
    row.customer_name === null ? [] : [{ sender: row.from_address, customer: row.customer_name }],
  )
}

/** Where a page of the list begins: after this mail. */
export interface ReceivedCursor {
  readonly at: Date
  readonly id: string
}

const listed = [
  'mail_id',
  'thread_id',
  'from_name',
  'from_address',
  'subject',
  'sent_at',
  'received_at',
  'sender_check',
  'problem',
  'lanes_read',
  'questions_asked',
  'customer_name',
  'state',
  'assigned_to',
  'request_id',
  'answered_at',
] as const satisfies readonly (keyof ReceivedMailRow)[]
export type ListedMail = Pick<ReceivedMailRow, (typeof listed)[number]>

/** The mails that the current person sees, newest first. */
export async function listReceivedMails(
  transaction: TenantTransaction,
  tenant: TenantId,
  {
    state,
    before,
    limit,
  }: {
    readonly state: ReceivedMailRow['state'] | null
    readonly before: ReceivedCursor | null
    readonly limit: number
  },
): Promise<ListedMail[]> {
  let query = transaction
    .selectFrom('received_mails')
    .select(listed)
    .where('tenant_id', '=', tenant)
    .where(mailSeenByViewer(tenant))
  if (state !== null) query = query.where('state', '=', state)
  if (before !== null) {
    query = query.where(sql<boolean>`(received_at, mail_id) < (${before.at}, ${before.id}::uuid)`)
  }
  return query.orderBy('received_at', 'desc').orderBy('mail_id', 'desc').limit(limit).execute()
}

/** A mail from which quotes were made, as its speed is measured. */
export type MeasuredMail = Pick<
  ReceivedMailRow,
  'received_at' | 'answered_at' | 'draft_unchanged' | 'customer_name'
> & {
  readonly quoted_at: Date
  /** Who answered it; without an answer, the person it is assigned to: who quoted it, unless it was reassigned. */
  readonly person: number | null
  readonly is_won: boolean | null
}

/** The newest mails from which quotes were made, of those that the current person sees. */
export async function measuredMails(
  transaction: TenantTransaction,
  tenant: TenantId,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<MeasuredMail[]> {
  const { rows } = await sql<MeasuredMail>`
    select received_at, quoted_at, answered_at, draft_unchanged, customer_name,
      coalesce(answered_by, assigned_to) as person,
      (
        select case
            when bool_or(lane.outcome = 'won') then true
            when bool_or(lane.outcome = 'lost') and not bool_or(lane.outcome = 'pending') then false
          end
        from lanes as lane
        where lane.tenant_id = received_mails.tenant_id and lane.request_id = received_mails.request_id
          and lane.voided_at is null and lane.superseded_by is null
      ) as is_won
    from received_mails
    where tenant_id = ${tenant} and received_at >= ${since} and quoted_at is not null and ${mailSeenByViewer(tenant)}
    order by received_at desc, mail_id desc
    limit ${limit}
  `.execute(transaction)
  return rows
}

/** A mail with its text; null if there is none, or if the current person does not see it. */
export async function findReceivedMail(
  transaction: TenantTransaction,
  tenant: TenantId,
  mailId: string,
): Promise<ReceivedMailRow | null> {
  return (
    (await transaction
      .selectFrom('received_mails')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('mail_id', '=', mailId)
      .where(mailSeenByViewer(tenant))
      .executeTakeFirst()) ?? null
  )
}

/** The newest mails of a thread that the current person sees, oldest first. */
export async function listThread(
  transaction: TenantTransaction,
  tenant: TenantId,
  threadId: string,
  limit: number,
): Promise<ListedMail[]> {
  const rows = await transaction
    .selectFrom('received_mails')
    .select(listed)
    .where('tenant_id', '=', tenant)
    .where('thread_id', '=', threadId)
    .where(mailSeenByViewer(tenant))
    .orderBy('received_at', 'desc')
    .orderBy('mail_id', 'desc')
    .limit(limit)
    .execute()
  return rows.toReversed()
}

/** Changes what people decide about a mail, and returns it; null if there is none that the current person sees. */
export async function updateReceivedMail(
  transaction: TenantTransaction,
  tenant: TenantId,
  mailId: string,
  values: Partial<
    Pick<
      ReceivedMailRow,
      | 'state'
      | 'settled_at'
      | 'assigned_to'
      | 'customer_name'
      | 'customer_confirmed'
      | 'request_id'
      | 'quoted_at'
      | 'answered_at'
      | 'answered_by'
      | 'draft_unchanged'
    >
  >,
): Promise<ListedMail | null> {
  if (Object.keys(values).length === 0) return findReceivedMail(transaction, tenant, mailId)
  const row = await transaction
    .updateTable('received_mails')
    .set(values)
    .where('tenant_id', '=', tenant)
    .where('mail_id', '=', mailId)
    .where(mailSeenByViewer(tenant))
    .returning(listed)
    .executeTakeFirst()
  return row ?? null
}

/** How many open mails the current person sees, at most `limit`; null without a mailbox and an address. */
export async function countOpenMails(
  transaction: TenantTransaction,
  tenant: TenantId,
  limit: number,
): Promise<number | null> {
  const { rows } = await sql<{ open: number | null }>`
    select case when exists (select from mailboxes where tenant_id = ${tenant})
      or exists (select from mail_addresses where tenant_id = ${tenant}) then (
      select count(*)::integer from (
        select from received_mails
        where tenant_id = ${tenant} and state = 'open' and ${mailSeenByViewer(tenant)} limit ${limit}
      ) as open_mails
    ) end as open
  `.execute(transaction)
  return rows[0]?.open ?? null
}

/** The brokerages with texts or mails that were kept for long enough. */
export async function tenantsWithEndedTexts(
  transaction: TenantTransaction,
  { now, oldest }: { readonly now: Date; readonly oldest: Date },
): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_ended_mail_texts(${dayOf(now)}, ${oldest}) as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** Deletes texts whose time is over, and mails that came before `oldest`: some at a time. Returns their number. */
export async function deleteEndedTexts(
  transaction: TenantTransaction,
  tenant: TenantId,
  { now, oldest, limit }: { readonly now: Date; readonly oldest: Date; readonly limit: number },
): Promise<number> {
  const texts = await sql`
    update received_mails set body = null, tables = null where tenant_id = ${tenant} and mail_id in (
      select mail_id from received_mails
      where tenant_id = ${tenant} and body is not null and received_day + kept_days < ${dayOf(now)} limit ${limit}
    )
  `.execute(transaction)
  const mails = await sql`
    delete from received_mails where tenant_id = ${tenant} and mail_id in (
      select mail_id from received_mails where tenant_id = ${tenant} and received_at <= ${oldest} limit ${limit}
    )
  `.execute(transaction)
  return Number(texts.numAffectedRows ?? 0n) + Number(mails.numAffectedRows ?? 0n)
}

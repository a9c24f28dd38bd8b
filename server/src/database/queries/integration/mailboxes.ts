import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { MailboxRow, TenantTransaction } from '../../schema/index.ts'
import { type TenantId, tenantId } from '../../session/index.ts'
import { databaseNow } from '../quotes/lane-changes.ts'

/** The number of the mailbox of every brokerage. */
export const mailboxNumber = 1

const later = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1_000)

/** The brokerage's mailbox; null without one. */
export async function findMailbox(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<MailboxRow | null> {
  return (
    (await transaction
      .selectFrom('mailboxes')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .executeTakeFirst()) ?? null
  )
}

/** What an admin sets of a mailbox. */
export type SetMailbox = Pick<
  MailboxRow,
  'host' | 'port' | 'user_name' | 'sealed' | 'checking_server' | 'kept_days' | 'set_at'
>

/**
 * Stores the mailbox, or replaces the stored one, to be opened at once. The same mailbox, with another password, is read on from
 * where it was left; another one from now on. The texts of stored mails are kept for as long as the new setting says.
 */
export async function putMailbox(
  transaction: TenantTransaction,
  tenant: TenantId,
  mailbox: SetMailbox,
): Promise<void> {
  const before = await findMailbox(transaction, tenant)
  const isSame =
    before !== null &&
    before.host === mailbox.host &&
    before.port === mailbox.port &&
    before.user_name === mailbox.user_name
  const values = {
    ...mailbox,
    ...(isSame ? {} : { mailbox_id: randomUUID(), uid_validity: null, last_uid: null, read_at: null }),
    trying_uid: null,
    tries: 0,
    // A process that reads with the former settings loses its lease.
    lease_id: null,
    lease_until: null,
    next_at: await databaseNow(transaction),
    failures: 0,
    failing_since: null,
    is_refused: false,
    failure: null,
  }
  await transaction
    .insertInto('mailboxes')
    .values({
      mailbox_id: randomUUID(),
      uid_validity: null,
      last_uid: null,
      read_at: null,
      ...values,
      tenant_id: tenant,
      secret_id: mailboxNumber,
    })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'secret_id']).doUpdateSet(values))
    .execute()
  await transaction
    .updateTable('received_mails')
    .set({ kept_days: mailbox.kept_days })
    .where('tenant_id', '=', tenant)
    .where('body', 'is not', null)
    // Mails that were forwarded have a setting of their own.
    .where('mailbox_id', 'not in', (addresses) =>
      addresses.selectFrom('mail_addresses').select('mailbox_id').where('tenant_id', '=', tenant),
    )
    .execute()
}

/** Deletes the mailbox. Returns whether there was one. Its mails stay. */
export async function deleteMailbox(transaction: TenantTransaction, tenant: TenantId): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('mailboxes')
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** The brokerages whose mailbox no process reads, and may be opened. */
export async function tenantsWithDueMailboxes(transaction: TenantTransaction): Promise<TenantId[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from tenants_with_due_mailboxes() as tenant_id
  `.execute(transaction)
  return rows.map((row) => tenantId(row.tenant_id))
}

/** Claims the mailbox for one process, for `leaseSeconds`. Null if it is not due, or another process reads it. */
export async function claimMailbox(
  transaction: TenantTransaction,
  tenant: TenantId,
  leaseSeconds: number,
): Promise<(MailboxRow & { readonly lease_id: string }) | null> {
  const now = await databaseNow(transaction)
  const lease = randomUUID()
  const row = await transaction
    .updateTable('mailboxes')
    .set({ lease_id: lease, lease_until: later(now, leaseSeconds) })
    .where('tenant_id', '=', tenant)
    .where('next_at', '<=', now)
    .where((mailbox) => mailbox.or([mailbox('lease_until', 'is', null), mailbox('lease_until', '<=', now)]))
    .returningAll()
    .executeTakeFirst()
  return row === undefined ? null : { ...row, lease_id: lease }
}

/** What a process that reads a mailbox records of it. */
export type MailboxProgress = Partial<
  Pick<
    MailboxRow,
    | 'uid_validity'
    | 'last_uid'
    | 'trying_uid'
    | 'tries'
    | 'failures'
    | 'failing_since'
    | 'is_refused'
    | 'failure'
    | 'read_at'
  >
>

/** Records progress and holds the lease for another `leaseSeconds`. Returns false, and writes nothing, if it is another's by now. */
export async function holdMailbox(
  transaction: TenantTransaction,
  tenant: TenantId,
  { lease, leaseSeconds, progress }: HeldLease & { readonly leaseSeconds: number },
): Promise<boolean> {
  const now = await databaseNow(transaction)
  return setOfLease(transaction, tenant, lease, { ...progress, lease_until: later(now, leaseSeconds) })
}

/** Records progress and gives the lease back: the mailbox is not opened for `pauseSeconds`. */
export async function leaveMailbox(
  transaction: TenantTransaction,
  tenant: TenantId,
  { lease, pauseSeconds, progress }: HeldLease & { readonly pauseSeconds: number },
): Promise<boolean> {
  const now = await databaseNow(transaction)
  const given = { lease_id: null, lease_until: null, next_at: later(now, pauseSeconds) }
  return setOfLease(transaction, tenant, lease, { ...progress, ...given })
}

interface HeldLease {
  readonly lease: string
  readonly progress: MailboxProgress
}

async function setOfLease(
  transaction: TenantTransaction,
  tenant: TenantId,
  lease: string,
  values: Partial<Omit<MailboxRow, 'tenant_id' | 'secret_id'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('mailboxes')
    .set(values)
    .where('tenant_id', '=', tenant)
    .where('lease_id', '=', lease)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

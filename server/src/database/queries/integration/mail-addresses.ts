import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { MailAddressRow, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

/** The address to which the brokerage forwards mails; null without one. */
export async function findMailAddress(
  transaction: TenantTransaction,
  tenant: TenantId,
): Promise<MailAddressRow | null> {
  return (
    (await transaction
      .selectFrom('mail_addresses')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .executeTakeFirst()) ?? null
  )
}

/** Stores an address in place of the stored one. Texts of the mails that it received are kept for as long as the setting says. */
export async function putMailAddress(
  transaction: TenantTransaction,
  tenant: TenantId,
  address: Pick<MailAddressRow, 'secret' | 'kept_days' | 'made_at'>,
): Promise<void> {
  const values = { ...address, mailbox_id: randomUUID(), last_uid: 0, received_at: null }
  await transaction
    .insertInto('mail_addresses')
    .values({ ...values, tenant_id: tenant })
    .onConflict((conflict) => conflict.column('tenant_id').doUpdateSet(values))
    .execute()
}

/** Changes for how long texts are kept, also of mails that were received. Returns whether there is an address. */
export async function keepMailTexts(
  transaction: TenantTransaction,
  tenant: TenantId,
  keptDays: number,
): Promise<boolean> {
  const row = await transaction
    .updateTable('mail_addresses')
    .set({ kept_days: keptDays })
    .where('tenant_id', '=', tenant)
    .returning('mailbox_id')
    .executeTakeFirst()
  if (row === undefined) return false
  await transaction
    .updateTable('received_mails')
    .set({ kept_days: keptDays })
    .where('tenant_id', '=', tenant)
    .where('mailbox_id', '=', row.mailbox_id)
    .where('body', 'is not', null)
    .execute()
  return true
}

/** Deletes the address. Returns whether there was one. Its mails stay. */
export async function deleteMailAddress(transaction: TenantTransaction, tenant: TenantId): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom('mail_addresses')
    .where('tenant_id', '=', tenant)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Counts a mail for the address with this secret, and returns its number; null if the address is not the brokerage's any more. */
export async function numberMail(
  transaction: TenantTransaction,
  tenant: TenantId,
  { secret, now }: { readonly secret: string; readonly now: Date },
): Promise<Pick<MailAddressRow, 'mailbox_id' | 'last_uid' | 'kept_days'> | null> {
  const row = await transaction
    .updateTable('mail_addresses')
    .set({ last_uid: sql`last_uid + 1`, received_at: now })
    .where('tenant_id', '=', tenant)
    .where('secret', '=', secret)
    .returning(['mailbox_id', 'last_uid', 'kept_days'])
    .executeTakeFirst()
  return row ?? null
}

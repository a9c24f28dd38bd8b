import type { Config } from '../configuration/index.ts'
import { findMailServer, insertMails, type NewMail } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { oneLine } from './smtp.ts'

/** Whether mail of a brokerage would be sent: by the operator's server, or by its own. */
export async function hasMailServer(
  transaction: TenantTransaction,
  tenant: TenantId,
  { mail }: Pick<Config, 'mail'>,
): Promise<boolean> {
  if (mail.operators !== null) return true
  return mail.byBrokerage && (await findMailServer(transaction, tenant)) !== null
}

/**
 * Writes mails to the outbox, in the transaction of the change that they tell of. Without a mail server, none is written: a server
 * that is set later does not send old news.
 */
export async function queueMails(
  transaction: TenantTransaction,
  tenant: TenantId,
  mails: readonly NewMail[],
  { config, now }: { readonly config: Pick<Config, 'mail'>; readonly now: number },
): Promise<void> {
  if (mails.length === 0 || !(await hasMailServer(transaction, tenant, config))) return
  const clean = mails.map((mail) => ({ ...mail, subject: oneLine(mail.subject) }))
  await insertMails(transaction, tenant, clean, new Date(now))
}

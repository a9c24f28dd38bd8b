import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type TenantId } from '../../session/index.ts'

/** The tables with encrypted secrets of a tenant. */
export const sealedTables = [
  'signing_secrets',
  'event_secrets',
  'market_keys',
  'second_factors',
  'mail_servers',
  'mailboxes',
  'company_sign_ins',
] as const
export type SealedTable = (typeof sealedTables)[number]

/** A person has at most one second factor, so its number is that of the person. */
const numberOf = (table: SealedTable) => sql.ref(table === 'second_factors' ? 'user_id' : 'secret_id')

/** A stored secret. */
export interface SealedRow {
  readonly secret_id: number
  readonly sealed: Buffer
  /** Null: it does not expire. */
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

/** The secrets of a table by number, after one, as they are encrypted again. Locks them until the commit. */
export async function readSealed(
  transaction: TenantTransaction,
  tenant: TenantId,
  table: SealedTable,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly SealedRow[]> {
  const never = sql`null::timestamptz`
  const expires = table === 'signing_secrets' || table === 'event_secrets' ? sql.ref('expires_at') : never
  const revoked = table === 'signing_secrets' ? sql.ref('revoked_at') : never
  const { rows } = await sql<SealedRow>`
    select ${numberOf(table)} as secret_id, sealed, ${expires} as expires_at, ${revoked} as revoked_at
    from ${sql.table(table)}
    where tenant_id = ${tenant} and ${numberOf(table)} > ${after}
    order by ${numberOf(table)} limit ${limit} for no key update
  `.execute(transaction)
  return rows
}

/** Replaces the encrypted form of a secret. Signing secrets are cached, so processes read them again. */
export async function sealAnew(
  transaction: TenantTransaction,
  tenant: TenantId,
  table: SealedTable,
  { secretId, sealed }: { readonly secretId: number; readonly sealed: Buffer },
): Promise<void> {
  if (table === 'signing_secrets') accessChanged(transaction)
  await sql`
    update ${sql.table(table)} set sealed = ${sealed} where tenant_id = ${tenant} and ${numberOf(table)} = ${secretId}
  `.execute(transaction)
}

/**
 * Ends a secret that no key can decrypt: a signing secret is revoked, the secret of an event endpoint expires, and a key of a
 * market-rate provider is removed, and so are a second factor, a mail server, a mailbox and the provider of company sign-in.
 */
export async function endSealed(
  transaction: TenantTransaction,
  tenant: TenantId,
  table: SealedTable,
  { secretId, now }: { readonly secretId: number; readonly now: Date },
): Promise<void> {
  if (table === 'signing_secrets') accessChanged(transaction)
  const secret = sql`where tenant_id = ${tenant} and ${numberOf(table)} = ${secretId}`
  const statement = {
    signing_secrets: sql`update signing_secrets set revoked_at = ${now} ${secret}`,
    event_secrets: sql`update event_secrets set expires_at = ${now} ${secret}`,
    market_keys: sql`delete from market_keys ${secret}`,
    second_factors: sql`delete from second_factors ${secret}`,
    mail_servers: sql`delete from mail_servers ${secret}`,
    mailboxes: sql`delete from mailboxes ${secret}`,
    company_sign_ins: sql`delete from company_sign_ins ${secret}`,
  }[table]
  await statement.execute(transaction)
}

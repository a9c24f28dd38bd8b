import { sql } from 'kysely'
import type { TenantTransaction } from '../../schema/index.ts'
import { accessChanged, type TenantId } from '../../session/index.ts'

/** The tables with encrypted secrets of a tenant. */
export type SealedTable = 'signing_secrets' | 'event_secrets'

/** Replaces the encrypted form of a secret. Signing secrets are cached, so processes read them again. */
export async function sealAnew(
  transaction: TenantTransaction,
  tenant: TenantId,
  table: SealedTable,
  { secretId, sealed }: { readonly secretId: number; readonly sealed: Buffer },
): Promise<void> {
  if (table === 'signing_secrets') accessChanged(transaction)
  await sql`
    update ${sql.table(table)} set sealed = ${sealed} where tenant_id = ${tenant} and secret_id = ${secretId}
  `.execute(transaction)
}

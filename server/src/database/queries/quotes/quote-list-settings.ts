import type { StoredQuoteListSettings, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

interface VersionedSettings {
  readonly version: number
  readonly settings: StoredQuoteListSettings
}

/** A person's views and columns of the list of quotes; null before the first change. */
export async function findQuoteListSettings(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
): Promise<VersionedSettings | null> {
  const row = await transaction
    .selectFrom('quote_list_settings')
    .select(['version', 'settings'])
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row ?? null
}

/** Saves a person's settings as the version after `version`. False if the saved version differs. */
export async function saveQuoteListSettings(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  { version, settings }: VersionedSettings,
): Promise<boolean> {
  const next = { version: version + 1, settings: JSON.stringify(settings) }
  const { numInsertedOrUpdatedRows: saved } = await transaction
    .insertInto('quote_list_settings')
    .values({ tenant_id: tenant, user_id: userId, ...next })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'user_id'])
        .doUpdateSet(next)
        .where('quote_list_settings.version', '=', version),
    )
    .executeTakeFirstOrThrow()
  return saved === 1n
}

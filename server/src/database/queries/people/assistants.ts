import type { Selectable } from 'kysely'
import type { Tables, TenantTransaction } from '../../schema/index.ts'
import type { TenantId } from '../../session/index.ts'

export type AssistantRow = Selectable<Tables['assistants']>

/** Stores what the session of an assistant may be used with, in the transaction that begins the session. */
export async function insertAssistant(
  transaction: TenantTransaction,
  tenant: TenantId,
  assistant: Omit<AssistantRow, 'tenant_id' | 'code_used_at' | 'refresh_number'>,
): Promise<void> {
  await transaction
    .insertInto('assistants')
    .values({ ...assistant, tenant_id: tenant })
    .execute()
}

/** The assistant of a session, locked, so that a code or refresh token is used once over all instances; null if there is none. */
export async function lockAssistant(
  transaction: TenantTransaction,
  tenant: TenantId,
  sessionId: string,
): Promise<AssistantRow | null> {
  return (
    (await transaction
      .selectFrom('assistants')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('session_id', '=', sessionId)
      .forNoKeyUpdate()
      .executeTakeFirst()) ?? null
  )
}

/** Records that the code was used, or that another refresh token is the accepted one. */
export async function updateAssistant(
  transaction: TenantTransaction,
  tenant: TenantId,
  sessionId: string,
  values: Partial<Pick<AssistantRow, 'code_used_at' | 'refresh_number'>>,
): Promise<void> {
  await transaction
    .updateTable('assistants')
    .set(values)
    .where('tenant_id', '=', tenant)
    .where('session_id', '=', sessionId)
    .execute()
}

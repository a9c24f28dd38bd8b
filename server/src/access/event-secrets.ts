import { insertEventSecret } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { newWebhookSecret, type SecretKeys, seal } from '../security/index.ts'

/** Where the sealed secret of an address that events are sent to is kept: moved to another row, it does not open. */
export function eventSecretPlace(tenant: number, secretId: number): string {
  return `event secret ${tenant}/${secretId}`
}

/**
 * Makes a secret for an address, sealed for its own row; what signed there before goes on until `overlapEnd`. The plaintext
 * is in this answer and nowhere else.
 */
export async function issueEventSecret(
  transaction: TenantTransaction,
  {
    tenant,
    endpointId,
    now,
    overlapEnd,
  }: {
    readonly tenant: TenantId
    readonly endpointId: number
    readonly now: Date
    readonly overlapEnd: Date
  },
  [secretKey]: SecretKeys,
): Promise<{ secretId: number; plaintext: string }> {
  const plaintext = newWebhookSecret()
  const secretId = await insertEventSecret(transaction, tenant, {
    endpointId,
    now,
    overlapEnd,
    sealedFor: (id) => seal(secretKey, eventSecretPlace(tenant, id), plaintext),
  })
  return { secretId, plaintext }
}

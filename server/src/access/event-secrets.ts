import { insertEventSecret } from '../database/queries/index.ts'
import type { TenantTransaction } from '../database/schema/index.ts'
import type { TenantId } from '../database/session/index.ts'
import { newWebhookSecret, type SecretKeys, seal } from '../security/index.ts'

/** The associated data of an event endpoint's sealed secret. It names the row: in another row, the secret cannot be decrypted. */
export function eventSecretPlace(tenant: number, secretId: number): string {
  return `event secret ${tenant}/${secretId}`
}

/**
 * Makes a secret for an event endpoint, sealed for its own row. Earlier secrets of the endpoint stay valid until
 * `overlapEnd`. The plaintext exists only in the return value.
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

import { problem } from '#contract/errors.ts'
import { signatureChecksPerMinuteMax } from '#contract/limits.ts'
import { checkSignature } from '#contract/signature-check.ts'
import { secretPlace } from '../access/index.ts'
import { listSigningSecrets, type SigningSecretRow } from '../database/queries/index.ts'
import { unsealWithAny } from '../security/index.ts'
import { explainSignature, type KnownSecret } from '../signing/index.ts'
import { serve } from './endpoint-call.ts'

/** When a secret was revoked or expired; null while it is live. */
function endOf(secret: SigningSecretRow, now: number): KnownSecret['ended'] {
  if (secret.revoked_at !== null) return { how: 'revoked', at: secret.revoked_at.getTime() }
  const expiresAt = secret.expires_at?.getTime()
  return expiresAt === undefined || expiresAt > now ? null : { how: 'expired', at: expiresAt }
}

export const signatureCheckEndpoint = serve(checkSignature, async ({ caller, body, now }, parts) => {
  const { admitted, retryAfterMs } = parts.signatureCheckLimit.admit(caller.tenant, parts.monotonic())
  if (!admitted) {
    throw problem(
      'too-many-attempts',
      `Your brokerage has checked ${signatureChecksPerMinuteMax} signatures within a minute; wait and check this one again.`,
      { headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) } },
    )
  }
  const rows = await parts.database.inTenant(caller.tenant, (transaction) =>
    listSigningSecrets(transaction, caller.tenant),
  )
  const secrets = rows
    .filter(({ name }) => body.secret_name === undefined || name === body.secret_name)
    .flatMap((row) => {
      const plaintext = unsealWithAny(parts.secretKeys, secretPlace(caller.tenant, row.secret_id), row.sealed)
      return plaintext === null
        ? []
        : [{ id: row.secret_id, name: row.name, plaintext, ended: endOf(row, now) }]
    })
  const { ok, parts: explained, matched } = explainSignature(body, secrets, now)
  return {
    ok,
    parts: explained.map((one) => ({ ...one })),
    matched_secret: matched === null ? null : { id: matched.id, name: matched.name },
  }
})

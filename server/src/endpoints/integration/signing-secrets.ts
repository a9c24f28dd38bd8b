import type { Static } from 'typebox'
import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { liveSecretsPerNameMax, secretOverlapHoursDefault } from '#contract/limits.ts'
import type * as contract from '#contract/signing-secret.ts'
import { issueSigningSecret, type PersonCaller } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import { credentials } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { shownOnce } from './shown-once.ts'

function secretAnswer(secret: credentials.SigningSecretRow): Static<typeof contract.SigningSecret> {
  return {
    id: secret.secret_id,
    name: secret.name,
    created_at: secret.created_at.toISOString(),
    expires_at: secret.expires_at?.toISOString() ?? null,
    last_used_at: secret.last_used_at?.toISOString() ?? null,
    revoked_at: secret.revoked_at?.toISOString() ?? null,
  }
}

/** Creates a secret, unless two live ones have the same name. The plaintext is only in this answer. */
async function issueSecret(
  transaction: TenantTransaction,
  caller: PersonCaller,
  name: string,
  parts: Pick<Parts, 'database' | 'secretKeys'>,
  now: number,
) {
  const live = await credentials.lockLiveSecretsOf(transaction, caller.tenant, name, new Date(now))
  if (live.length >= liveSecretsPerNameMax) {
    throw problem(
      'too-many-live-secrets',
      `Two secrets named "${name}" are live already. Rotate one (POST /api/integrations/secrets/{id}/rotate) or revoke one (DELETE /api/integrations/secrets/{id}).`,
    )
  }
  const { row, plaintext } = await issueSigningSecret(
    transaction,
    { tenant: caller.tenant, userId: caller.userId, name, now },
    parts.secretKeys,
  )
  return { id: row.secret_id, name: row.name, secret: plaintext, warning: shownOnce('secret') }
}

/** Creates a signing secret. Its text is only in this answer. @throws Problem too-many-live-secrets */
export async function createSigningSecret(
  call: Call<typeof contract.createSigningSecret>,
  parts: Pick<Parts, 'database' | 'secretKeys'>,
): Promise<AnswerOf<typeof contract.createSigningSecret>> {
  const { caller, body, now } = call
  return parts.database.inTenant(caller.tenant, async (transaction) => {
    const made = await issueSecret(transaction, caller, body.name, parts, now)
    const about = { secret_id: made.id, name: made.name }
    await recordEvent(transaction, call, 'secret-created', { about })
    return made
  })
}

export async function listSigningSecrets(
  { caller }: Call<typeof contract.listSigningSecrets>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.listSigningSecrets>> {
  return database.inTenant(caller.tenant, async (transaction) => {
    const rows = await credentials.listSigningSecrets(transaction, caller.tenant)
    return { secrets: rows.map(secretAnswer) }
  })
}

/** Creates the successor of a signing secret, which ends after an overlap. @throws Problem not-found, state-conflict, too-many-live-secrets */
export async function rotateSigningSecret(
  call: Call<typeof contract.rotateSigningSecret>,
  parts: Pick<Parts, 'database' | 'secretKeys'>,
): Promise<AnswerOf<typeof contract.rotateSigningSecret>> {
  const { caller, params, body, now } = call
  return parts.database.inTenant(caller.tenant, async (transaction) => {
    const live = await credentials.liveSigningSecrets(transaction, caller.tenant, new Date(now))
    const old = live.find((secret) => secret.secret_id === params.id)
    if (old === undefined) {
      const known = await credentials.listSigningSecrets(transaction, caller.tenant)
      if (known.some((secret) => secret.secret_id === params.id)) {
        throw problem('state-conflict', `Secret ${params.id} is no longer live. Create a new one.`)
      }
      throw problem('not-found', `There is no signing secret ${params.id} in this brokerage.`)
    }
    const successor = await issueSecret(transaction, caller, old.name, parts, now)
    const end = new Date(now + (body.overlap_hours ?? secretOverlapHoursDefault) * 3_600_000)
    // If the secret already has an end, a rotation never postpones it.
    const expiresAt = old.expires_at !== null && old.expires_at < end ? old.expires_at : end
    await credentials.expireSigningSecret(transaction, caller.tenant, old.secret_id, expiresAt)
    await recordEvent(transaction, call, 'secret-rotated', {
      about: {
        secret_id: old.secret_id,
        name: old.name,
        successor_id: successor.id,
        ends_at: expiresAt.toISOString(),
      },
    })
    return successor
  })
}

/** Revokes a signing secret for good. Repeating it changes nothing. @throws Problem not-found */
export async function revokeSigningSecret(
  call: Call<typeof contract.revokeSigningSecret>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.revokeSigningSecret>> {
  const { caller, params, now } = call
  return database.inTenant(caller.tenant, async (transaction) => {
    const found = await credentials.revokeSigningSecret(transaction, caller.tenant, params.id, new Date(now))
    if (found === null)
      throw problem('not-found', `There is no signing secret ${params.id} in this brokerage.`)
    const about = { secret_id: params.id, name: found.row.name }
    if (found.revoked) await recordEvent(transaction, call, 'secret-revoked', { about })
    return secretAnswer(found.row)
  })
}

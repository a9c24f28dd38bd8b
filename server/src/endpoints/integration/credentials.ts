import type { Static } from 'typebox'
import { problem } from '#contract/errors.ts'
import { liveSecretsPerNameMax, secretOverlapHoursDefault } from '#contract/limits.ts'
import {
  createServiceToken,
  listServiceTokens,
  revokeServiceToken,
  type ServiceToken,
} from '#contract/service-token.ts'
import {
  createSigningSecret,
  listSigningSecrets,
  revokeSigningSecret,
  rotateSigningSecret,
  type SigningSecret,
} from '#contract/signing-secret.ts'
import { defaultScope, scopesIn } from '#contract/token-scopes.ts'
import { issueServiceToken, issueSigningSecret, type PersonCaller } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import { credentials } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

const shownOnce = (what: string) => `This ${what} is shown once. Store it now; it cannot be shown again.`

function tokenAnswer(token: credentials.ServiceTokenRow): Static<typeof ServiceToken> {
  return {
    id: token.token_id,
    name: token.name,
    scope: token.scope,
    created_at: token.created_at.toISOString(),
    expires_at: token.expires_at.toISOString(),
    last_used_at: token.last_used_at?.toISOString() ?? null,
    last_used_from: token.last_used_from,
    revoked_at: token.revoked_at?.toISOString() ?? null,
  }
}

function secretAnswer(secret: credentials.SigningSecretRow): Static<typeof SigningSecret> {
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
  parts: Parts,
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

export const credentialEndpoints: ServedEndpoint[] = [
  serve(createServiceToken, async (call, { database, tokens }) => {
    const { caller, body, now } = call
    const scope = scopesIn(body.scope ?? defaultScope).join(' ')
    const { row, token } = await database.inTenant(caller.tenant, async (transaction) => {
      const issued = await issueServiceToken(transaction, { ...caller, name: body.name, scope, now }, tokens)
      const about = { token_id: issued.row.token_id, name: body.name, scope }
      await recordEvent(transaction, call, 'token-created', { about })
      return issued
    })
    return {
      id: row.token_id,
      name: row.name,
      scope: row.scope,
      expires_at: row.expires_at.toISOString(),
      token,
      warning: shownOnce('token'),
    }
  }),

  serve(listServiceTokens, async ({ caller }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const rows = await credentials.listServiceTokens(transaction, caller.tenant)
      return { tokens: rows.map(tokenAnswer) }
    }),
  ),

  serve(revokeServiceToken, async (call, { database }) => {
    const { caller, params, now } = call
    return database.inTenant(caller.tenant, async (transaction) => {
      const found = await credentials.revokeServiceToken(transaction, caller.tenant, params.id, new Date(now))
      if (found === null)
        throw problem('not-found', `There is no service token ${params.id} in this brokerage.`)
      const about = { token_id: params.id, name: found.row.name }
      if (found.revoked) await recordEvent(transaction, call, 'token-revoked', { about })
      return tokenAnswer(found.row)
    })
  }),

  serve(createSigningSecret, async (call, parts) => {
    const { caller, body, now } = call
    return parts.database.inTenant(caller.tenant, async (transaction) => {
      const made = await issueSecret(transaction, caller, body.name, parts, now)
      const about = { secret_id: made.id, name: made.name }
      await recordEvent(transaction, call, 'secret-created', { about })
      return made
    })
  }),

  serve(listSigningSecrets, async ({ caller }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const rows = await credentials.listSigningSecrets(transaction, caller.tenant)
      return { secrets: rows.map(secretAnswer) }
    }),
  ),

  serve(rotateSigningSecret, async (call, parts) => {
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
      // A running overlap is never extended.
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
  }),

  serve(revokeSigningSecret, async (call, { database }) => {
    const { caller, params, now } = call
    return database.inTenant(caller.tenant, async (transaction) => {
      const found = await credentials.revokeSigningSecret(
        transaction,
        caller.tenant,
        params.id,
        new Date(now),
      )
      if (found === null)
        throw problem('not-found', `There is no signing secret ${params.id} in this brokerage.`)
      const about = { secret_id: params.id, name: found.row.name }
      if (found.revoked) await recordEvent(transaction, call, 'secret-revoked', { about })
      return secretAnswer(found.row)
    })
  }),
]

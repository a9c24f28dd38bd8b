import type { Static } from 'typebox'
import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import type * as contract from '#contract/service-token.ts'
import { defaultScope, scopesIn } from '#contract/token-scopes.ts'
import { issueServiceToken } from '../../access/index.ts'
import { recordEvent } from '../../audit/index.ts'
import { credentials } from '../../database/queries/index.ts'
import type { Call } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { shownOnce } from './shown-once.ts'

function tokenAnswer(token: credentials.ServiceTokenRow): Static<typeof contract.ServiceToken> {
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

/** Creates a service token. Its text is only in this answer. */
export async function createServiceToken(
  call: Call<typeof contract.createServiceToken>,
  { database, tokens }: Pick<Parts, 'database' | 'tokens'>,
): Promise<AnswerOf<typeof contract.createServiceToken>> {
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
}

export async function listServiceTokens(
  { caller }: Call<typeof contract.listServiceTokens>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.listServiceTokens>> {
  return database.inTenant(caller.tenant, async (transaction) => {
    const rows = await credentials.listServiceTokens(transaction, caller.tenant)
    return { tokens: rows.map(tokenAnswer) }
  })
}

/** Revokes a service token for good. Repeating it changes nothing. @throws Problem not-found */
export async function revokeServiceToken(
  call: Call<typeof contract.revokeServiceToken>,
  { database }: Pick<Parts, 'database'>,
): Promise<AnswerOf<typeof contract.revokeServiceToken>> {
  const { caller, params, now } = call
  return database.inTenant(caller.tenant, async (transaction) => {
    const found = await credentials.revokeServiceToken(transaction, caller.tenant, params.id, new Date(now))
    if (found === null)
      throw problem('not-found', `There is no service token ${params.id} in this brokerage.`)
    const about = { token_id: params.id, name: found.row.name }
    if (found.revoked) await recordEvent(transaction, call, 'token-revoked', { about })
    return tokenAnswer(found.row)
  })
}

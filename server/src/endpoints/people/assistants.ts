import { randomUUID } from 'node:crypto'
import { checkAssistant, connectAssistant } from '#contract/assistants.ts'
import type { BodyOf } from '#contract/endpoint.ts'
import { agentPath } from '#contract/endpoint.ts'
import { type FieldError, invalid, problem } from '#contract/errors.ts'
import { assistantCodeSeconds, assistantsPerPersonMax, assistantTokenSeconds } from '#contract/limits.ts'
import { requireRecentFactor } from '../../access/index.ts'
import {
  type AssistantClient,
  clientHash,
  clientOf,
  isLoopback,
  isOwnRedirect,
  isVerifierOf,
  secretOf,
  secretTextOf,
} from '../../assistants/index.ts'
import { recordEvent } from '../../audit/index.ts'
import { assistants, people, sessions } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type TenantId, tenantId } from '../../database/session/index.ts'
import { type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

type Asked = Omit<BodyOf<typeof connectAssistant>, 'allow'>

/** The one scope of assistants. */
export const assistantScope = 'read'
/** The address whose calls the tokens are for. */
export const resourceOf = (origin: string) => `${origin}${agentPath}`

/**
 * The client of a request.
 *
 * @throws Problem validation-failed with every wrong parameter
 */
function clientAsked(
  asked: Asked,
  origin: string,
  { secretKeys }: Pick<Parts, 'secretKeys'>,
): AssistantClient {
  const wrong: FieldError[] = []
  const refuse = (name: keyof Asked, detail: string) =>
    wrong.push({ pointer: `/${name}`, code: 'invalid', detail: `${name} ${detail}` })
  const client = clientOf(secretKeys, asked.client_id)
  if (client === null)
    refuse('client_id', 'is not one that this installation gave: the program must register again.')
  else if (!isOwnRedirect(client, asked.redirect_uri)) {
    refuse('redirect_uri', 'is not an address that the program registered.')
  }
  if (asked.response_type !== 'code') refuse('response_type', 'must be code.')
  if (asked.code_challenge_method !== 'S256') refuse('code_challenge_method', 'must be S256.')
  if (!/^[A-Za-z0-9_-]{43}$/.test(asked.code_challenge)) {
    refuse('code_challenge', 'must be the SHA-256 of the verifier in base64url: 43 characters.')
  }
  if (asked.scope?.split(' ').some((one) => one !== '' && one !== assistantScope)) {
    refuse('scope', `must be ${assistantScope}: assistants only read.`)
  }
  if (asked.resource !== undefined && asked.resource.replace(/\/$/, '') !== resourceOf(origin)) {
    refuse('resource', `must be ${resourceOf(origin)}.`)
  }
  if (client === null || wrong.length > 0) throw invalid(wrong)
  return client
}

/** The address of the program with parameters, and with the issuer (RFC 9207). */
function returnTo(asked: Asked, origin: string, added: Readonly<Record<string, string>>): string {
  const url = new URL(asked.redirect_uri)
  for (const [name, value] of Object.entries({ ...added, iss: origin })) url.searchParams.set(name, value)
  if (asked.state !== undefined) url.searchParams.set('state', asked.state)
  return url.href
}

/** Who gets the code, in words for a person. */
function placeOf(uri: string): string {
  if (isLoopback(uri)) return 'this computer'
  const { protocol, host } = new URL(uri)
  // What follows a scheme of a program's own is no host: the program could write there the name of a site that the person trusts.
  return protocol === 'https:' ? host : `a program on this computer (${protocol})`
}

/** The name of an assistant in the list of sessions. */
const deviceOf = ({ name }: AssistantClient) => `${name} (assistant)`

export const assistantEndpoints: ServedEndpoint[] = [
  serve(checkAssistant, async ({ caller, body, address }, parts) => {
    const client = clientAsked(body, address, parts)
    const { tenant } = caller
    const row = await parts.database.inTenant(tenant, (transaction) =>
      people.tenantOfSession(transaction, tenant),
    )
    return {
      client_name: client.name,
      goes_to: placeOf(body.redirect_uri),
      brokerage: row.name,
      role: caller.role,
      hours: row.session_hours,
    }
  }),

  serve(connectAssistant, (call, parts) => {
    const { caller, body, now, address } = call
    const { tenant, userId, byCompany } = caller
    const client = clientAsked(body, address, parts)
    return parts.database.inTenant(tenant, async (transaction) => {
      const about = { client: client.name, goes_to: placeOf(body.redirect_uri) }
      if (!body.allow) {
        await recordEvent(transaction, call, 'assistant-refused', { about })
        return { redirect_to: returnTo(body, address, { error: 'access_denied' }) }
      }
      requireRecentFactor(caller, now)
      const live = await sessions.listLiveSessions(transaction, tenant, userId, new Date(now))
      if (live.filter(({ client_name: name }) => name !== null).length >= assistantsPerPersonMax) {
        throw problem(
          'state-conflict',
          `You have ${assistantsPerPersonMax} connected assistants. End one under Settings, Your account.`,
        )
      }
      const sessionId = randomUUID()
      const until = new Date(now + assistantCodeSeconds * 1_000)
      // Until its code is used, the session ends with the code.
      await sessions.insertSession(transaction, tenant, {
        ...{ sessionId, userId, expiresAt: until, device: deviceOf(client), network: null },
        now: new Date(now),
        isNew: { device: false, network: false },
        factorGiven: false,
        byCompany,
      })
      await assistants.insertAssistant(transaction, tenant, {
        session_id: sessionId,
        client_hash: clientHash(body.client_id),
        client_name: client.name,
        redirect_uri: body.redirect_uri,
        code_challenge: body.code_challenge,
        code_until: until,
      })
      await recordEvent(transaction, call, 'assistant-connected', { about })
      const code = secretTextOf(parts.secretKeys, { tenant, sessionId, number: null })
      return { redirect_to: returnTo(body, address, { code }) }
    })
  }),
]

/** An answer of the OAuth endpoints for programs. */
export interface OauthAnswer {
  readonly status: 200 | 400
  readonly body: Readonly<Record<string, unknown>>
}

type OauthError =
  | 'invalid_request'
  | 'invalid_grant'
  | 'invalid_client'
  | 'unsupported_grant_type'
  | 'invalid_target'

const refused = (error: OauthError, why: string): OauthAnswer => ({
  status: 400,
  body: { error, error_description: why },
})

interface OauthCall {
  readonly form: URLSearchParams
  readonly now: number
  readonly network: string
  readonly requestId: string
  readonly address: string
}

/** Ends the session of an assistant because of what a program sent, not its person. */
async function endByProgram(
  transaction: TenantTransaction,
  { tenant, sessionId, userId }: { tenant: TenantId; sessionId: string; userId: number },
  why: string,
  call: OauthCall,
): Promise<void> {
  await sessions.endSessions(transaction, tenant, userId, new Date(call.now), { only: sessionId })
  await recordEvent(transaction, { ...call, caller: { tenant, userId: null } }, 'assistant-ended', {
    subject: userId,
    about: { why },
  })
}

/** Ends the session of an assistant whose code or refresh token came a second time: somebody has a copy. */
async function endCopied(
  transaction: TenantTransaction,
  tenant: TenantId,
  sessionId: string,
  what: string,
  call: OauthCall,
): Promise<OauthAnswer> {
  const session = await sessions.findSession(transaction, tenant, sessionId, new Date(call.now))
  if (session !== null) {
    const one = { tenant, sessionId, userId: session.user_id }
    await endByProgram(transaction, one, `its ${what} came a second time`, call)
  }
  return refused('invalid_grant', `The ${what} was used before, so the access has ended. Connect again.`)
}

/** New tokens of an assistant, whose session is live. */
async function tokensOf(
  transaction: TenantTransaction,
  { tenant, sessionId }: { readonly tenant: TenantId; readonly sessionId: string },
  number: number,
  { tokens, secretKeys }: Pick<Parts, 'tokens' | 'secretKeys'>,
  now: number,
): Promise<OauthAnswer> {
  const session = await sessions.findSession(transaction, tenant, sessionId, new Date(now))
  if (session === null) return refused('invalid_grant', 'The access has ended. Connect again.')
  await assistants.updateAssistant(transaction, tenant, sessionId, { refresh_number: number })
  const iat = Math.floor(now / 1_000)
  const exp = Math.min(iat + assistantTokenSeconds, Math.floor(session.expires_at.getTime() / 1_000))
  const access = tokens.sign('assistant', {
    tenant_id: tenant,
    user_id: session.user_id,
    role: session.role,
    scope: assistantScope,
    jti: sessionId,
    iat,
    exp,
  })
  return {
    status: 200,
    body: {
      access_token: access,
      token_type: 'Bearer',
      expires_in: exp - iat,
      refresh_token: secretTextOf(secretKeys, { tenant, sessionId, number }),
      scope: assistantScope,
    },
  }
}

/** Exchanges a code for tokens (RFC 6749, 4.1.3). */
async function exchangeCode(call: OauthCall, parts: Parts): Promise<OauthAnswer> {
  const { form, now } = call
  const secret = secretOf(parts.secretKeys, form.get('code') ?? '', 'code')
  if (secret === null) return refused('invalid_grant', 'code is not one that this service gave.')
  const { tenant, sessionId } = secret
  return parts.database.inTenant(tenant, async (transaction) => {
    const row = await assistants.lockAssistant(transaction, tenant, sessionId)
    if (row === null) return refused('invalid_grant', 'code is not one that this service gave.')
    if (!row.client_hash.equals(clientHash(form.get('client_id') ?? ''))) {
      return refused('invalid_grant', 'code was given to another client.')
    }
    if (row.code_used_at !== null) return endCopied(transaction, tenant, sessionId, 'code', call)
    // OAuth 2.1 does not ask for it any more; whoever sends it must send the same.
    if ((form.get('redirect_uri') ?? row.redirect_uri) !== row.redirect_uri) {
      return refused('invalid_grant', 'redirect_uri must be the one that the code was asked with.')
    }
    if (!isVerifierOf(form.get('code_verifier') ?? '', row.code_challenge)) {
      return refused('invalid_grant', 'code_verifier is not the one of the code_challenge.')
    }
    if (row.code_until.getTime() <= now) return refused('invalid_grant', 'code has expired. Connect again.')
    const { session_hours: hours } = await people.tenantOfSession(transaction, tenant)
    await assistants.updateAssistant(transaction, tenant, sessionId, { code_used_at: new Date(now) })
    await sessions.extendSession(transaction, tenant, sessionId, new Date(now + hours * 3_600_000))
    return tokensOf(transaction, secret, 1, parts, now)
  })
}

/** Exchanges a refresh token for new tokens; it is not accepted again (RFC 6749, 6). */
async function refresh(call: OauthCall, parts: Parts): Promise<OauthAnswer> {
  const { form, now } = call
  const secret = secretOf(parts.secretKeys, form.get('refresh_token') ?? '', 'refresh token')
  if (secret === null) return refused('invalid_grant', 'refresh_token is not one that this service gave.')
  const { tenant, sessionId, number } = secret
  return parts.database.inTenant(tenant, async (transaction) => {
    const row = await assistants.lockAssistant(transaction, tenant, sessionId)
    if (row === null) return refused('invalid_grant', 'refresh_token is not one that this service gave.')
    if (!row.client_hash.equals(clientHash(form.get('client_id') ?? ''))) {
      return refused('invalid_grant', 'refresh_token was given to another client.')
    }
    if (number !== row.refresh_number) return endCopied(transaction, tenant, sessionId, 'refresh token', call)
    return tokensOf(transaction, secret, row.refresh_number + 1, parts, now)
  })
}

function sentTwice(form: URLSearchParams): OauthAnswer | null {
  const name = [...form.keys()].find((one) => form.getAll(one).length > 1)
  return name === undefined ? null : refused('invalid_request', `${name} was sent twice.`)
}

/** The token endpoint. */
export async function answerToken(call: OauthCall, parts: Parts): Promise<OauthAnswer> {
  const { form, address } = call
  const twice = sentTwice(form)
  if (twice !== null) return twice
  if (clientOf(parts.secretKeys, form.get('client_id') ?? '') === null) {
    return refused('invalid_client', 'client_id is not one that this installation gave: register again.')
  }
  const resource = form.get('resource')
  if (resource !== null && resource.replace(/\/$/, '') !== resourceOf(address)) {
    return refused('invalid_target', `resource must be ${resourceOf(address)}.`)
  }
  const grant = form.get('grant_type')
  if (grant === 'authorization_code') return exchangeCode(call, parts)
  if (grant === 'refresh_token') return refresh(call, parts)
  return refused('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.')
}

/** The session of a sent refresh or access token; null if this service did not make it. */
function sessionOfToken(token: string, now: number, { secretKeys, tokens }: Parts) {
  const secret = secretOf(secretKeys, token, 'refresh token')
  if (secret !== null) return secret
  try {
    const claims = tokens.verify('assistant', token, now)
    return { tenant: tenantId(claims.tenant_id), sessionId: claims.jti }
  } catch {
    return null
  }
}

/** The revocation endpoint (RFC 7009): ends the session of a token. A token that is not known is no error. */
export async function answerRevocation(call: OauthCall, parts: Parts): Promise<OauthAnswer> {
  const { form, now } = call
  const twice = sentTwice(form)
  if (twice !== null) return twice
  const token = form.get('token')
  if (token === null) return refused('invalid_request', 'token is missing.')
  const found = sessionOfToken(token, now, parts)
  if (found === null) return { status: 200, body: {} }
  const { tenant, sessionId } = found
  return parts.database.inTenant(tenant, async (transaction) => {
    const row = await assistants.lockAssistant(transaction, tenant, sessionId)
    const session = await sessions.findSession(transaction, tenant, sessionId, new Date(now))
    if (row === null || session === null) return { status: 200, body: {} }
    if (!row.client_hash.equals(clientHash(form.get('client_id') ?? ''))) {
      return refused('invalid_client', 'client_id must be the one that the token was given to.')
    }
    await endByProgram(transaction, { tenant, sessionId, userId: session.user_id }, 'it signed out', call)
    return { status: 200, body: {} }
  })
}

import type { FastifyRequest } from 'fastify'
import type { Role } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { tokenLeewaySeconds } from '#contract/limits.ts'
import type { TenantMemory } from '../cache/index.ts'
import {
  findLiveServiceToken,
  findSession,
  liveSigningSecrets,
  readVersions,
  recordSecretUse,
  recordTokenUse,
  type SigningSecretRow,
  wasIssued,
} from '../database/queries/index.ts'
import { type Database, runInBackground, type TenantId, tenantId } from '../database/session/index.ts'
import { concurrencyLimit, type Log } from '../runtime/index.ts'
import {
  bearerToken,
  invalidToken,
  type SecretKeys,
  type TokenClaims,
  type Tokens,
  unsealWithAny,
} from '../security/index.ts'

export interface PersonCaller {
  readonly kind: 'dashboard'
  readonly tenant: TenantId
  readonly userId: number
  readonly role: Role
  readonly sessionId: string
  readonly sessionExpiresAt: Date
  /** When the token they called with ends: with the session, or before it. Epoch seconds. */
  readonly tokenExpiresAtSeconds: number
}

export interface ServiceCaller {
  readonly kind: 'service'
  readonly tenant: TenantId
  readonly userId: number
  readonly tokenId: number
}

export interface AnonymousCaller {
  readonly kind: 'anyone'
}

export const sessionCookie = '__Host-lanewise'
/** A header that no form and no simple cross-origin request can carry. */
export const dashboardRequestHeader = 'x-lanewise-request'

export interface LiveSecret {
  readonly row: SigningSecretRow
  readonly plaintext: string
}

/** What is done on the way to a caller. */
export interface CallerWatch {
  /** Told whose token it is once its signature has held, also when the token is then refused. */
  readonly signedBy: (tenant: TenantId, claims: TokenClaims) => void
  /** Throws for a tenant whose limit is spent: then the database is not asked at all. */
  readonly refuseSpent: (tenant: TenantId) => void
}

/** Finds out who calls. Role and activity come from the database, never from a token's claims. */
export interface Callers {
  service(
    authorization: string | undefined,
    now: number,
    network: string,
    watch: CallerWatch,
  ): Promise<ServiceCaller & { scope: string }>
  /**
   * As service, at once and without a database; null where it must be asked, or told that the token was used.
   *
   * @throws Problem as service does
   */
  serviceFromMemory(
    authorization: string | undefined,
    now: number,
    network: string,
  ): { readonly caller: ServiceCaller; readonly claims: TokenClaims } | null
  person(
    request: FastifyRequest,
    now: number,
    cookieAllowed: boolean,
    watch: CallerWatch,
  ): Promise<PersonCaller>
  liveSecrets(tenant: TenantId, now: number): Promise<LiveSecret[]>
  secretUsed(tenant: TenantId, secret: LiveSecret, now: number): void
}

/** A service token that works, as it is remembered. */
interface LiveToken {
  readonly tokenId: number
  readonly userId: number
  readonly scope: string
  /** Epoch milliseconds. */
  lastUsedAt: number | null
  lastUsedFrom: string | null
}

const tokenName = ({ jti }: TokenClaims) => `token ${jti}`
/**
 * What somebody changes by hand, past the versions, counts after this at the latest. Less would have thousands of
 * brokerages read again, without end, what nobody has changed.
 */
const credentialHoldsMs = 600_000
/** Some twenty megabytes of them. A header with a token of ours has some 500 characters. */
const verifiedTokensMax = 20_000
const verifiedHeaderLengthMax = 1_000
/** About what a token or a sealed secret takes. */
const credentialBytes = 500

function liveToken(row: NonNullable<Awaited<ReturnType<typeof findLiveServiceToken>>>): LiveToken {
  return {
    tokenId: row.token_id,
    userId: row.user_id,
    scope: row.scope,
    lastUsedAt: row.last_used_at?.getTime() ?? null,
    lastUsedFrom: row.last_used_from,
  }
}

function serviceCaller(tenant: TenantId, { userId, tokenId, scope }: LiveToken) {
  return { kind: 'service' as const, tenant, userId, tokenId, scope }
}

/** "Last used" is for people who clean up keys; five minutes are exact enough and save a write a request. */
const lastUsedGrainMs = 300_000

/** Thousands of tokens may be used in the same second. So many go together, in a message or two. */
const usesWrittenAtOnceMax = 32

/** The moment by which stored expiry is judged: the same leeway as for the expiry that the token itself carries. */
function forgiving(now: number): Date {
  return new Date(now - tokenLeewaySeconds * 1000)
}

/** Where a tenant's sealed secret is kept: moved to another row, it does not open. */
export function secretPlace(tenant: number, secretId: number): string {
  return `signing secret ${tenant}/${secretId}`
}

export function callers({
  database,
  tokens,
  secretKeys,
  memory,
  log,
}: {
  database: Database
  tokens: Tokens
  secretKeys: SecretKeys
  memory: TenantMemory
  log: Log
}): Callers {
  const behind = concurrencyLimit<'last use'>(usesWrittenAtOnceMax)
  const recordInBackground = (work: () => Promise<unknown>) => {
    runInBackground(() => behind('last use', work)).catch((error: unknown) =>
      log.warn({ err: error }, 'last use could not be recorded'),
    )
  }
  const told = (watch: CallerWatch) => (claims: TokenClaims) =>
    watch.signedBy(tenantId(claims.tenant_id), claims)

  /** Tokens whose signature has held, by the header they came in: a caller sends the same one each time. */
  const verifiedTokens = new Map<string, { claims: TokenClaims; tenant: TenantId; name: string }>()
  function verifyToken(
    authorization: string | undefined,
    now: number,
    signedBy?: (claims: TokenClaims) => void,
  ) {
    const claims = tokens.verify('service', bearerToken(authorization), now, signedBy)
    const known = { claims, tenant: tenantId(claims.tenant_id), name: tokenName(claims) }
    // One token can be sent in many ways: spaces before it are free, and a header may have 16 KiB of them.
    if (authorization === undefined || authorization.length > verifiedHeaderLengthMax) return known
    if (verifiedTokens.size >= verifiedTokensMax) verifiedTokens.clear()
    verifiedTokens.set(authorization, known)
    return known
  }

  /** What was heard before and is of this time; whatever is wrong with a token is said by whoever verifies it anew. */
  function rememberedToken(authorization: string | undefined, now: number) {
    const known = verifiedTokens.get(authorization ?? '')
    if (known === undefined) return null
    const { exp, iat } = known.claims
    const seconds = now / 1000
    return exp + tokenLeewaySeconds <= seconds || iat > seconds + tokenLeewaySeconds ? null : known
  }

  /** Writes down behind the answer when and from where a token was used. */
  function noteUse(tenant: TenantId, live: LiveToken, now: number, network: string): void {
    const { tokenId, lastUsedAt, lastUsedFrom } = live
    if (lastUsedAt !== null && now - lastUsedAt < lastUsedGrainMs && lastUsedFrom === network) return
    // Said before it is written: those who come meanwhile need not write it, too.
    live.lastUsedAt = now
    live.lastUsedFrom = network
    recordInBackground(() => recordTokenUse(database, tenant, tokenId, new Date(now), network))
  }

  return {
    async service(authorization, now, network, watch) {
      const known = rememberedToken(authorization, now)
      if (known !== null) watch.signedBy(known.tenant, known.claims)
      const { claims, tenant, name } = known ?? verifyToken(authorization, now, told(watch))
      const live = await memory.recall(tenant, name, now, async () => {
        watch.refuseSpent(tenant)
        return database.inTenant(tenant, async (transaction) => {
          const versions = await readVersions(transaction, tenant)
          const found = await findLiveServiceToken(transaction, tenant, claims.jti, forgiving(now))
          if (found === null) {
            throw (await wasIssued(transaction, tenant, claims.jti)) ? revoked() : invalidToken()
          }
          return {
            value: liveToken(found),
            versions: { access: versions.access },
            until: Math.min(found.expires_at.getTime() + tokenLeewaySeconds * 1000, now + credentialHoldsMs),
            bytes: credentialBytes,
          }
        })
      })
      noteUse(tenant, live, now, network)
      return serviceCaller(tenant, live)
    },

    serviceFromMemory(authorization, now, network) {
      const { claims, tenant, name } = rememberedToken(authorization, now) ?? verifyToken(authorization, now)
      const live = memory.peek<LiveToken>(tenant, name, now)
      if (live === undefined) return null
      noteUse(tenant, live, now, network)
      return { caller: serviceCaller(tenant, live), claims }
    },

    async person(request, now, cookieAllowed, watch) {
      const { authorization } = request.headers
      const cookie = cookieAllowed && authorization === undefined ? request.cookies[sessionCookie] : undefined
      if (cookie !== undefined && isForeign(request)) {
        // Whose session somebody tried to ride on is for the audit log; the answer is the same for any cookie.
        try {
          tokens.verify('dashboard', cookie, now, told(watch))
        } catch {}
        throw problem('csrf', 'A call with the session cookie must come from the dashboard itself.')
      }
      const claims = tokens.verify('dashboard', cookie ?? bearerToken(authorization), now, told(watch))
      const tenant = tenantId(claims.tenant_id)
      watch.refuseSpent(tenant)
      const session = await database.inTenant(tenant, (transaction) =>
        findSession(transaction, tenant, claims.jti, forgiving(now)),
      )
      if (session === null || session.user_id !== claims.user_id) throw revoked()
      return {
        kind: 'dashboard',
        tenant,
        userId: session.user_id,
        role: session.role,
        sessionId: claims.jti,
        sessionExpiresAt: session.expires_at,
        tokenExpiresAtSeconds: claims.exp,
      }
    },

    async liveSecrets(tenant, now) {
      const rows = await memory.recall(tenant, 'signing secrets', now, () =>
        database.inTenant(tenant, async (transaction) => {
          const versions = await readVersions(transaction, tenant)
          const secrets = await liveSigningSecrets(transaction, tenant, new Date(now))
          return {
            value: secrets,
            versions: { access: versions.access },
            until: now + credentialHoldsMs,
            bytes: credentialBytes * secrets.length,
          }
        }),
      )
      // They stay sealed while they are remembered, and what has run out meanwhile is no secret any more.
      return rows.flatMap((row) => {
        if (row.expires_at !== null && row.expires_at.getTime() <= now) return []
        const plaintext = unsealWithAny(secretKeys, secretPlace(tenant, row.secret_id), row.sealed)
        if (plaintext === null)
          log.error({ tenant_id: tenant, secret_id: row.secret_id }, 'a sealed secret does not open')
        return plaintext === null ? [] : [{ row, plaintext }]
      })
    },

    secretUsed(tenant, { row }, now) {
      if (row.last_used_at !== null && now - row.last_used_at.getTime() < lastUsedGrainMs) return
      row.last_used_at = new Date(now)
      recordInBackground(() => recordSecretUse(database, tenant, row.secret_id, new Date(now)))
    },
  }
}

function revoked() {
  return problem(
    'token-revoked',
    'The token is no longer accepted: it was revoked, or its owner has left or lost the role.',
    {
      headers: {
        'WWW-Authenticate':
          'Bearer realm="integrations", error="invalid_token", error_description="The token was revoked"',
      },
    },
  )
}

const safeMethods = new Set(['GET', 'HEAD'])

/** A cookie travels with requests that other sites cause; those are told apart by where they came from. */
function isForeign(request: FastifyRequest): boolean {
  if (safeMethods.has(request.method)) return false
  const { origin, host } = request.headers
  const site = request.headers['sec-fetch-site']
  const sameOrigin =
    site === undefined ? origin === undefined || URL.parse(origin)?.host === host : site === 'same-origin'
  return !sameOrigin || request.headers[dashboardRequestHeader] !== '1'
}

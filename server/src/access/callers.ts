import { parseCookie } from 'cookie'
import type { FastifyRequest } from 'fastify'
import type { Role } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { tokenLeewaySeconds } from '#contract/limits.ts'
import { scopesIn, type TokenScope } from '#contract/token-scopes.ts'
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
import { andThen, concurrencyLimit, type Log, type NowOrLater } from '../runtime/index.ts'
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
  /** When the token of this call expires, which is never after the session. Epoch seconds. */
  readonly tokenExpiresAtSeconds: number
}

export interface ServiceCaller {
  readonly kind: 'service'
  readonly tenant: TenantId
  readonly userId: number
  readonly tokenId: number
  readonly scopes: readonly TokenScope[]
}

export interface AnonymousCaller {
  readonly kind: 'anyone'
}

export const sessionCookie = '__Host-lanewise'
/** A header that neither a form nor a simple cross-origin request can send. */
export const dashboardRequestHeader = 'x-lanewise-request'

export interface LiveSecret {
  readonly row: SigningSecretRow
  readonly plaintext: string
}

/** Callbacks during the identification of a caller. */
export interface CallerWatch {
  /** Called with the owner of a token once its signature is verified, also if the token is then refused. */
  readonly signedBy: (tenant: TenantId, claims: TokenClaims) => void
  /** Throws for a tenant that has reached its rate limit, so that the database is not queried. */
  readonly refuseSpent: (tenant: TenantId) => void
}

/** Identifies callers. Roles and the validity of tokens come from the database, never from the claims of a token. */
export interface Callers {
  /** The caller at once if its token is cached and current; otherwise a promise. Throws and rejects with a Problem. */
  service(
    authorization: string | undefined,
    now: number,
    network: string,
    watch: CallerWatch,
  ): NowOrLater<ServiceCaller>
  /** The person of a session token in the Authorization header or, if allowed, in the cookie. Rejects with a Problem. */
  person(
    request: FastifyRequest,
    now: number,
    cookieAllowed: boolean,
    watch: CallerWatch,
  ): Promise<PersonCaller>
  /** The valid signing secrets of a tenant, decrypted. */
  liveSecrets(tenant: TenantId, now: number): Promise<LiveSecret[]>
  /** Records in the background that a secret was used. */
  secretUsed(tenant: TenantId, secret: LiveSecret, now: number): void
}

/** A valid service token, as cached. */
interface LiveToken {
  readonly tokenId: number
  readonly userId: number
  readonly scopes: readonly TokenScope[]
  /** The brokerage of a test brokerage. */
  readonly sandboxOf: number | null
  /** Epoch milliseconds. */
  lastUsedAt: number | null
  lastUsedFrom: string | null
}

const tokenName = ({ jti }: TokenClaims) => `token ${jti}`
/**
 * How long a credential is cached. A manual change in the database takes effect only then, because it does not increment
 * the versions. A shorter time would make thousands of brokerages reread unchanged credentials all the time.
 */
const credentialValidMs = 600_000
/** The most headers in memory: about twenty megabytes, because a header with our token has about 500 characters. */
const verifiedTokensMax = 20_000
const verifiedHeaderLengthMax = 1_000
/** The approximate size of a cached token or sealed secret. */
const credentialBytes = 500

function liveToken(row: NonNullable<Awaited<ReturnType<typeof findLiveServiceToken>>>): LiveToken {
  return {
    tokenId: row.token_id,
    userId: row.user_id,
    scopes: scopesIn(row.scope),
    sandboxOf: row.sandbox_of,
    lastUsedAt: row.last_used_at?.getTime() ?? null,
    lastUsedFrom: row.last_used_from,
  }
}

/** How often "last used" is written. It helps people to clean up keys, so five minutes are precise enough. */
const lastUsedGrainMs = 300_000

/** The most concurrent writes of "last used": thousands of tokens may be used in one second, and requests need connections, too. */
const usesWrittenAtOnceMax = 3

/** The time to compare saved expiry times with. Its leeway equals the leeway for the expiry in a token. */
function withLeeway(now: number): Date {
  return new Date(now - tokenLeewaySeconds * 1000)
}

/** The associated data of a sealed signing secret. It names the row: copied to another row, the secret cannot be decrypted. */
export function secretPlace(tenant: number, secretId: number): string {
  return `signing secret ${tenant}/${secretId}`
}

interface CallerParts {
  readonly database: Database
  readonly tokens: Tokens
  readonly secretKeys: SecretKeys
  readonly memory: TenantMemory
  readonly log: Log
}

export function callers(parts: CallerParts): Callers {
  return new CachedCallers(parts)
}

interface VerifiedToken {
  readonly claims: TokenClaims
  readonly tenant: TenantId
  /** The key of the token in the cache. */
  readonly name: string
}

class CachedCallers implements Callers {
  readonly #parts: CallerParts
  readonly #limitUses = concurrencyLimit<'last use'>(usesWrittenAtOnceMax)
  /** Tokens whose signature was verified, by Authorization header, because a caller sends the same header each time. */
  readonly #verifiedTokens = new Map<string, VerifiedToken>()

  constructor(parts: CallerParts) {
    this.#parts = parts
  }

  service(
    authorization: string | undefined,
    now: number,
    network: string,
    watch: CallerWatch,
  ): NowOrLater<ServiceCaller> {
    const known = this.#knownToken(authorization, now)
    if (known !== null) watch.signedBy(known.tenant, known.claims)
    const { claims, tenant, name } = known ?? this.#verify(authorization, now, signedBy(watch))
    const { memory } = this.#parts
    const live =
      memory.peek<LiveToken>(tenant, name, now) ??
      memory.getOrRead(tenant, name, now, () => {
        watch.refuseSpent(tenant)
        return this.#readToken(tenant, claims.jti, now)
      })
    return andThen(live, (token) => {
      this.#noteUse(tenant, token, now, network)
      const { userId, tokenId, scopes, sandboxOf } = token
      this.#joinShare(tenant, sandboxOf)
      return { kind: 'service', tenant, userId, tokenId, scopes }
    })
  }

  async person(
    request: FastifyRequest,
    now: number,
    cookieAllowed: boolean,
    watch: CallerWatch,
  ): Promise<PersonCaller> {
    const { database, tokens } = this.#parts
    const { authorization } = request.headers
    const cookie = cookieAllowed && authorization === undefined ? sessionOf(request) : undefined
    if (cookie !== undefined && isForeign(request)) {
      // Verify the cookie only to record the attempt in the audit log. The answer is the same for any cookie.
      try {
        tokens.verify('dashboard', cookie, now, signedBy(watch))
      } catch {}
      throw problem('csrf', 'A call with the session cookie must come from the dashboard itself.')
    }
    const claims = tokens.verify('dashboard', cookie ?? bearerToken(authorization), now, signedBy(watch))
    const tenant = tenantId(claims.tenant_id)
    watch.refuseSpent(tenant)
    const session = await database.inTenant(tenant, (transaction) =>
      findSession(transaction, tenant, claims.jti, withLeeway(now)),
    )
    if (session === null || session.user_id !== claims.user_id) throw revoked()
    this.#joinShare(tenant, session.sandbox_of)
    return {
      kind: 'dashboard',
      tenant,
      userId: session.user_id,
      role: session.role,
      sessionId: claims.jti,
      sessionExpiresAt: session.expires_at,
      tokenExpiresAtSeconds: claims.exp,
    }
  }

  #joinShare(tenant: TenantId, sandboxOf: number | null): void {
    if (sandboxOf !== null) this.#parts.database.shares.join(tenant, tenantId(sandboxOf))
  }

  async liveSecrets(tenant: TenantId, now: number): Promise<LiveSecret[]> {
    const { memory, secretKeys, log } = this.#parts
    const rows = await memory.getOrRead(tenant, 'signing secrets', now, () => this.#readSecrets(tenant, now))
    // Cached secrets stay encrypted. Secrets that have expired since they were cached are left out.
    return rows.flatMap((row) => {
      if (row.expires_at !== null && row.expires_at.getTime() <= now) return []
      const plaintext = unsealWithAny(secretKeys, secretPlace(tenant, row.secret_id), row.sealed)
      if (plaintext === null) {
        log.error({ tenant_id: tenant, secret_id: row.secret_id }, 'a sealed secret cannot be decrypted')
      }
      return plaintext === null ? [] : [{ row, plaintext }]
    })
  }

  secretUsed(tenant: TenantId, { row }: LiveSecret, now: number): void {
    if (row.last_used_at !== null && now - row.last_used_at.getTime() < lastUsedGrainMs) return
    row.last_used_at = new Date(now)
    this.#recordUse(() => recordSecretUse(this.#parts.database, tenant, row.secret_id, new Date(now)))
  }

  #verify(
    authorization: string | undefined,
    now: number,
    onSigned: (claims: TokenClaims) => void,
  ): VerifiedToken {
    const claims = this.#parts.tokens.verify('service', bearerToken(authorization), now, onSigned)
    const verified = { claims, tenant: tenantId(claims.tenant_id), name: tokenName(claims) }
    // One token has many valid headers: any number of spaces may precede it, up to 16 KiB. Cache short headers only.
    if (authorization === undefined || authorization.length > verifiedHeaderLengthMax) return verified
    if (this.#verifiedTokens.size >= verifiedTokensMax) this.#verifiedTokens.clear()
    this.#verifiedTokens.set(authorization, verified)
    return verified
  }

  /** A token that was verified before and is valid now; null if it must be verified again, which reports any problem. */
  #knownToken(authorization: string | undefined, now: number): VerifiedToken | null {
    const known = this.#verifiedTokens.get(authorization ?? '')
    if (known === undefined) return null
    const { exp, iat } = known.claims
    const seconds = now / 1000
    return exp + tokenLeewaySeconds <= seconds || iat > seconds + tokenLeewaySeconds ? null : known
  }

  #readToken(tenant: TenantId, jti: string, now: number) {
    return this.#parts.database.inTenant(tenant, async (transaction) => {
      const versions = await readVersions(transaction, tenant)
      const found = await findLiveServiceToken(transaction, tenant, jti, withLeeway(now))
      if (found === null) throw (await wasIssued(transaction, tenant, jti)) ? revoked() : invalidToken()
      return {
        value: liveToken(found),
        versions: { access: versions.access },
        until: Math.min(found.expires_at.getTime() + tokenLeewaySeconds * 1000, now + credentialValidMs),
        bytes: credentialBytes,
      }
    })
  }

  #readSecrets(tenant: TenantId, now: number) {
    return this.#parts.database.inTenant(tenant, async (transaction) => {
      const versions = await readVersions(transaction, tenant)
      const secrets = await liveSigningSecrets(transaction, tenant, new Date(now))
      return {
        value: secrets,
        versions: { access: versions.access },
        until: now + credentialValidMs,
        bytes: credentialBytes * secrets.length,
      }
    })
  }

  /** Records in the background when and from which network a token was used. */
  #noteUse(tenant: TenantId, live: LiveToken, now: number, network: string): void {
    const { tokenId, lastUsedAt, lastUsedFrom } = live
    if (lastUsedAt !== null && now - lastUsedAt < lastUsedGrainMs && lastUsedFrom === network) return
    // Update the cached token before the write, so that concurrent calls do not write the same again.
    live.lastUsedAt = now
    live.lastUsedFrom = network
    this.#recordUse(() => recordTokenUse(this.#parts.database, tenant, tokenId, new Date(now), network))
  }

  #recordUse(write: () => Promise<unknown>): void {
    runInBackground(() => this.#limitUses('last use', write)).catch((error: unknown) =>
      this.#parts.log.warn({ err: error }, 'last use could not be recorded'),
    )
  }
}

/** The session token of a request's cookies; undefined if there is none. */
function sessionOf({ headers }: FastifyRequest): string | undefined {
  return headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[sessionCookie]
}

function signedBy(watch: CallerWatch): (claims: TokenClaims) => void {
  return (claims) => watch.signedBy(tenantId(claims.tenant_id), claims)
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

/**
 * Whether a request with a session cookie may come from another site: browsers send cookies with cross-site requests, too.
 */
function isForeign(request: FastifyRequest): boolean {
  if (safeMethods.has(request.method)) return false
  const { origin, host } = request.headers
  const site = request.headers['sec-fetch-site']
  const sameOrigin =
    site === undefined ? origin === undefined || URL.parse(origin)?.host === host : site === 'same-origin'
  return !sameOrigin || request.headers[dashboardRequestHeader] !== '1'
}

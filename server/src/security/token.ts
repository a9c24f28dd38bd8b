import { createSigner, createVerifier, TokenError } from 'fast-jwt'
import { problem } from '#contract/errors.ts'
import { tokenLeewaySeconds } from '#contract/limits.ts'
import { derivedKey, keyName, type SecretKey, type SecretKeys } from './sealed-secret.ts'

/**
 * The two kinds of token. Each has its own key, `typ`, and audience, so that neither is ever accepted as the other. The
 * algorithm is fixed: nothing in the header of a token decides how it is verified.
 */
export type TokenKind = 'service' | 'dashboard'

const kinds = {
  service: { typ: 'svc+jwt', aud: 'lanewise:integrations', purpose: 'service tokens' },
  dashboard: { typ: 'dash+jwt', aud: 'lanewise:dashboard', purpose: 'dashboard tokens' },
} as const
const issuer = 'lanewise'

export interface TokenClaims {
  readonly tenant_id: number
  readonly user_id: number
  readonly role: string
  readonly scope: string
  readonly jti: string
  /** Epoch seconds. */
  readonly iat: number
  readonly exp: number
}

export interface Tokens {
  /** The name of the signing key: the `kid` in the header of new tokens. */
  readonly signsWith: string
  sign(kind: TokenKind, claims: TokenClaims): string
  /**
   * Verifies a token. `signedBy` is called with the claims once the signature is verified, also if the token is then refused
   * because it has expired or is of the wrong kind.
   *
   * @throws Problem token-invalid, token-expired, token-wrong-kind
   */
  verify(kind: TokenKind, token: string, now: number, signedBy?: (claims: TokenClaims) => void): TokenClaims
}

/**
 * Signs tokens with the first key of an installation, and verifies them with any of its keys. Tokens of the other keys end at
 * `oldUntil` (epoch milliseconds), if they do not expire before.
 */
export function tokens(keys: SecretKeys, oldUntil: number | null = null): Tokens {
  const [first] = keys
  const signers = { service: signer(first, 'service'), dashboard: signer(first, 'dashboard') }
  const verifiers = keys.map((key) => ({
    kid: keyName(key),
    endsAtSeconds: key === first || oldUntil === null ? Number.POSITIVE_INFINITY : oldUntil / 1000,
    // `readClaims` checks the expiry against the `now` parameter; the library would use the system clock.
    service: verifier(derivedKey(key, kinds.service.purpose), 'service'),
    dashboard: verifier(derivedKey(key, kinds.dashboard.purpose), 'dashboard'),
  }))
  /** The claims of a token of this kind and when its key ends, if the key that its header names has signed it; null otherwise. */
  function signedPayload(kind: TokenKind, token: string) {
    const kid = kidOf(token)
    for (const one of verifiers) {
      // `kid` selects one of our own keys, nothing else. Tokens without `kid`, from before keys had names, are tried with each.
      if (kid !== undefined && kid !== one.kid) continue
      const payload = one[kind](token)
      if (payload !== null) return { payload, endsAtSeconds: one.endsAtSeconds }
    }
    return null
  }
  return {
    signsWith: keyName(first),
    sign: (kind, claims) =>
      signers[kind]({
        ...claims,
        nbf: claims.iat,
        sub: String(claims.user_id),
        iss: issuer,
        aud: kinds[kind].aud,
      }),
    verify(kind, token, now, signedBy) {
      if (!isAsIssued(token)) throw invalidToken()
      const found = signedPayload(kind, token)
      if (found === null) {
        const other = signedPayload(kind === 'service' ? 'dashboard' : 'service', token)
        if (other !== null) {
          signedBy?.(readClaims(other.payload, now))
          throw problem(
            'token-wrong-kind',
            kind === 'service'
              ? 'This endpoint takes a service token, and this is the token of a dashboard sign-in. An admin creates service tokens with POST /api/integrations/tokens.'
              : 'This endpoint takes the token of a dashboard sign-in, and this is a service token. Sign in with POST /api/auth/sign-in.',
            { headers: invalidTokenHeaders },
          )
        }
        throw invalidToken()
      }
      const stated = readClaims(found.payload, now)
      const claims = { ...stated, exp: Math.min(stated.exp, found.endsAtSeconds) }
      signedBy?.(claims)
      refuseExpired(
        claims,
        now,
        claims.exp < stated.exp
          ? `The token was signed with an old key of the service. Such tokens ended on ${new Date(claims.exp * 1000).toISOString()}: have a new one created.`
          : 'The token has expired.',
      )
      return claims
    },
  }
}

const invalidTokenHeaders = { 'WWW-Authenticate': 'Bearer realm="integrations", error="invalid_token"' }

/** The refusal of a token that we did not issue, whichever check failed. */
export function invalidToken() {
  return problem('token-invalid', 'The token is not one that this service issued.', {
    headers: invalidTokenHeaders,
  })
}

function signer(key: SecretKey, kind: TokenKind) {
  const { typ, purpose } = kinds[kind]
  return createSigner({
    key: derivedKey(key, purpose),
    algorithm: 'HS256',
    header: { alg: 'HS256', typ, kid: keyName(key) },
  })
}

/** The `kid` in the header of a token, of any type; undefined if there is none. */
function kidOf(token: string): unknown {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8'))
    return typeof header === 'object' && header !== null && 'kid' in header ? header.kid : undefined
  } catch {
    return undefined
  }
}

function verifier(key: Buffer, kind: TokenKind): (token: string) => Record<string, unknown> | null {
  const verify = createVerifier({
    key,
    algorithms: ['HS256'],
    allowedIss: issuer,
    allowedAud: kinds[kind].aud,
    checkTyp: kinds[kind].typ,
    ignoreExpiration: true,
    ignoreNotBefore: true,
  })
  return (token) => {
    try {
      const payload: unknown = verify(token)
      if (typeof payload !== 'object' || payload === null) return null
      const claims = payload as Record<string, unknown>
      // The library checks these two only if they are present. Our tokens always have them.
      return claims.iss === issuer && claims.aud === kinds[kind].aud ? claims : null
    } catch (error) {
      if (error instanceof TokenError) return null
      throw error
    }
  }
}

/**
 * Whether every part is canonical base64url: the unused bits of the last character are zero. Decoders ignore these bits, so
 * that several texts would be the same token.
 */
function isAsIssued(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 2_147_483_647
}

function readClaims(payload: Record<string, unknown>, now: number): TokenClaims {
  const { tenant_id, user_id, role, scope, jti, iat, exp, nbf } = payload
  if (
    !isId(tenant_id) ||
    !isId(user_id) ||
    typeof role !== 'string' ||
    typeof scope !== 'string' ||
    typeof jti !== 'string' ||
    !uuid.test(jti) ||
    !isSeconds(iat) ||
    !isSeconds(exp) ||
    !isSeconds(nbf) ||
    nbf > now / 1000 + tokenLeewaySeconds
  ) {
    throw invalidToken()
  }
  return { tenant_id, user_id, role, scope, jti, iat, exp }
}

function refuseExpired({ exp }: TokenClaims, now: number, why: string): void {
  // A token is invalid on or after its expiry (RFC 7519), plus the leeway.
  if (exp + tokenLeewaySeconds <= now / 1000) {
    throw problem('token-expired', why, {
      headers: {
        'WWW-Authenticate': `${invalidTokenHeaders['WWW-Authenticate']}, error_description="The token has expired"`,
      },
    })
  }
}

/**
 * The token in an Authorization header. The scheme name is case-insensitive (RFC 9110).
 *
 * @throws Problem token-missing, token-malformed
 */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw problem('token-missing', 'Send the header Authorization: Bearer <token>.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="integrations"' },
    })
  }
  const match = /^bearer +([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(authorization)
  if (match?.[1] === undefined) {
    throw problem(
      'token-malformed',
      'The Authorization header must be "Bearer " and the token as it was issued.',
      {
        headers: invalidTokenHeaders,
      },
    )
  }
  return match[1]
}

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { isEmail } from '#contract/fields.ts'
import { companyClockSecondsMax, companySignInMinutes } from '#contract/limits.ts'
import { CompanyRefusal, type Refusal } from './refusals.ts'

/** What a provider says of a person, after it was checked. */
export interface CompanyPerson {
  readonly subject: string
  readonly email: string
  readonly name: string
  /** Null: there are too many for the token, so they are not known. */
  readonly groups: readonly string[] | null
}

/** Signatures with key pairs. With HS256, whoever knows a shared or public key could sign. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/**
 * Verifies an ID token with the current keys of its provider.
 *
 * @throws CompanyRefusal
 */
export async function verifiedIdToken(
  token: string,
  keys: JSONWebKeySet,
  expected: {
    readonly issuer: string
    readonly clientId: string
    readonly nonce: string
    readonly now: number
  },
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms,
      issuer: expected.issuer,
      audience: expected.clientId,
      currentDate: new Date(expected.now),
      clockTolerance: companyClockSecondsMax,
      maxTokenAge: companySignInMinutes * 60,
      requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
    })
    if (payload.nonce !== expected.nonce) throw new CompanyRefusal('wrong-nonce')
    // A token for several applications says for which of them it was made.
    if (Array.isArray(payload.aud) && payload.aud.length > 1 && payload.azp !== expected.clientId) {
      throw new CompanyRefusal('wrong-audience')
    }
    return payload
  } catch (error) {
    throw error instanceof CompanyRefusal ? error : new CompanyRefusal(refusalOf(error))
  }
}

const ofClaim: Readonly<Partial<Record<string, Refusal>>> = {
  iss: 'wrong-issuer',
  aud: 'wrong-audience',
  azp: 'wrong-audience',
  nonce: 'wrong-nonce',
  exp: 'clocks-differ',
  iat: 'clocks-differ',
  nbf: 'clocks-differ',
}

/** The refusal for a claim that is wrong or missing. */
export function refusalOfClaim(claim: unknown): Refusal {
  return (typeof claim === 'string' ? ofClaim[claim] : undefined) ?? 'nonsense'
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof errors.JWTExpired) return 'clocks-differ'
  if (error instanceof errors.JWTClaimValidationFailed) return refusalOfClaim(error.claim)
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    return 'wrong-algorithm'
  }
  if (
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  ) {
    return 'wrong-signature'
  }
  return 'nonsense'
}

/**
 * The person of a verified token.
 *
 * @throws CompanyRefusal if there is no e-mail address, or the provider does not confirm it
 */
export function personOf(claims: JWTPayload): CompanyPerson {
  const { sub = '', email, name, groups } = claims
  if (sub === '' || sub.length > 255) throw new CompanyRefusal('nonsense')
  if (typeof email !== 'string' || email.length > 254 || !isEmail(email)) throw new CompanyRefusal('no-email')
  if (!isConfirmed(claims)) throw new CompanyRefusal('email-not-verified')
  const isNamed = typeof name === 'string' && name.trim() !== '' && !/\p{C}/u.test(name)
  return {
    subject: sub,
    email,
    name: isNamed ? [...name.trim()].slice(0, 100).join('') : (email.split('@')[0] ?? email),
    groups: Array.isArray(groups)
      ? groups.filter((group) => typeof group === 'string')
      : hasGroupsElsewhere(claims)
        ? null
        : [],
  }
}

/** Entra ID leaves out the groups of somebody who is in more than 200, and says so. */
function hasGroupsElsewhere({ _claim_names: names, hasgroups }: JWTPayload): boolean {
  return hasgroups !== undefined || (typeof names === 'object' && names !== null && 'groups' in names)
}

/** Entra ID says with `xms_edov`, not `email_verified`, that the owner of the domain confirmed the address. */
function isConfirmed({ email_verified: verified, xms_edov: byDomain }: JWTPayload): boolean {
  const isTrue = (value: unknown) => value === true || value === 'true'
  if (verified !== undefined) return isTrue(verified)
  return isTrue(byDomain) || byDomain === 1 || byDomain === '1'
}

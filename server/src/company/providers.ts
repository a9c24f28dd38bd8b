import type { JSONWebKeySet, JWTPayload } from 'jose'
import * as client from 'openid-client'
import { companyAnswerSecondsMax, companyMetadataSeconds } from '#contract/limits.ts'
import type { Config } from '../configuration/index.ts'
import { allowedPrivate, outboundTarget } from '../security/index.ts'
import { type CompanyPerson, personOf, refusalOfClaim, verifiedIdToken } from './id-token.ts'
import { type ProviderFetch, ProviderUnreachable, providerFetch } from './provider-fetch.ts'
import { CompanyRefusal } from './refusals.ts'
import type { Provider } from './sealed-provider.ts'
import type { SignInState } from './sign-in-state.ts'

/** The identity providers of brokerages, which this service asks. */
export interface CompanyProviders {
  /** What an admin should know of a provider that was just set: null if it can be used. */
  check(provider: Provider): Promise<string | null>
  /** The address of the provider that a browser is sent to. @throws CompanyRefusal */
  begin(provider: Provider, state: SignInState, asked: Asked): Promise<string>
  /** The person that a provider sent back. @throws CompanyRefusal */
  finish(provider: Provider, state: SignInState, answer: URLSearchParams, now: number): Promise<CompanyPerson>
}

interface Asked {
  readonly email: string
  /** Whether the groups of the person are needed. */
  readonly groups: boolean
}

type Metadata = client.ServerMetadata

interface Known {
  readonly metadata: Promise<Metadata>
  until: number
}

const knownMax = 1_000
/** After a failure, the provider is asked again after this. */
const failureHoldsMs = 2_000
/**
 * The client's own check of times reads the clock of this process. `verifiedIdToken` checks them with the time of the request.
 */
const anyTime = 1e10

/** Null if the operator has not turned company sign-in on. */
export function companyProviders({
  config,
  monotonic,
}: {
  readonly config: Config
  readonly monotonic: () => number
}): CompanyProviders | null {
  return config.company.isOn ? new AskedProviders(config.company.allowPrivate, monotonic) : null
}

class AskedProviders implements CompanyProviders {
  readonly #allowed: ReturnType<typeof allowedPrivate>
  readonly #monotonic: () => number
  readonly #fetch: ProviderFetch
  readonly #known = new Map<string, Known>()

  constructor(allowed: readonly string[], monotonic: () => number) {
    this.#allowed = allowedPrivate(allowed)
    this.#monotonic = monotonic
    this.#fetch = providerFetch(this.#allowed)
  }

  async check(provider: Provider): Promise<string | null> {
    this.#known.delete(provider.issuer)
    try {
      const metadata = await this.#metadata(provider)
      await this.#keys(metadata)
      return null
    } catch (error) {
      const why = causes(error).find((one) => one instanceof ProviderUnreachable)
      return why?.message ?? refusalFor(error).message
    }
  }

  async begin(provider: Provider, state: SignInState, { email, groups }: Asked): Promise<string> {
    try {
      const metadata = await this.#metadata(provider)
      // Okta has groups under a scope of this name. Others refuse an unknown scope, so it is asked for only if it is known.
      const hasGroups = groups && metadata.scopes_supported?.includes('groups') === true
      return client.buildAuthorizationUrl(this.#configuration(provider, metadata), {
        redirect_uri: state.redirectTo,
        scope: hasGroups ? 'openid email profile groups' : 'openid email profile',
        state: state.state,
        nonce: state.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(state.verifier),
        code_challenge_method: 'S256',
        login_hint: email,
      }).href
    } catch (error) {
      throw refusalFor(error)
    }
  }

  async finish(
    provider: Provider,
    state: SignInState,
    answer: URLSearchParams,
    now: number,
  ): Promise<CompanyPerson> {
    let claims: JWTPayload
    try {
      const metadata = await this.#metadata(provider)
      const address = new URL(state.redirectTo)
      address.search = answer.toString()
      const tokens = await client.authorizationCodeGrant(this.#configuration(provider, metadata), address, {
        expectedState: state.state,
        expectedNonce: state.nonce,
        pkceCodeVerifier: state.verifier,
        idTokenExpected: true,
      })
      // The keys are read after the token was made, so a key that was changed meanwhile is there.
      const keys = await this.#keys(metadata)
      claims = await verifiedIdToken(tokens.id_token ?? '', keys, {
        issuer: provider.issuer,
        clientId: provider.clientId,
        nonce: state.nonce,
        now,
      })
    } catch (error) {
      throw refusalFor(error)
    }
    return personOf(claims)
  }

  #configuration({ clientId, clientSecret }: Provider, metadata: Metadata): client.Configuration {
    const methods = metadata.token_endpoint_auth_methods_supported
    const isBasic = methods === undefined || methods.includes('client_secret_basic')
    const configuration = new client.Configuration(
      metadata,
      clientId,
      { client_secret: clientSecret, [client.clockTolerance]: anyTime },
      isBasic ? client.ClientSecretBasic(clientSecret) : client.ClientSecretPost(clientSecret),
    )
    configuration[client.customFetch] = this.#fetch as client.CustomFetch
    configuration.timeout = companyAnswerSecondsMax + 1
    // Whether an address may be reached without TLS is decided by `guardedRequest`.
    client.allowInsecureRequests(configuration)
    return configuration
  }

  /** What a provider says about itself. Sign-ins of the same minute share it. */
  #metadata({ issuer }: Provider): Promise<Metadata> {
    const now = this.#monotonic()
    const known = this.#known.get(issuer)
    if (known !== undefined && known.until > now) return known.metadata
    if (this.#known.size >= knownMax) this.#known.clear()
    const asked: Known = {
      metadata: this.#discover(issuer),
      until: now + companyMetadataSeconds * 1000,
    }
    asked.metadata.catch(() => {
      asked.until = this.#monotonic() + failureHoldsMs
    })
    this.#known.set(issuer, asked)
    return asked.metadata
  }

  async #discover(issuer: string): Promise<Metadata> {
    const found = await client.discovery(new URL(issuer), 'lanewise', {}, client.None(), {
      [client.customFetch]: this.#fetch as client.CustomFetch,
      timeout: companyAnswerSecondsMax + 1,
      execute: [client.allowInsecureRequests],
    })
    const metadata = found.serverMetadata()
    // The client accepts other issuers of Entra ID, whose tokens are for people of any company.
    if (metadata.issuer !== issuer) throw new CompanyRefusal('wrong-issuer')
    // A browser is sent there, so it must be an ordinary address.
    const browserGoesTo = metadata.authorization_endpoint ?? ''
    if (typeof outboundTarget(browserGoesTo, this.#allowed) === 'string') throw new CompanyRefusal('nonsense')
    return { ...metadata }
  }

  async #keys({ jwks_uri: address = '' }: Metadata): Promise<JSONWebKeySet> {
    const answer = await this.#fetch(address, { method: 'GET', headers: { accept: 'application/json' } })
    const keys: unknown = answer.status === 200 ? await answer.json() : null
    const isKeys = typeof keys === 'object' && keys !== null && 'keys' in keys && Array.isArray(keys.keys)
    if (!isKeys) throw new CompanyRefusal('nonsense')
    return keys as unknown as JSONWebKeySet
  }
}

/** An error, and the errors that caused it. */
function causes(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : []
}

/** The refusal for an error of the client. It repeats nothing of what a provider sent. */
function refusalFor(error: unknown): CompanyRefusal {
  const all = causes(error)
  const known = all.find((one) => one instanceof CompanyRefusal)
  if (known !== undefined) return known
  if (all.some((one) => one instanceof ProviderUnreachable)) return new CompanyRefusal('unreachable')
  if (all.some((one) => 'code' in one && one.code === 'OAUTH_TIMEOUT'))
    return new CompanyRefusal('unreachable')
  if (all.some((one) => one instanceof client.AuthorizationResponseError)) {
    return new CompanyRefusal('provider-refused')
  }
  if (
    all.some(
      (one) => one instanceof client.ResponseBodyError || one instanceof client.WWWAuthenticateChallengeError,
    )
  ) {
    return new CompanyRefusal('code-refused')
  }
  if (all.some((one) => 'code' in one && one.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED')) {
    return new CompanyRefusal('wrong-issuer')
  }
  const details = all
    .map(({ cause }) => cause)
    .find((one) => typeof one === 'object' && one !== null && !(one instanceof Error))
  const about = (details ?? {}) as Readonly<Record<string, unknown>>
  if ('header' in about) return new CompanyRefusal('wrong-algorithm')
  if ('parameters' in about) return new CompanyRefusal('another-provider')
  return new CompanyRefusal(refusalOfClaim(about.claim))
}

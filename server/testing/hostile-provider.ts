import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** What the provider does for the next sign-ins. Each function changes what an honest provider would send. */
export interface Script {
  /** Claims of the ID token. */
  claims?: (honest: JWTPayload) => JWTPayload
  /** The ID token: how it is signed. */
  token?: (claims: JWTPayload, signing: Signing) => Promise<string> | string
  /** The description of the provider. */
  metadata?: (honest: Record<string, unknown>) => Record<string, unknown>
  /** Answers a path itself. */
  answer?: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>>
  /** Keys that are published; without it, the current key. */
  keys?: (current: Record<string, unknown>) => Record<string, unknown>[]
}

export interface Signing {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

/** A provider that a test controls: it says whatever its script says, and signs it with real keys. */
export interface HostileProvider {
  readonly issuer: string
  script: Script
  /** The bodies that the token endpoint received. */
  readonly redeemed: URLSearchParams[]
  /** Replaces the key that signs. */
  rotate(): Promise<void>
  /** The answer of the provider to the address that a browser was sent to: its query. */
  answerTo(address: string, person?: JWTPayload): string
  close(): Promise<void>
}

export async function newSigning(kid: string): Promise<Signing> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  return { kid, privateKey, publicKey }
}

export const signed = (claims: JWTPayload, { kid, privateKey }: Signing) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey)

const bodyOf = async (request: IncomingMessage) => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))

/** Starts a provider. `clock` is its time, in epoch milliseconds. */
export async function hostileProvider(clock: () => number): Promise<HostileProvider> {
  let keyNumber = 1
  let signing = await newSigning(`key-${keyNumber}`)
  const codes = new Map<string, JWTPayload>()
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider: HostileProvider = {
    issuer,
    script: {},
    redeemed: [],
    rotate: async () => {
      signing = await newSigning(`key-${++keyNumber}`)
    },
    answerTo(address, person = {}) {
      const { searchParams: asked } = new URL(address)
      const code = `code-${codes.size}-${Math.random()}`
      const seconds = Math.floor(clock() / 1000)
      codes.set(code, {
        iss: issuer,
        aud: asked.get('client_id') ?? '',
        sub: 'subject-1',
        nonce: asked.get('nonce') ?? '',
        iat: seconds,
        exp: seconds + 300,
        name: 'Petra Provider',
        email_verified: true,
        ...person,
      })
      return new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer }).toString()
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const { pathname } = new URL(request.url ?? '/', issuer)
    const own = provider.script.answer?.[pathname]
    if (own !== undefined) return own(request, response)
    if (pathname === '/.well-known/openid-configuration') {
      const honest = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
      }
      return json(response, provider.script.metadata?.(honest) ?? honest)
    }
    if (pathname === '/keys') {
      const key = { ...(await exportJWK(signing.publicKey)), kid: signing.kid, alg: 'RS256', use: 'sig' }
      return json(response, { keys: provider.script.keys?.(key) ?? [key] })
    }
    if (pathname === '/token') {
      const body = await bodyOf(request)
      provider.redeemed.push(body)
      const claims = codes.get(body.get('code') ?? '')
      codes.delete(body.get('code') ?? '')
      if (claims === undefined) return json(response, { error: 'invalid_grant' }, 400)
      const said = provider.script.claims?.(claims) ?? claims
      const idToken = await (provider.script.token ?? signed)(said, signing)
      return json(response, { access_token: 'access-token-canary', token_type: 'Bearer', id_token: idToken })
    }
    return json(response, { error: 'not_found' }, 404)
  }
  return provider
}

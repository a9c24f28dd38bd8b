import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'

/** A person of the provider. The user name is the subject. */
export interface ProviderPerson {
  readonly email: string
  readonly email_verified: boolean
  readonly name: string
  readonly groups?: readonly string[]
}

/** A complete OpenID Connect provider (`oidc-provider`) on a port of its own, with a page to sign in at. */
export interface RealProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly people: Map<string, ProviderPerson>
  /** Signs in at the address that a browser is sent to. Returns the address that the provider sends it to in the end. */
  signIn(address: string, userName: string): Promise<URL>
  close(): Promise<void>
}

const page = (action: string) =>
  `<!doctype html><title>Test provider</title><form method="post" action="${action}"><label>User name <input name="user"></label><button>Sign in at the provider</button></form>`

/** Starts a provider for a client that may come back to the given addresses. */
export async function realProvider(returnAddresses: readonly string[]): Promise<RealProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [clientId, clientSecret] = ['lanewise-client', randomBytes(24).toString('base64url')]
  const people = new Map<string, ProviderPerson>()
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [...returnAddresses] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'real', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    // The claims are in the ID token, as with Entra ID, Okta and Google.
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, id: string) => {
      const known = people.get(id)
      return known === undefined ? undefined : { accountId: id, claims: () => ({ sub: id, ...known }) }
    },
    renderError: (context: { body: unknown }, out: { error: string; error_description?: string }) => {
      context.body = `${out.error}: ${out.error_description}`
    },
  })
  const serveProvider = provider.callback()
  server.on('request', (request, response) => {
    const uid = /^\/interaction\/([\w-]+)$/.exec(request.url ?? '')?.[1]
    if (uid === undefined) return void serveProvider(request, response)
    if (request.method === 'GET') {
      return void response.writeHead(200, { 'Content-Type': 'text/html' }).end(page(`/interaction/${uid}`))
    }
    void (async () => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const accountId = new URLSearchParams(text).get('user') ?? ''
      const { params } = await provider.interactionDetails(request, response)
      const grant = new provider.Grant({ accountId, clientId })
      grant.addOIDCScope(String(params.scope))
      const grantId = await grant.save()
      const result = { login: { accountId }, consent: { grantId } }
      await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
    })()
  })
  return {
    ...{ issuer, clientId, clientSecret, people },
    signIn: (address, userName) => throughProvider(issuer, address, userName),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Follows the provider's redirects with its cookies, and signs in where it asks. */
async function throughProvider(issuer: string, address: string, userName: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let next = new URL(address)
  let form: URLSearchParams | null = null
  for (let step = 0; step < 10; step++) {
    if (next.origin !== issuer) return next
    const answer = await fetch(next, {
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === null ? {} : { method: 'POST', body: form }),
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const to = answer.headers.get('location')
    form = to === null ? new URLSearchParams({ user: userName }) : null
    if (to !== null) next = new URL(to, next)
    else if (!next.pathname.startsWith('/interaction/')) throw new Error(await answer.text())
  }
  throw new Error('The provider redirects for ever.')
}

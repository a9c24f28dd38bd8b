import { createHash } from 'node:crypto'
import { isDisplayText, isVisible } from '#contract/fields.ts'
import { assistantNameLengthMax, assistantRedirectsMax, assistantUriLengthMax } from '#contract/limits.ts'
import type { SecretKeys } from '../security/index.ts'
import { codeOf, isOurs } from './signed-text.ts'

/** A program that people can connect. Nothing about it is verified: it says its own name. */
export interface AssistantClient {
  readonly name: string
  readonly redirectUris: readonly string[]
}

const purpose = 'assistant clients'
const form = /^lwc_([A-Za-z0-9_-]{1,4000})\.([A-Za-z0-9_-]{43})$/

/** The id of a client. It states the client, signed, so that nothing is stored for programs that nobody connects. */
export function clientIdOf(keys: SecretKeys, { name, redirectUris }: AssistantClient): string {
  const text = Buffer.from(JSON.stringify([name, redirectUris])).toString('base64url')
  return `lwc_${text}.${codeOf(keys, purpose, text)}`
}

/** The client of an id; null if the id is not one that this installation gave. */
export function clientOf(keys: SecretKeys, id: string): AssistantClient | null {
  const [, text = '', code = ''] = form.exec(id) ?? []
  if (text === '' || !isOurs(keys, purpose, text, code)) return null
  const [name, redirectUris] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string[]]
  return { name, redirectUris }
}

/** Identifies a client in the database. */
export const clientHash = (id: string) => createHash('sha256').update(id).digest()

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** Whether an address is on the person's own machine. */
export const isLoopback = (uri: string) => {
  const url = URL.parse(uri)
  return url?.protocol === 'http:' && loopbackHosts.has(url.hostname)
}

/** Why an address cannot be one that codes are sent to; null if it can. */
function wrongRedirect(uri: string): string | null {
  const url = URL.parse(uri)
  if (uri.length > assistantUriLengthMax || url === null || !isDisplayText(uri)) return 'is not an address'
  if (url.hash !== '' || uri.includes('#')) return 'must have no fragment'
  if (url.username !== '' || url.password !== '') return 'must have no user and password'
  // A scheme of a program's own has a dot (RFC 8252): javascript and data have none.
  const isPrivate = /^[a-z][a-z\d+-]*(?:\.[a-z\d+-]+)+:$/.test(url.protocol)
  return url.protocol === 'https:' || isLoopback(uri) || isPrivate
    ? null
    : 'must begin with https:, with http: on this machine (127.0.0.1 or localhost), or with a scheme of your own with a dot'
}

/** What a registration (RFC 7591) asks for, or why it is refused. */
export function registered(
  sent: Readonly<Record<string, unknown>>,
):
  | AssistantClient
  | { readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata'; readonly why: string } {
  const {
    client_name: name = 'An assistant',
    redirect_uris: uris,
    token_endpoint_auth_method: method = 'none',
  } = sent
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > assistantRedirectsMax) {
    return {
      error: 'invalid_redirect_uri',
      why: `redirect_uris must be a list of 1 to ${assistantRedirectsMax} addresses.`,
    }
  }
  for (const uri of uris as readonly unknown[]) {
    const why = typeof uri === 'string' ? wrongRedirect(uri) : 'is not text'
    if (why !== null) return { error: 'invalid_redirect_uri', why: `An address of redirect_uris ${why}.` }
  }
  if (
    typeof name !== 'string' ||
    name.length > assistantNameLengthMax ||
    !isVisible(name) ||
    !isDisplayText(name)
  ) {
    return {
      error: 'invalid_client_metadata',
      why: `client_name must be text of 1 to ${assistantNameLengthMax} characters.`,
    }
  }
  if (method !== 'none') {
    return {
      error: 'invalid_client_metadata',
      why: 'token_endpoint_auth_method must be none: a client has no secret here, and proves itself with PKCE.',
    }
  }
  return { name: name.trim(), redirectUris: uris as string[] }
}

/** Whether a client may have codes sent to an address: exactly one of its own, whose port on this machine may differ (RFC 8252). */
export function isOwnRedirect({ redirectUris }: AssistantClient, uri: string): boolean {
  if (redirectUris.includes(uri)) return true
  if (!isLoopback(uri)) return false
  const withoutPort = (one: string) => {
    const url = URL.parse(one)
    if (url !== null) url.port = ''
    return url?.href ?? one
  }
  return redirectUris.some((one) => isLoopback(one) && withoutPort(one) === withoutPort(uri))
}

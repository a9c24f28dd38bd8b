import { createHash, createHmac, randomBytes } from 'node:crypto'
import { parseCookie } from 'cookie'
import { companySignInMinutes } from '#contract/limits.ts'
import { type TenantId, tenantId } from '../database/session/index.ts'
import { derivedKey, type SecretKey, type SecretKeys, sameBytes } from '../security/index.ts'

/** A sign-in that a browser has begun. Every instance with the installation's key can finish it. */
export interface SignInState {
  readonly tenant: TenantId
  /** Where the provider sends the browser. */
  readonly redirectTo: string
  /** The issuer and the client that it was begun with. */
  readonly provider: string
  readonly expiresAt: Date
  /** The state, as it is sent through the provider. */
  readonly state: string
  /** What the provider repeats in its answer. */
  readonly nonce: string
  /** The secret of PKCE, which never leaves this service before the code is redeemed. */
  readonly verifier: string
  /** Identifies the state in the database. */
  readonly hash: Buffer
}

interface Begun {
  readonly tenant: number
  readonly redirectTo: string
  readonly provider: string
  readonly expiresAt: number
}

const cookieName = '__Host-lanewise-company'
const browserForm = /^[A-Za-z0-9_-]{43}$/

/** The secret that ties a sign-in to its browser: from its cookie, or a new one. */
export function browserOf(cookies: string | undefined): string {
  return knownBrowser(cookies) ?? randomBytes(32).toString('base64url')
}

function knownBrowser(cookies: string | undefined): string | null {
  const browser = cookies === undefined ? undefined : parseCookie(cookies)[cookieName]
  return browser !== undefined && browserForm.test(browser) ? browser : null
}

/** The cookie: sent back by the page of the dashboard only, which the provider opens. */
export function companyCookieOf(browser: string): string {
  return `${cookieName}=${browser}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=${companySignInMinutes * 60}`
}

/** A code over several texts, for one purpose. */
function codeOf(key: SecretKey, purpose: string, ...texts: readonly string[]): string {
  return createHmac('sha256', derivedKey(key, 'company sign-in'))
    .update(JSON.stringify([purpose, ...texts]))
    .digest('base64url')
}

function stateOf(key: SecretKey, state: string, browser: string, begun: Begun): SignInState {
  return {
    ...begun,
    tenant: tenantId(begun.tenant),
    expiresAt: new Date(begun.expiresAt),
    state,
    nonce: codeOf(key, 'nonce', state, browser),
    verifier: codeOf(key, 'verifier', state, browser),
    hash: createHash('sha256').update(state).digest(),
  }
}

/** Begins a sign-in for a browser. Nothing is stored: the state is signed, together with the secret of the browser. */
export function newSignInState(
  keys: SecretKeys,
  browser: string,
  begun: {
    readonly tenant: TenantId
    readonly redirectTo: string
    readonly provider: string
    readonly now: number
  },
): SignInState {
  const { tenant, redirectTo, provider, now } = begun
  const content: Begun = { tenant, redirectTo, provider, expiresAt: now + companySignInMinutes * 60_000 }
  const text = Buffer.from(JSON.stringify([content, randomBytes(16).toString('base64url')])).toString(
    'base64url',
  )
  const state = `${text}.${codeOf(keys[0], 'state', text, browser)}`
  return stateOf(keys[0], state, browser, content)
}

/** The sign-in of a state that came back; null if this browser did not begin it, or too long ago. */
export function readSignInState(
  keys: SecretKeys,
  cookies: string | undefined,
  state: string,
  now: number,
): SignInState | null {
  const browser = knownBrowser(cookies)
  const [text = '', code = '', ...more] = state.split('.')
  if (browser === null || more.length > 0) return null
  const key = keys.find((one) => sameBytes(codeOf(one, 'state', text, browser), code))
  if (key === undefined) return null
  const [begun] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as [Begun, string]
  if (begun.expiresAt <= now || begun.expiresAt > now + companySignInMinutes * 60_000) return null
  return stateOf(key, state, browser, begun)
}

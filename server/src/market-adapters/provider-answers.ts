import type { Posted } from '../events/index.ts'
import type { Provided } from './market-adapter.ts'

/** An access token is renewed this long before its end. */
export const tokenMarginMs = 60_000

/** An access token in memory, with the time from which it is not used any more. */
export interface AccessToken {
  readonly text: string
  readonly until: number
}

/** The access tokens of an adapter, one per key. Ended ones are forgotten. */
export function accessTokens() {
  const tokens = new Map<string, AccessToken>()
  return {
    get(key: string, now: number): AccessToken | null {
      const kept = tokens.get(key)
      if (kept !== undefined && kept.until > now) return kept
      for (const [ofKey, { until }] of tokens) if (until <= now) tokens.delete(ofKey)
      return null
    },
    keep: (key: string, token: AccessToken) => tokens.set(key, token),
    forget: (key: string) => tokens.delete(key),
  }
}

/** Whether a text can be sent as an access token in a header. */
export function isToken(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)
}

/** The members of an answer in JSON; none if it is not an object. */
export function membersOf(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text ?? '')
    return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** The member of an answer that is an object itself; without members if it is not. */
export function objectIn(answer: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  const value = answer[name]
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

export const keyRefused: Provided = { failure: 'The key was refused.', isKeyRefused: true, waitSeconds: null }
export const unreadable = (failure: string): Provided => ({ failure, isKeyRefused: false, waitSeconds: null })

/** The failure of an answer with another status than 200. */
export function failureOf({ status, failure, retryAfterSeconds: waitSeconds }: Posted): Provided {
  if (status === 401 || status === 403) return keyRefused
  if (status === 429)
    return { failure: 'The provider answered: too many requests.', isKeyRefused: false, waitSeconds }
  return {
    failure: failure ?? `The provider answered with the status ${status}.`,
    isKeyRefused: false,
    waitSeconds,
  }
}

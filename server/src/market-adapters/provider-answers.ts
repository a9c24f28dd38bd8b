import type { Posted } from '../events/index.ts'
import type { Members, ProviderFailure } from './market-adapter.ts'

/** An access token is renewed this long before its end. */
export const tokenMarginMs = 60_000

/** Whether a text can be sent as an access token in a header. */
export function isToken(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)
}

/** The members of an answer in JSON; null if it is not a JSON object, for example a page, or longer than what is read. */
export function membersOf(text: string | null): Members | null {
  try {
    const read: unknown = JSON.parse(text ?? '')
    return typeof read === 'object' && read !== null ? (read as Members) : null
  } catch {
    return null
  }
}

/** The member of an answer that is an object itself; without members if it is not. */
export function objectIn(answer: Members, name: string): Members {
  const value = answer[name]
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}

/** A number above zero; null for anything else. */
export const positive = (value: unknown): number | null =>
  typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : null

export const toCents = (dollars: number) => Math.round(dollars * 100) / 100

export const keyRefused: ProviderFailure = {
  failure: 'The key was refused.',
  isKeyRefused: true,
  waitSeconds: null,
}
export const unreadable = (failure: string): ProviderFailure => ({
  failure,
  isKeyRefused: false,
  waitSeconds: null,
})
export const notJson = unreadable('The provider answered with something else than JSON.')

/** The failure of an answer with another status than 200. */
export function failureOf({ status, failure, retryAfterSeconds: waitSeconds }: Posted): ProviderFailure {
  if (status === 401 || status === 403) return keyRefused
  if (status === 429)
    return { failure: 'The provider answered: too many requests.', isKeyRefused: false, waitSeconds }
  return {
    failure: failure ?? `The provider answered with the status ${status}.`,
    isKeyRefused: false,
    waitSeconds,
  }
}

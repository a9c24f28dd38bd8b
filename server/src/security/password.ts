import { type Algorithm, hash, verify } from '@node-rs/argon2'
import { problem } from '#contract/errors.ts'
import { passwordHashesWaitingMax } from '#contract/limits.ts'
import { concurrencyLimit, QueueFull } from '../runtime/index.ts'

/**
 * The work of a hash: OWASP's minimum for Argon2id, which is 19 MiB, two passes, one thread, and about 30 ms on one core. Only
 * tests of other things reduce it, because each of their people has a password.
 */
export const passwordHashWork = {
  algorithm: 2 as Algorithm.Argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
}

/** The most concurrent hashes. More would take the CPU from requests for prices. */
const hashesAtOnceMax = 2
const hashLimit = concurrencyLimit<'hash'>(hashesAtOnceMax, passwordHashesWaitingMax)

/** @throws Problem unavailable if too many hashes are waiting already */
async function limited<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await hashLimit('hash', work)
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error
    throw problem(
      'unavailable',
      'Too many passwords are being checked at this moment. Try again in a moment.',
      {
        headers: { 'Retry-After': '2' },
      },
    )
  }
}

export function hashPassword(password: string): Promise<string> {
  return limited(() => hash(password.normalize('NFC'), passwordHashWork))
}

/** The hash of a random password, so that checking an unknown email address takes the same work as a known one. */
let noPassword: Promise<string> | undefined

/** Whether a password matches a hash. `null` (unknown user, or no password set) takes the same time and never matches. */
export async function isPassword(hashed: string | null, password: string): Promise<boolean> {
  // If the queue was full, the stand-in hash is computed at the next attempt.
  noPassword ??= hashPassword(crypto.randomUUID()).catch((error: unknown) => {
    noPassword = undefined
    throw error
  })
  const against = hashed ?? (await noPassword)
  const fits = await limited(() => verify(against, password.normalize('NFC')))
  return fits && hashed !== null
}

/** Words that make a long password easy to guess: common words of public lists, and the name of the product. */
const common = [
  'password',
  'passw0rd',
  'qwerty',
  'letmein',
  'welcome',
  'administrator',
  'changeme',
  'iloveyou',
  'lanewise',
  'freight',
  'logistics',
  'trucking',
  'dispatch',
  'brokerage',
  'abc123',
  'monkey',
  'dragon',
  'sunshine',
  'football',
  'baseball',
  'princess',
  'superman',
  'trustno1',
  'secret',
  'master',
  'company',
  'summer',
  'winter',
  'spring',
  'autumn',
]

/**
 * Whether a password is long but easy to guess: fewer than 6 different characters, a keyboard or alphabet sequence, or fewer
 * than 4 characters left without common words, the user's own words, digits, and punctuation.
 */
export function isGuessable(password: string, ownWords: readonly string[]): boolean {
  let rest = password.toLowerCase().normalize('NFKC')
  if (new Set(rest).size < 6) return true
  for (const run of [
    '0123456789',
    '9876543210',
    'abcdefghijklmnopqrstuvwxyz',
    'qwertyuiopasdfghjklzxcvbnm',
  ]) {
    if (run.includes(rest) || `${run}${run}${run}`.includes(rest)) return true
  }
  const own = ownWords
    .flatMap((text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u))
    .filter((word) => word.length >= 3)
  const whole = rest
  for (const word of [...common, ...own]) rest = rest.replaceAll(word, '')
  return rest !== whole && rest.replace(/[\d\s\p{P}]/gu, '').length < 4
}

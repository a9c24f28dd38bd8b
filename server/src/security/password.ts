import { type Algorithm, hash, verify } from '@node-rs/argon2'
import { problem } from '#contract/errors.ts'
import { passwordHashesWaitingMax } from '#contract/limits.ts'
import { concurrencyLimit, QueueFull } from '../runtime/index.ts'

/** OWASP's minimum for argon2id: 19 MiB, two passes, one lane. About 30 ms a hash on one core. */
const parameters = { algorithm: 2 as Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Two at once: sign-ins may not take the cores that answer prices. */
const hashesAtOnceMax = 2
const hashLimit = concurrencyLimit<'hash'>(hashesAtOnceMax, passwordHashesWaitingMax)

/** @throws Problem unavailable, where too many hashes wait already */
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
  return limited(() => hash(password.normalize('NFC'), parameters))
}

/** A hash of a password nobody has, so that an unknown address costs the same work as a known one. */
let noPassword: Promise<string> | undefined

/** True when the password is the one that was hashed. `null` (no such person, no password yet) takes as long. */
export async function isPassword(hashed: string | null, password: string): Promise<boolean> {
  // One that found no place in the line is computed with the next attempt.
  noPassword ??= hashPassword(crypto.randomUUID()).catch((error: unknown) => {
    noPassword = undefined
    throw error
  })
  const against = hashed ?? (await noPassword)
  const fits = await limited(() => verify(against, password.normalize('NFC')))
  return fits && hashed !== null
}

/** Words that make a long password easy to guess; the longest and commonest of the public lists, and our own name. */
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
 * True when a password is long only by repetition or by a common word: fewer than 6 different characters, a run of
 * neighbours, or nothing much left when common words, the person's own words and digits are taken out.
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

import { type Algorithm, hash, verify } from '@node-rs/argon2'
import { problem } from '#contract/errors.ts'
import { passwordHashesWaitingMax } from '#contract/limits.ts'
import { concurrencyLimit, QueueFull } from '../runtime/index.ts'
import { sameBytes } from './same-bytes.ts'

/** OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. About 30 ms per hash on one core. */
const parameters = { algorithm: 2 as Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Concurrent hashes. More would take the CPU from requests for prices. */
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

/** `$argon2id$v=19$m=19456,t=2,p=1$`, the salt, `$`, the hash: everything before the hash. */
const beforeHash = (hashed: string) => hashed.slice(0, hashed.lastIndexOf('$'))
const saltOf = (hashed: string) =>
  Buffer.from(beforeHash(hashed).slice(beforeHash(hashed).lastIndexOf('$') + 1), 'base64')

/**
 * Hashes a password. The accounts of one address share a salt, so that one hash checks a password for all of them: `like` is the
 * hash of another account of the address, if there is one.
 */
export function hashPassword(password: string, like: string | null = null): Promise<string> {
  const salt = like === null ? {} : { salt: saltOf(like) }
  return limited(() => hash(password.normalize('NFC'), { ...parameters, ...salt }))
}

/**
 * Which of the hashes of an address a password matches. `null` (no password set) never does. One hash is computed for each
 * salt, and one if there is none.
 *
 * @example await passwordFits([ofAcme, null, ofBluff], 'seven quiet trucks at dawn') // [true, false, false]
 */
export async function passwordFits(
  hashes: readonly (string | null)[],
  password: string,
): Promise<readonly boolean[]> {
  const known = hashes.filter((hashed) => hashed !== null)
  const [first = null, ...others] = known
  if (others.length === 0) {
    const fits = await isPassword(first, password)
    return hashes.map((hashed) => hashed !== null && fits)
  }
  const computed = new Map<string, Buffer>()
  const fits: boolean[] = []
  for (const hashed of hashes) {
    if (hashed === null) {
      fits.push(false)
      continue
    }
    const before = beforeHash(hashed)
    const given = computed.get(before) ?? Buffer.from(await hashPassword(password, hashed))
    computed.set(before, given)
    fits.push(sameBytes(hashed, given))
  }
  return fits
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

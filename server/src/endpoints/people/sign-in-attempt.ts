import { type Problem, problem } from '#contract/errors.ts'
import { knownNetworkDays, knownNetworksMax } from '#contract/limits.ts'
import type { CameFrom } from '../../audit/index.ts'
import { people, signInNetworks } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type TenantId, tenantId } from '../../database/session/index.ts'
import { networkHash, type SignInAttempt } from '../../security/index.ts'
import type { Parts } from '../parts.ts'

/** The parts that an attempt needs. */
export type AttemptParts = Pick<Parts, 'database' | 'signInAttempts' | 'secretKeys' | 'refusals'>

export function tooManyAttempts(what: string, waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return problem('too-many-attempts', `Too many ${what}. Wait ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  })
}

/** A tenant id that does not exist: real ids are far above it. */
export const nobody = { tenant: tenantId(1), userId: 1 }

const knownSince = (now: number) => new Date(now - knownNetworkDays * 86_400_000)

/**
 * Returns an attempt for which only this network's failures count, if the person has signed in from it before; otherwise `usual`,
 * which must wait. An unknown address causes the same work.
 */
async function attemptAsKnown(
  parts: AttemptParts,
  { account, network, now }: { account: string; network: string; now: number },
  usual: SignInAttempt,
): Promise<SignInAttempt> {
  const known = parts.signInAttempts.begin(account, network, now, true)
  if (known.waitMs > 0 || !parts.signInAttempts.mayLookUp(network, now)) {
    known.end()
    return usual
  }
  try {
    const { tenant, userId } = (await people.signInOf(parts.database, account)) ?? nobody
    const hashes = parts.secretKeys.map((key) => networkHash(key, `${tenant} ${userId}`, network))
    const isKnown = await parts.database.inTenant(tenant, (transaction) =>
      signInNetworks.isKnownNetwork(transaction, tenant, { userId, hashes }, knownSince(now)),
    )
    if (isKnown) return known
  } catch (error) {
    known.end()
    throw error
  }
  known.end()
  return usual
}

/** Saves the network from which a person signed in. */
export async function noteNetwork(
  transaction: TenantTransaction,
  { tenant, userId }: { tenant: TenantId; userId: number },
  { network, now }: { network: string; now: number },
  { secretKeys }: Pick<Parts, 'secretKeys'>,
): Promise<void> {
  const hash = networkHash(secretKeys[0], `${tenant} ${userId}`, network)
  const noted = { userId, hash, now: new Date(now) }
  await signInNetworks.noteSignInNetwork(transaction, tenant, noted, knownNetworksMax)
}

/**
 * Checks one attempt with a password or an invitation, unless too many failed before. With `isSignIn`, the account is an e-mail
 * address, and its brokerage is informed of blocked attempts.
 */
export async function attempt<T>(
  parts: AttemptParts,
  from: CameFrom & { account: string; now: number; isSignIn?: boolean },
  work: (attempt: SignInAttempt) => Promise<T>,
): Promise<T> {
  const { account, network, now } = from
  const usual = parts.signInAttempts.begin(account, network, now)
  const begun = usual.waitMs > 0 && from.isSignIn === true ? await attemptAsKnown(parts, from, usual) : usual
  const { waitMs } = begun
  if (waitMs > 0) {
    if (from.isSignIn === true) parts.refusals.backedOff(account, from)
    throw tooManyAttempts('failed attempts', waitMs)
  }
  try {
    return await work(begun)
  } finally {
    begun.end()
  }
}

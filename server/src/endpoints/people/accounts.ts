import { randomInt } from 'node:crypto'
import { type Problem, problem } from '#contract/errors.ts'
import { accountsAlike, knownNetworkDays, knownNetworksMax } from '#contract/limits.ts'
import type { CameFrom } from '../../audit/index.ts'
import { people, signInNetworks } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { type TenantId, tenantId } from '../../database/session/index.ts'
import { networkHash, passwordFits, type SignInAttempt } from '../../security/index.ts'
import type { Parts } from '../parts.ts'

/** A person of a brokerage that does not exist: real ids are far above. Another one each time, because transactions of one brokerage wait for each other. */
const nobody = (): people.Account => ({ tenant: tenantId(randomInt(1, 100_000_000)), userId: 1 })

/** Sign-ins since this time are known places. */
export const knownSince = (now: number) => new Date(now - knownNetworkDays * 86_400_000)

/**
 * The accounts that signed in from a network lately. Addresses with fewer than `accountsAlike` accounts, also unknown ones, cause the
 * same work, so that the response time reveals neither an address nor in how many brokerages it signs in.
 */
async function knownFrom<One extends people.Account>(
  parts: Pick<Parts, 'database' | 'secretKeys'>,
  accounts: readonly One[],
  { network, now }: { readonly network: string; readonly now: number },
): Promise<One[]> {
  const padding = Array.from({ length: Math.max(0, accountsAlike - accounts.length) }, nobody)
  const known: boolean[] = []
  for (const { tenant, userId } of [...accounts, ...padding]) {
    const hashes = parts.secretKeys.map((key) => networkHash(key, `${tenant} ${userId}`, network))
    const asked = await parts.database.inTenant(tenant, (transaction) =>
      signInNetworks.isKnownNetwork(transaction, tenant, { userId, hashes }, knownSince(now)),
    )
    known.push(asked)
  }
  return accounts.filter((_, index) => known[index])
}

/** Remembers the network that a person has signed in from. */
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

export function tooManyAttempts(what: string, waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return problem('too-many-attempts', `Too many ${what}. Wait ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  })
}

/** An attempt, and the accounts that it may sign in to; null: all of the address. */
export interface AccountAttempt extends SignInAttempt {
  readonly only: readonly people.Account[] | null
}

/** Where an attempt comes from, and for what. `of`: of which accounts it is, if not of all of the address `account`. */
type AttemptFrom = CameFrom & {
  readonly account: string
  readonly now: number
  readonly isSignIn?: boolean
  readonly of?: readonly people.Account[]
}

/**
 * An attempt that must wait for failures from other networks, as one of a network that the person signed in from: it waits for the
 * failures of its own network only, and for the accounts that signed in from there only. So an account that somebody else made with
 * the address opens no way past the delay to the other accounts. An unknown address causes the same work.
 */
async function attemptAsKnown(
  parts: Parts,
  { account, network, now, of }: AttemptFrom,
  usual: AccountAttempt,
): Promise<AccountAttempt> {
  const known = parts.signInAttempts.begin(account, network, now, true)
  if (known.waitMs > 0 || !parts.signInAttempts.mayLookUp(network, now)) {
    known.end()
    return usual
  }
  try {
    const accounts = of ?? (await people.accountsOf(parts.database, account))
    const only = await knownFrom(parts, accounts, { network, now })
    if (only.length > 0) return { ...known, only }
  } catch (error) {
    known.end()
    throw error
  }
  known.end()
  return usual
}

/**
 * Checks one attempt at a password or an invitation, unless too many attempts failed before. With `isSignIn`, the
 * account is the e-mail address of the sign-in, and its brokerages are informed of blocked attempts.
 */
export async function attempt<T>(
  parts: Parts,
  from: AttemptFrom,
  work: (attempt: AccountAttempt) => Promise<T>,
): Promise<T> {
  const { account, network, now } = from
  const usual = { ...parts.signInAttempts.begin(account, network, now), only: null }
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

export function signInFailed(): Problem {
  return problem('sign-in-failed', 'The e-mail address or the password is wrong.')
}

/** Asks which of the brokerages. Their names are told to nobody but who knows the password for each of them. */
function whichBrokerage(accounts: readonly people.SignInAccount[]): Problem {
  const brokerages = accounts
    .map(({ tenant: id, brokerage: name }) => ({ id, name }))
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.id - b.id)
  return problem('brokerage-required', 'You sign in to several brokerages. Choose one.', {
    members: { brokerages },
  })
}

/** The account whose password was given, and whether the password fits each account that was checked. */
export interface PasswordHolder {
  readonly known: people.SignInAccount
  readonly fitsAll: boolean
}

/**
 * The account of an address and a password. A wrong password counts as a failure.
 *
 * @throws Problem sign-in-failed; brokerage-required if the password fits several accounts and none was chosen
 */
export async function passwordHolder(
  call: CameFrom & { readonly now: number },
  given: {
    readonly email: string
    readonly password: string
    readonly brokerage_id?: number | undefined
  },
  parts: Pick<Parts, 'database' | 'refusals'>,
  begun: AccountAttempt,
): Promise<PasswordHolder> {
  const { email, password, brokerage_id: chosen } = given
  const isKnown = ({ tenant, userId }: people.Account) =>
    begun.only?.some((one) => one.tenant === tenant && one.userId === userId) ?? true
  const all = await people.accountsOf(parts.database, email)
  const accounts = all.filter((one) => isKnown(one) && (chosen === undefined || one.tenant === chosen))
  const fits = await passwordFits(
    accounts.map(({ isOpen, passwordHash }) => (isOpen.person ? passwordHash : null)),
    password,
  )
  const held = accounts.filter((_, index) => fits[index])
  const open = held.filter(({ isOpen }) => isOpen.brokerage)
  const [only, ...others] = open
  if (only === undefined) {
    if (held.length === 0) begun.failed()
    for (const { tenant, userId } of accounts) parts.refusals.signInFailed(tenant, userId, call)
    throw signInFailed()
  }
  if (others.length > 0) throw whichBrokerage(open)
  return { known: only, fitsAll: held.length === accounts.length }
}

/**
 * Forgets failed attempts after a sign-in, except those of the address from everywhere: whoever has an account with the address could
 * otherwise guess at the others without end. From now on the network is known, and does not wait for them.
 */
export function succeeded(begun: AccountAttempt, { fitsAll }: Pick<PasswordHolder, 'fitsAll'>): void {
  if (begun.only === null || fitsAll) begun.succeeded(true)
}

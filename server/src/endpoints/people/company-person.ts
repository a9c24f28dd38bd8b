import { domainToASCII } from 'node:url'
import { type Role, roleAtLeast } from '#contract/endpoint.ts'
import { type CompanyPerson, domainOf, type Refusal } from '../../company/index.ts'
import { companySignIns, people, sessions, teams } from '../../database/queries/index.ts'
import type { CompanySignInRow, TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'

/** The domain of an e-mail address, as domains are stored. */
export function domainOfEmail(email: string): string {
  return domainToASCII(domainOf(people.foldedEmail(email))).toLowerCase()
}

/** A person who may sign in, and what the sign-in changed; or why they may not. */
export type Admitted =
  | {
      readonly user: people.UserRow
      readonly joined: 'new' | 'invited' | null
      /** The role before, if the groups gave another one. */
      readonly roleBefore: Role | null
    }
  | { readonly refusal: Refusal; readonly userId: number | null }

/** What groups mean. */
type Meanings = Pick<CompanySignInRow, 'group_roles' | 'role_without_group'>

/** The role that the groups of a person give; undefined if groups decide nothing. */
function roleOfGroups(
  { group_roles: meanings, role_without_group: otherwise }: Meanings,
  groups: readonly string[] | null,
): Role | Refusal | undefined {
  if (meanings.length === 0) return undefined
  if (groups === null) return 'no-groups'
  const given = meanings.filter(({ group }) => groups.includes(group)).map(({ role }) => role)
  const [first, ...others] = given
  if (first === undefined) return otherwise ?? 'no-role'
  return others.reduce<Role>((highest, role) => (roleAtLeast(role, highest) ? role : highest), first)
}

/** The groups that have a meaning. The others are not stored. */
const meaningful = ({ group_roles: meanings }: Meanings, groups: readonly string[]) =>
  meanings.flatMap(({ group }) => (groups.includes(group) ? [group] : []))

const isRefusal = (role: Role | Refusal | undefined): role is Refusal =>
  role === 'no-groups' || role === 'no-role'

/** The person of an account at the provider: known by the account, otherwise by the confirmed address. */
async function knownPerson(
  transaction: TenantTransaction,
  tenant: TenantId,
  issuer: string,
  { subject, email }: CompanyPerson,
): Promise<people.UserRow | null> {
  const linked = await companySignIns.personOfIdentity(transaction, tenant, { issuer, subject })
  const folded = people.foldedEmail(email)
  const id =
    linked ??
    (await people.listUsers(transaction, tenant)).find((user) => people.foldedEmail(user.email) === folded)
      ?.user_id
  return id === undefined ? null : people.lockUser(transaction, tenant, id)
}

/** Puts a person into the teams that their groups give, and out of the others that groups give. */
async function setTeams(
  transaction: TenantTransaction,
  tenant: TenantId,
  userId: number,
  { set: { group_roles: meanings }, groups }: { set: CompanySignInRow; groups: readonly string[] },
): Promise<void> {
  const ofGroups = (which: typeof meanings) => which.flatMap(({ team_id: id }) => id ?? [])
  const managed = ofGroups(meanings)
  if (managed.length === 0) return
  const wanted = ofGroups(meanings.filter(({ group }) => groups.includes(group)))
  await teams.setTeamsOfPerson(transaction, tenant, userId, { managed, wanted })
}

/**
 * Finds or makes the person of a verified answer of the provider, links both, and gives the role and the teams of the groups. A person
 * who lost their last role is refused, and their sessions end.
 */
export async function admitPerson(
  transaction: TenantTransaction,
  tenant: TenantId,
  set: CompanySignInRow,
  { person, now }: { readonly person: CompanyPerson; readonly now: Date },
): Promise<Admitted> {
  // Two first sign-ins of one person at once make one account.
  await people.lockTenant(transaction, tenant)
  const domain = domainOfEmail(person.email)
  const domains = await companySignIns.listCompanyDomains(transaction, tenant)
  if (!domains.some((one) => one.domain === domain && one.proven_at !== null)) {
    return { refusal: 'domain-not-proven', userId: null }
  }
  const known = await knownPerson(transaction, tenant, set.issuer, person)
  const refused = refusalOfPerson(known, set, now)
  if (refused !== null) return { refusal: refused, userId: known?.user_id ?? null }
  const role = known?.role === 'owner' ? undefined : roleOfGroups(set, person.groups)
  if (isRefusal(role)) {
    if (known !== null) await sessions.endSessions(transaction, tenant, known.user_id, now)
    return { refusal: role, userId: known?.user_id ?? null }
  }
  const found =
    known ?? (await newPerson(transaction, tenant, { person, role: role ?? set.role_without_group, now }))
  if (found === null) return { refusal: 'no-role', userId: null }
  const { user_id: userId } = found
  const account = {
    userId,
    issuer: set.issuer,
    subject: person.subject,
    groups: meaningful(set, person.groups ?? []),
    now,
  }
  if (!(await companySignIns.linkIdentity(transaction, tenant, account))) {
    return { refusal: 'another-account', userId }
  }
  const hasOtherRole = role !== undefined && role !== found.role
  if (hasOtherRole) await sessions.endSessions(transaction, tenant, userId, now)
  const isSame = found.status === 'active' && !hasOtherRole
  const user = isSame
    ? found
    : await people.updateUser(transaction, tenant, userId, {
        status: 'active',
        invitation_hash: null,
        invitation_expires_at: null,
        ...(hasOtherRole ? { role } : {}),
      })
  // For a password, if the brokerage ends its company sign-in. The address may sign in to another brokerage.
  if (found.status === 'invited') await people.claimSignIn(transaction, tenant, userId, user.email)
  await setTeams(transaction, tenant, userId, { set, groups: person.groups ?? [] })
  return {
    user,
    joined: known === null ? 'new' : known.status === 'invited' ? 'invited' : null,
    roleBefore: known !== null && hasOtherRole ? found.role : null,
  }
}

/** A person whose role or sessions a change of the meanings of groups took away. */
export interface Lowered {
  readonly userId: number
  readonly email: string
  readonly from: Role
  /** Null: no group gives a role any more. Their sessions ended, and they cannot sign in through the provider. */
  readonly to: Role | null
}

/**
 * Takes away what groups do not give any more, by the groups of each person's last sign-in: a role, or a team. What groups give more is
 * given at the next sign-in, when the groups are known.
 *
 * @param before the meanings before the change
 */
export async function takeAwayByGroups(
  transaction: TenantTransaction,
  tenant: TenantId,
  set: Meanings & Pick<CompanySignInRow, 'issuer'>,
  { before, now }: { readonly before: Meanings; readonly now: Date },
): Promise<Lowered[]> {
  const lowered: Lowered[] = []
  const known = await companySignIns.peopleWithGroups(transaction, tenant, set.issuer)
  for (const { user_id: userId, email, role: from, groups } of known) {
    const teamsOf = ({ group_roles: meanings }: Meanings) =>
      meanings.flatMap(({ group, team_id: team }) => (groups.includes(group) ? (team ?? []) : []))
    const kept = teamsOf(set)
    const lost = teamsOf(before).filter((team) => !kept.includes(team))
    if (lost.length > 0)
      await teams.setTeamsOfPerson(transaction, tenant, userId, { managed: lost, wanted: [] })
    const role = roleOfGroups(set, groups)
    const to = isRefusal(role) ? null : role
    if (to === undefined || (to !== null && roleAtLeast(to, from))) continue
    await sessions.endSessions(transaction, tenant, userId, now)
    if (to !== null) await people.updateUser(transaction, tenant, userId, { role: to })
    lowered.push({ userId, email, from, to })
  }
  return lowered
}

function refusalOfPerson(known: people.UserRow | null, set: CompanySignInRow, now: Date): Refusal | null {
  if (known === null) return set.makes_accounts ? null : 'no-account'
  if (known.status === 'suspended' || known.status === 'removed') return 'not-active'
  // A person whom a directory added has no invitation that could end.
  const isLate = known.invitation_expires_at !== null && known.invitation_expires_at <= now
  if (known.status === 'invited' && isLate && !set.makes_accounts) return 'no-account'
  return known.role === 'owner' && !set.set_by_owner ? 'owner-not-set' : null
}

async function newPerson(
  transaction: TenantTransaction,
  tenant: TenantId,
  made: { readonly person: CompanyPerson; readonly role: Role | null; readonly now: Date },
): Promise<people.UserRow | null> {
  const { person, role, now } = made
  if (role === null) return null
  const { name, email } = person
  return people.insertUser(transaction, tenant, {
    ...{ name, email, role, now },
    status: 'invited',
    passwordHash: null,
    invitation: null,
  })
}

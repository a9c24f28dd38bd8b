import { roleAtLeast } from '#contract/endpoint.ts'
import { isEmail } from '#contract/fields.ts'
import { labelLengthMax, scimPeopleMax } from '#contract/limits.ts'
import { scimPath } from '#contract/scim.ts'
import type { ServiceCaller } from '../../access/index.ts'
import { type Doing, recordEvent } from '../../audit/index.ts'
import { people, sandboxOf, scim, sessions, teams } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import type { Parts } from '../parts.ts'
import { hasSignedIn, removePerson, restorePerson, suspendPerson } from './leaving.ts'
import { askedBy } from './left-behind.ts'
import { refuseBreakGlass } from './password-rule.ts'
import { endSandboxSessions } from './sandbox-sessions.ts'
import { type ScimObject, ScimRefusal } from './scim-protocol.ts'
import { heldUser, refuseLastOwner } from './users.ts'

/** A SCIM request with an admitted service token. */
export interface ScimCall extends Doing {
  readonly caller: ServiceCaller
  readonly scimToken: number
  readonly method: string
  /** The parts of the path after /scim/v2. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly body: unknown
}

/** People who lost a role or left: their sessions in the test brokerage end after the commit. */
type Ended = Set<string>

/** What the pages and lists of SCIM say of a brokerage, read at once. */
export interface Directory {
  readonly users: readonly people.UserRow[]
  readonly names: ReadonlyMap<string, string>
  readonly roles: readonly { readonly role: scim.GivenRole; readonly user_id: number }[]
  readonly teams: readonly teams.TeamRow[]
}

export async function directoryOf(transaction: TenantTransaction, tenant: TenantId): Promise<Directory> {
  return {
    users: await people.listUsers(transaction, tenant),
    names: await scim.externalIds(transaction, tenant),
    roles: await scim.roleMembers(transaction, tenant),
    teams: await teams.listTeams(transaction, tenant),
  }
}

/** The groups that stand for roles. Nobody becomes an owner by a directory. */
export const roleGroups = [
  { id: 'role-admin', role: 'admin', displayName: 'Lanewise admins' },
  { id: 'role-member', role: 'member', displayName: 'Lanewise members' },
  { id: 'role-viewer', role: 'viewer', displayName: 'Lanewise viewers' },
] as const satisfies readonly { id: string; role: scim.GivenRole; displayName: string }[]

export const locationOf = (kind: 'Users' | 'Groups', id: string, { config }: Pick<Parts, 'config'>) =>
  `${config.mail.publicUrl ?? ''}${scimPath}/${kind}/${id}`

/** Works for a request under the lock of the brokerage, and ends sessions in the test brokerage afterwards. */
export async function changing<T>(
  { caller: { tenant }, now }: ScimCall,
  parts: Parts,
  work: (transaction: TenantTransaction, ended: Ended) => Promise<T>,
): Promise<T> {
  const ended: Ended = new Set()
  const { result, sandbox } = await parts.database.inTenant(tenant, async (transaction) => {
    // Directories send several requests at once. The same person is not added twice.
    await people.lockTenant(transaction, tenant)
    const row = await people.findTenant(transaction, tenant)
    if (row?.sandbox_of != null) {
      throw new ScimRefusal(
        409,
        null,
        'A test brokerage has no people of its own. Use a token of the brokerage.',
      )
    }
    const result = await work(transaction, ended)
    return { result, sandbox: ended.size === 0 ? null : await sandboxOf(transaction, tenant) }
  })
  for (const email of ended) await endSandboxSessions(parts, { tenant, sandbox, email }, now)
  return result
}

/** The parts of a name that is kept in one piece: the first word, and the rest. */
function nameParts(name: string) {
  const [givenName = '', ...rest] = name.split(' ')
  return { formatted: name, givenName, ...(rest.length === 0 ? {} : { familyName: rest.join(' ') }) }
}

/** What a directory can change of a person, in the form of SCIM. */
export function changeableUser({ names }: Pick<Directory, 'names'>, user: people.UserRow): ScimObject {
  const externalId = names.get(`user-${user.user_id}`)
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    id: String(user.user_id),
    ...(externalId === undefined ? {} : { externalId }),
    userName: user.email,
    name: nameParts(user.name),
    displayName: user.name,
    active: user.status !== 'suspended',
  }
}

/** A person in the form of SCIM. */
export function userResource(
  directory: Directory,
  user: people.UserRow,
  parts: Pick<Parts, 'config'>,
): ScimObject {
  const id = String(user.user_id)
  const ofRoles = roleGroups.filter(({ role }) =>
    directory.roles.some((one) => one.role === role && one.user_id === user.user_id),
  )
  const ofTeams = directory.teams.filter(({ members }) =>
    members.some((member) => member.id === user.user_id),
  )
  return {
    ...changeableUser(directory, user),
    emails: [{ value: user.email, type: 'work', primary: true }],
    groups: [
      ...ofRoles.map((group) => ({ value: group.id, display: group.displayName })),
      ...ofTeams.map((team) => ({ value: `team-${team.teamId}`, display: team.name })),
    ],
    meta: {
      ...{ resourceType: 'User', created: user.created_at.toISOString() },
      location: locationOf('Users', id, parts),
    },
  }
}

/** What a directory wants of a person. */
interface WantedUser {
  readonly userName: string
  readonly name: string
  readonly externalId: string | undefined
  readonly active: boolean
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')

function joinedName(name: unknown): string {
  const { givenName, familyName } = (name ?? {}) as { givenName?: unknown; familyName?: unknown }
  return [textOf(givenName), textOf(familyName)].filter((part) => part !== '').join(' ')
}

/** Reads what is wanted: with `before`, the part of the name that was changed counts. @throws ScimRefusal */
export function wantedUser(sent: ScimObject, before?: ScimObject): WantedUser {
  const invalid = (detail: string) => new ScimRefusal(400, 'invalidValue', detail)
  const userName = textOf(sent.userName)
  if (!isEmail(userName)) {
    throw invalid('userName must be an e-mail address of at most 254 characters, such as ana@example.com.')
  }
  const names = [
    [textOf(sent.displayName), textOf(before?.displayName)],
    [
      textOf((sent.name as ScimObject | undefined)?.formatted),
      textOf((before?.name as ScimObject | undefined)?.formatted),
    ],
    [joinedName(sent.name), joinedName(before?.name)],
  ]
  const changed = names.find(([now, then]) => now !== '' && (before === undefined || now !== then))?.[0]
  const name = changed ?? (textOf(before?.displayName) || userName)
  if (name.length > labelLengthMax) {
    throw invalid(`displayName must be at most ${labelLengthMax} characters long; it has ${name.length}.`)
  }
  if (/\p{Cc}/u.test(`${name}${userName}`))
    throw invalid('displayName and userName must not contain control characters.')
  return { userName, name, externalId: externalIdOf(sent), active: sent.active !== false }
}

export function externalIdOf({ externalId }: ScimObject): string | undefined {
  const id = textOf(externalId)
  if (id.length > 200 || /\p{Cc}/u.test(id)) {
    throw new ScimRefusal(
      400,
      'invalidValue',
      'externalId must be at most 200 characters long, without control characters.',
    )
  }
  return id === '' ? undefined : id
}

/** The id of a person in a path or a list of members; null if it cannot be one. */
export function personNumber(id: string): number | null {
  return /^[1-9]\d{0,8}$/.test(id) ? Number(id) : null
}

export function noSuch(kind: 'User' | 'Group', id: string): ScimRefusal {
  return new ScimRefusal(404, null, `There is no ${kind} ${id.slice(0, 50)}.`)
}

/** Refuses that a directory cuts itself off: its token stops with the person who made it. */
function refuseOwnHolder({ caller }: ScimCall, user: people.UserRow): void {
  if (user.user_id !== caller.userId) return
  throw new ScimRefusal(
    409,
    null,
    `${user.name} made the token that the directory uses, and it would stop. Hand the token over to another admin first.`,
  )
}

/** Owners are suspended and removed by an owner's token only, as in the dashboard. The last owner stays. */
async function holdToLeave(transaction: TenantTransaction, call: ScimCall, userId: number) {
  const { tenant } = call.caller
  const asked = await askedBy(transaction, tenant, userId, call.now)
  const { user, owners } = await heldUser(transaction, tenant, userId)
  refuseOwnHolder(call, user)
  refuseLastOwner(user, owners)
  await refuseBreakGlass(transaction, tenant, user)
  const holder = await people.findUser(transaction, tenant, call.caller.userId)
  if (user.role === 'owner' && holder?.role !== 'owner') {
    throw new ScimRefusal(
      409,
      null,
      `${user.name} is an owner. Only a token that an owner made suspends or removes owners.`,
    )
  }
  return { user, asked }
}

/** What happens to what a suspended person leaves: all of it comes back when they are restored. */
const whileSuspended = { tokens: 'stop', quotes: 'to-admins', approvals: 'keep' } as const
const whenRemoved = { tokens: 'revoke', quotes: 'to-admins', approvals: 'withdraw' } as const

async function setActive(
  transaction: TenantTransaction,
  call: ScimCall,
  { user: known, active }: { user: people.UserRow; active: boolean },
  parts: Parts,
  ended: Ended,
): Promise<void> {
  if (active === (known.status !== 'suspended')) return
  if (active) {
    await restorePerson(transaction, call, known)
    return
  }
  const { user, asked } = await holdToLeave(transaction, call, known.user_id)
  const handed = { user, choice: whileSuspended, to: undefined, named: {}, asked }
  await suspendPerson(transaction, call, handed, parts)
  ended.add(user.email)
}

export async function createUser(call: ScimCall, sent: ScimObject, parts: Parts): Promise<ScimObject> {
  const wanted = wantedUser(sent)
  const { tenant } = call.caller
  return changing(call, parts, async (transaction) => {
    const users = await people.listUsers(transaction, tenant)
    refuseTakenAddress(users, wanted.userName)
    if (users.length >= scimPeopleMax) {
      throw new ScimRefusal(
        409,
        null,
        `A directory adds at most ${scimPeopleMax.toLocaleString('en-US')} people. Assign fewer.`,
      )
    }
    const user = await people.insertUser(transaction, tenant, {
      ...{ name: wanted.name, email: wanted.userName, role: 'viewer', status: 'invited' },
      ...{ passwordHash: null, invitation: null, now: new Date(call.now) },
    })
    if (user === null) throw new Error('An invited person has no e-mail address to claim yet.')
    await scim.setExternalId(transaction, tenant, `user-${user.user_id}`, wanted.externalId)
    if (!wanted.active) await people.updateUser(transaction, tenant, user.user_id, { status: 'suspended' })
    await recordEvent(transaction, call, 'person-invited', {
      subject: user.user_id,
      about: { email: user.email, role: user.role },
    })
    const directory = await directoryOf(transaction, tenant)
    return userResource(directory, { ...user, status: wanted.active ? 'invited' : 'suspended' }, parts)
  })
}

function refuseTakenAddress(users: readonly people.UserRow[], email: string, except?: number): void {
  const folded = people.foldedEmail(email)
  const other = users.find((user) => people.foldedEmail(user.email) === folded && user.user_id !== except)
  if (other === undefined) return
  throw new ScimRefusal(
    409,
    'uniqueness',
    `${email} is the userName of another person already, with the id ${other.user_id}.`,
  )
}

/** Changes a person as a directory wants. `wantedOf` reads that from the person as they are. */
export async function changeUser(
  call: ScimCall,
  id: string,
  wantedOf: (before: ScimObject) => Promise<WantedUser>,
  parts: Parts,
): Promise<ScimObject> {
  const { tenant } = call.caller
  const userId = personNumber(id)
  if (userId === null) throw noSuch('User', id)
  return changing(call, parts, async (transaction, ended) => {
    const { users, names } = await directoryOf(transaction, tenant)
    const user = users.find((one) => one.user_id === userId)
    if (user === undefined) throw noSuch('User', id)
    const wanted = await wantedOf(changeableUser({ names }, user))
    if (people.foldedEmail(wanted.userName) !== people.foldedEmail(user.email)) {
      refuseTakenAddress(users, wanted.userName, userId)
      if (await hasSignedIn(transaction, call.caller, user)) {
        throw new ScimRefusal(
          400,
          'mutability',
          `${user.name} signs in with ${user.email}, which is not changed. Remove the person and add them with the new address.`,
        )
      }
      await scim.changeUnclaimedEmail(transaction, tenant, userId, wanted.userName)
    }
    if (wanted.name !== user.name) await people.updateUser(transaction, tenant, userId, { name: wanted.name })
    if (wanted.externalId !== names.get(`user-${userId}`)) {
      await scim.setExternalId(transaction, tenant, `user-${userId}`, wanted.externalId)
    }
    await setActive(transaction, call, { user, active: wanted.active }, parts, ended)
    const directory = await directoryOf(transaction, tenant)
    const after = directory.users.find((one) => one.user_id === userId)
    return userResource(directory, after ?? user, parts)
  })
}

export async function removeUser(call: ScimCall, id: string, parts: Parts): Promise<void> {
  const userId = personNumber(id)
  await changing(call, parts, async (transaction, ended) => {
    const known = userId === null ? null : await people.findUser(transaction, call.caller.tenant, userId)
    if (known === null || known.status === 'removed') throw noSuch('User', id)
    const { user, asked } = await holdToLeave(transaction, call, known.user_id)
    const handed = { user, choice: whenRemoved, to: undefined, named: {}, asked }
    await removePerson(transaction, call, handed, parts)
    ended.add(user.email)
  })
}

/** Gives each person the highest role of their groups, and viewer without one. Owners keep theirs. */
export async function setRoles(
  transaction: TenantTransaction,
  call: ScimCall,
  userIds: readonly number[],
  ended: Ended,
): Promise<void> {
  const { tenant } = call.caller
  const { roles } = await directoryOf(transaction, tenant)
  for (const userId of userIds) {
    const { user } = await heldUser(transaction, tenant, userId)
    const wanted = roleGroups.find(({ role }) =>
      roles.some((one) => one.role === role && one.user_id === userId),
    )
    const role = wanted?.role ?? 'viewer'
    if (user.role === 'owner' || user.role === role) continue
    if (!roleAtLeast(role, 'admin')) refuseOwnHolder(call, user)
    await people.updateUser(transaction, tenant, userId, { role })
    await sessions.endSessions(transaction, tenant, userId, new Date(call.now))
    await recordEvent(transaction, call, 'role-changed', {
      subject: userId,
      about: { from: user.role, to: role },
    })
    ended.add(user.email)
  }
}

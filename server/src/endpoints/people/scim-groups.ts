import { labelLengthMax, teamsMax } from '#contract/limits.ts'
import { recordEvent } from '../../audit/index.ts'
import { scim, teams } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import { checkRulesOfTeam, teamInWords } from '../customers/teams.ts'
import type { Parts } from '../parts.ts'
import {
  changing,
  type Directory,
  directoryOf,
  externalIdOf,
  locationOf,
  noSuch,
  personNumber,
  roleGroups,
  type ScimCall,
  setRoles,
} from './scim-people.ts'
import { type ScimObject, ScimRefusal } from './scim-protocol.ts'

interface Group {
  readonly id: string
  readonly displayName: string
  readonly memberIds: readonly number[]
  /** What it stands for. */
  readonly role: scim.GivenRole | null
  readonly teamId: number | null
}

/** The groups of a brokerage: its roles and its teams. */
export function groupsOf({ roles, teams: rows }: Directory): Group[] {
  return [
    ...roleGroups.map(({ id, role, displayName }) => ({
      ...{ id, role, displayName, teamId: null },
      memberIds: roles.filter((one) => one.role === role).map((one) => one.user_id),
    })),
    ...rows.map(({ teamId, name, members }) => ({
      ...{ id: `team-${teamId}`, displayName: name, role: null, teamId },
      memberIds: members.map((member) => member.id),
    })),
  ]
}

/** A group in the form of SCIM. */
export function groupResource(directory: Directory, group: Group, parts: Pick<Parts, 'config'>): ScimObject {
  const { memberIds } = group
  const people = new Map(directory.users.map((user) => [user.user_id, user.name]))
  return {
    ...changeableGroup(directory, group),
    members: memberIds.map((id) => ({ value: String(id), display: people.get(id) ?? '', type: 'User' })),
    meta: { resourceType: 'Group', location: locationOf('Groups', group.id, parts) },
  }
}

/** What a directory can change of a group. Members are ids. */
function changeableGroup({ names }: Directory, { id, displayName, memberIds }: Group): ScimObject {
  const externalId = names.get(id)
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    ...{ id, displayName },
    ...(externalId === undefined ? {} : { externalId }),
    members: memberIds.map(String),
  }
}

interface WantedGroup {
  readonly displayName: string
  readonly externalId: string | undefined
  readonly memberIds: readonly number[]
}

/** @throws ScimRefusal for a name that cannot be one, and for somebody who is not in the brokerage */
function wantedGroup({ users }: Directory, sent: ScimObject): WantedGroup {
  const displayName = typeof sent.displayName === 'string' ? sent.displayName.trim() : ''
  if (displayName === '' || displayName.length > labelLengthMax || /\p{Cc}/u.test(displayName)) {
    throw new ScimRefusal(
      400,
      'invalidValue',
      `displayName must be text of 1 to ${labelLengthMax} characters.`,
    )
  }
  const known = new Set(users.map((user) => user.user_id))
  const memberIds = ((sent.members ?? []) as string[]).map((id) => {
    const number = personNumber(id)
    if (number !== null && known.has(number)) return number
    throw new ScimRefusal(
      400,
      'invalidValue',
      `members: there is no User ${id}. Add the person first. Nothing was changed.`,
    )
  })
  return { displayName, externalId: externalIdOf(sent), memberIds: [...new Set(memberIds)] }
}

function refuseTakenName(groups: readonly Group[], name: string, except?: string): void {
  const other = groups.find(
    (group) => group.displayName.toLowerCase() === name.toLowerCase() && group.id !== except,
  )
  if (other === undefined) return
  throw new ScimRefusal(409, 'uniqueness', `${name} is the displayName of the group ${other.id} already.`)
}

async function answered(
  transaction: TenantTransaction,
  call: ScimCall,
  id: string,
  parts: Parts,
): Promise<ScimObject> {
  const directory = await directoryOf(transaction, call.caller.tenant)
  const group = groupsOf(directory).find((one) => one.id === id)
  if (group === undefined) throw noSuch('Group', id)
  return groupResource(directory, group, parts)
}

async function recordTeam(
  transaction: TenantTransaction,
  call: ScimCall,
  teamId: number,
  before: Awaited<ReturnType<typeof teamInWords>>,
): Promise<void> {
  const after = await teamInWords(transaction, call.caller.tenant, teamId)
  if (after === null || JSON.stringify(after) === JSON.stringify(before)) return
  await recordEvent(transaction, call, 'team-changed', {
    about: { team: before?.name ?? after.name, before: before ?? { members: '', customers: '' }, after },
  })
}

/** Adds a team. */
export async function createGroup(call: ScimCall, sent: ScimObject, parts: Parts): Promise<ScimObject> {
  const { tenant } = call.caller
  return changing(call, parts, async (transaction) => {
    const directory = await directoryOf(transaction, tenant)
    const wanted = wantedGroup(directory, sent)
    refuseTakenName(groupsOf(directory), wanted.displayName)
    if (directory.teams.length >= teamsMax) {
      throw new ScimRefusal(
        409,
        null,
        `A brokerage has at most ${teamsMax} teams. Push fewer groups: only those that are teams here.`,
      )
    }
    const teamId = await teams.insertTeam(transaction, tenant, wanted.displayName, new Date(call.now))
    if (teamId === null)
      throw new ScimRefusal(409, 'uniqueness', `There is a team ${wanted.displayName} already.`)
    await teams.setTeamMembers(transaction, tenant, teamId, wanted.memberIds)
    await scim.setExternalId(transaction, tenant, `team-${teamId}`, wanted.externalId)
    await recordTeam(transaction, call, teamId, null)
    return answered(transaction, call, `team-${teamId}`, parts)
  })
}

/** Changes a group as a directory wants. `wantedOf` reads that from the group as it is. */
export async function changeGroup(
  call: ScimCall,
  id: string,
  wantedOf: (before: ScimObject) => Promise<ScimObject>,
  parts: Parts,
): Promise<ScimObject> {
  const { tenant } = call.caller
  return changing(call, parts, async (transaction, ended) => {
    const directory = await directoryOf(transaction, tenant)
    const groups = groupsOf(directory)
    const group = groups.find((one) => one.id === id)
    if (group === undefined) throw noSuch('Group', id)
    const wanted = wantedGroup(directory, await wantedOf(changeableGroup(directory, group)))
    const { role, teamId, memberIds } = group
    if (wanted.displayName !== group.displayName && role !== null) {
      throw new ScimRefusal(
        400,
        'mutability',
        `The group ${group.displayName} stands for a role, so its name stays.`,
      )
    }
    refuseTakenName(groups, wanted.displayName, id)
    if (wanted.externalId !== directory.names.get(id)) {
      await scim.setExternalId(transaction, tenant, id, wanted.externalId)
    }
    if (role !== null) {
      await scim.setRoleMembers(transaction, tenant, role, wanted.memberIds)
      const [then, now] = [new Set(memberIds), new Set(wanted.memberIds)]
      const moved = [...new Set([...memberIds, ...wanted.memberIds])].filter(
        (one) => then.has(one) !== now.has(one),
      )
      await setRoles(transaction, call, moved, ended)
    } else if (teamId !== null) {
      const before = await teamInWords(transaction, tenant, teamId)
      if (wanted.displayName !== group.displayName)
        await teams.renameTeam(transaction, tenant, teamId, wanted.displayName)
      await teams.setTeamMembers(transaction, tenant, teamId, wanted.memberIds)
      await recordTeam(transaction, call, teamId, before)
    }
    return answered(transaction, call, id, parts)
  })
}

/** Removes a team. One with customers stays: without it, everybody would see them. */
export async function removeGroup(call: ScimCall, id: string, parts: Parts): Promise<void> {
  const { tenant } = call.caller
  await changing(call, parts, async (transaction) => {
    const directory = await directoryOf(transaction, tenant)
    const group = groupsOf(directory).find((one) => one.id === id)
    if (group === undefined) throw noSuch('Group', id)
    const { teamId, displayName } = group
    if (teamId === null) {
      throw new ScimRefusal(400, 'mutability', `The group ${displayName} stands for a role, so it stays.`)
    }
    const team = directory.teams.find((one) => one.teamId === teamId)
    if (team !== undefined && team.customers.length > 0) {
      throw new ScimRefusal(
        409,
        null,
        `The team ${displayName} has ${team.customers.length} customer(s), which everybody would see without it. Remove them from the team first.`,
      )
    }
    await checkRulesOfTeam(transaction, tenant, { teamId, name: displayName })
    await teams.deleteTeam(transaction, tenant, teamId)
    await scim.setExternalId(transaction, tenant, id, undefined)
    await recordEvent(transaction, call, 'team-removed', { about: { team: displayName, customers: '' } })
  })
}

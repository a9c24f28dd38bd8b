import type { Role } from '#contract/endpoint.ts'

/** What each role may do, as people choose it, weakest first. */
export const roleMeanings: Readonly<Record<Role, string>> = {
  viewer: 'reads everything but the integration',
  member: 'quotes, marks outcomes, imports',
  admin: 'also people, credentials, rollbacks, settings',
  owner: 'also other owners',
}

const roleOrder: readonly Role[] = ['viewer', 'member', 'admin', 'owner']

/** The roles that may be given: only an owner makes an owner. */
export function roleChoices(mayMakeOwners: boolean) {
  return roleOrder
    .filter((role) => role !== 'owner' || mayMakeOwners)
    .map((role) => ({ value: role, label: `${role} – ${roleMeanings[role]}` }))
}

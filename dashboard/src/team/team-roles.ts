import { type Role, roles } from '#contract/roles.ts'

/** The rights of each role in words, weakest first. Each role can also do everything that the roles before it can. */
export const roleMeanings: Readonly<Record<Role, string>> = {
  viewer: 'can read everything except the integration and the audit log',
  member: 'can quote, mark outcomes and import',
  admin: 'can manage people, credentials and settings, and roll back changes',
  owner: 'can manage other owners',
}

/** The roles to choose from. Only an owner can assign the role owner. */
export function roleChoices(mayMakeOwners: boolean) {
  return roles
    .filter((role) => role !== 'owner' || mayMakeOwners)
    .map((role) => ({ value: role, label: `${role} – ${roleMeanings[role]}` }))
}

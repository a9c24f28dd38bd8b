export const roles = ['viewer', 'member', 'admin', 'owner'] as const
/** A person's role in a brokerage, weakest first: each role has the permissions of the roles before it. */
export type Role = (typeof roles)[number]

/** True when `role` has the permissions of `needed`. @example roleAtLeast('admin', 'member') // true */
export function roleAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

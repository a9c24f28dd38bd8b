/**
 * The group that contains the nth item (0 is the first), for ordered groups of `sizeOf(group)` items each. Undefined
 * if there are fewer items.
 *
 * @example groupOfNth(['a', 'b'], (group) => (group === 'a' ? 2 : 1), 2) // 'b'
 */
export function groupOfNth<Group>(
  groups: readonly Group[],
  sizeOf: (group: Group) => number,
  nth: number,
): Group | undefined {
  let before = 0
  for (const group of groups) {
    before += sizeOf(group)
    if (before > nth) return group
  }
  return undefined
}

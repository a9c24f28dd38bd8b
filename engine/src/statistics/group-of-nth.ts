/**
 * The group that holds the nth of all things (0 is the first), of groups in order that hold so many each; undefined
 * beyond the last.
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

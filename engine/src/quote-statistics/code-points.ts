/** Code units from here on can be half of a surrogate pair: their order is not that of code points. */
const SURROGATES = 0xd800

/**
 * The order of two texts by code points, as the database orders keys (`collate "C"`).
 *
 * @example compareCodePoints('a', 'b') // negative
 */
export function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const [left, right] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (left === right) continue
    const isSurrogate = (unit: number) => unit >= SURROGATES && unit < 0xe000
    if (left < SURROGATES || right < SURROGATES || isSurrogate(left) === isSurrogate(right))
      return left - right
    // A surrogate pair is a code point above all others.
    return isSurrogate(left) ? 1 : -1
  }
  return one.length - other.length
}

/**
 * The first `count` numbers of a list in an order, without sorting the whole list: for a page of quotes.
 *
 * @param compare negative if the first argument comes first; two numbers are never equal
 * @example firstInOrder(Int32Array.of(3, 1, 2), 2, (one, other) => one - other) // Int32Array [1, 2]
 */
export function firstInOrder(
  list: Int32Array<ArrayBuffer>,
  count: number,
  compare: (one: number, other: number) => number,
): Int32Array<ArrayBuffer> {
  const first = new Int32Array(Math.min(count, list.length))
  let size = 0
  for (const number of list) {
    if (size === first.length && (size === 0 || compare(number, first[size - 1]!) > 0)) continue
    let [low, high] = [0, size]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(number, first[middle]!) < 0) high = middle
      else low = middle + 1
    }
    first.copyWithin(low + 1, low, Math.min(size, first.length - 1))
    first[low] = number
    if (size < first.length) size++
  }
  return first
}

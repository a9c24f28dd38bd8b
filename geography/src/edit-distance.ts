/**
 * The edit distance of two words: insertions, deletions, substitutions, and swaps of adjacent letters (optimal string
 * alignment). Stops above `most` and returns `most + 1`.
 *
 * @example editDistance('dalas', 'dallas', 2) // 1
 * @example editDistance('dlalas', 'dallas', 2) // 1, a swap of adjacent letters
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  return lastRow(a, b, most)?.[b.length] ?? most + 1
}

/**
 * The smallest edit distance between a partially typed word and any prefix of `name`.
 *
 * @example prefixEditDistance('pheonx', 'phoenix', 2) // 2
 * @example prefixEditDistance('dalla', 'dallas', 2) // 0
 */
export function prefixEditDistance(typed: string, name: string, most: number): number {
  const row = lastRow(typed, name.slice(0, typed.length + most), most)
  return row ? Math.min(most + 1, ...row) : most + 1
}

/** The rows of the alignment table, reused because a search compares thousands of names. */
let rows: [Int32Array, Int32Array, Int32Array] = [new Int32Array(0), new Int32Array(0), new Int32Array(0)]

/**
 * The last row of the alignment table: the distance from `a` to each prefix of `b`. Null if all exceed `most`. Cells
 * further than `most` from the diagonal always exceed `most`: they are not computed, and have the value `most + 1`.
 */
function lastRow(a: string, b: string, most: number): Int32Array | null {
  const width = b.length + 1
  if (rows[0].length < width) rows = [new Int32Array(width), new Int32Array(width), new Int32Array(width)]
  let [beforeLast, last, current] = rows
  for (let column = 0; column < width; column++) last[column] = column
  for (let row = 1; row <= a.length; row++) {
    current.fill(most + 1, 0, width)
    current[0] = row
    let least = row
    for (let column = Math.max(1, row - most); column <= Math.min(b.length, row + most); column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (last[column] ?? most) + 1,
        (current[column - 1] ?? most) + 1,
        (last[column - 1] ?? most) + (same ? 0 : 1),
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? most) + 1)
      current[column] = cost
      if (cost < least) least = cost
    }
    if (least > most) return null
    ;[beforeLast, last, current] = [last, current, beforeLast]
  }
  return last.subarray(0, width)
}

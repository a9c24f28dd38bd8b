/**
 * How many typing errors lie between two words: letters missed, added, mistaken, or two neighbours swapped (optimal
 * string alignment). Gives up above `most` and answers `most + 1`.
 *
 * @example editDistance('dalas', 'dallas', 2) // 1
 * @example editDistance('dlalas', 'dallas', 2) // 1, two neighbours swapped
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  return lastRow(a, b, most)?.[b.length] ?? most + 1
}

/**
 * The fewest typing errors between a word being typed and any beginning of another.
 *
 * @example prefixEditDistance('pheonx', 'phoenix', 2) // 2
 * @example prefixEditDistance('dalla', 'dallas', 2) // 0
 */
export function prefixEditDistance(typed: string, name: string, most: number): number {
  const row = lastRow(typed, name.slice(0, typed.length + most), most)
  return row ? Math.min(most + 1, ...row) : most + 1
}

/** The last row of the alignment table: the distance from `a` to each beginning of `b`. Null when all exceed `most`. */
function lastRow(a: string, b: string, most: number): number[] | null {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    // Further than `most` from the diagonal every distance exceeds it, so those cells are not computed.
    const from = Math.max(1, row - most)
    const current: number[] = Array.from({ length: from }, (_, column) => (column === 0 ? row : most + 1))
    let least = row
    for (let column = from; column <= Math.min(b.length, row + most); column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        (last[column] ?? most) + 1,
        (current[column - 1] ?? most) + 1,
        (last[column - 1] ?? most) + (same ? 0 : 1),
      )
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? most) + 1)
      current.push(cost)
      if (cost < least) least = cost
    }
    if (least > most) return null
    beforeLast = last
    last = current
  }
  return last
}

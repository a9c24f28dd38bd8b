/**
 * Long work in short steps: whoever runs it may let others have their turn between any two of them. Nothing of it may change
 * meanwhile, so what it gives is the same however it is run. A step takes about a millisecond at most.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** How many quotes a step takes where each costs a microsecond or less. */
export const QUOTES_PER_STEP = 1_000

/**
 * Runs work to its end without a pause.
 *
 * @example finished(mapInSteps([1, 2], (n) => 2 * n)) // [2, 4]
 */
export function finished<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** As Array.map, in steps. */
export function* mapInSteps<From, To>(
  list: readonly From[],
  change: (one: From, index: number) => To,
): Steps<To[]> {
  const changed: To[] = []
  for (const [index, one] of list.entries()) {
    changed.push(change(one, index))
    if (changed.length % QUOTES_PER_STEP === 0) yield
  }
  return changed
}

/** Entries that are merged in one step of a sort. */
const MERGED_PER_STEP = 20_000

/**
 * Sorts in steps, stably: a merge sort that passes over stretches that are in order already. Answers the sorted entries;
 * the list that was handed in holds any of them afterwards.
 *
 * @example finished(sortInSteps(Int32Array.of(3, 1, 2), (one, other) => one - other)) // Int32Array [1, 2, 3]
 */
export function* sortInSteps(
  list: Int32Array<ArrayBuffer>,
  compare: (one: number, other: number) => number,
): Steps<Int32Array<ArrayBuffer>> {
  let from = list
  let to = new Int32Array(list.length)
  let work = 0
  for (let width = 1; width < list.length; width *= 2) {
    for (let start = 0; start < list.length; start += 2 * width) {
      const middle = Math.min(start + width, list.length)
      const end = Math.min(start + 2 * width, list.length)
      if (middle >= end || compare(from[middle - 1] as number, from[middle] as number) <= 0) {
        for (let at = start; at < end; at++) to[at] = from[at] as number
        work += (end - start) / 4
      } else {
        let left = start
        let right = middle
        for (let at = start; at < end; at++) {
          const takeLeft =
            right >= end || (left < middle && compare(from[left] as number, from[right] as number) <= 0)
          to[at] = from[takeLeft ? left++ : right++] as number
          if (++work >= MERGED_PER_STEP) {
            work = 0
            yield
          }
        }
      }
      if (work >= MERGED_PER_STEP) {
        work = 0
        yield
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}

/** Entries that are compared in one step of a search for the middle. */
const COMPARED_PER_STEP = 50_000

/**
 * The median as `median` gives it, in steps, by quickselect: for a million values, which a sort would take too long for.
 * The order of the values changes.
 *
 * @example finished(medianInSteps(Float64Array.of(2200, 1800))) // 2000
 */
export function* medianInSteps(values: Float64Array): Steps<number | null> {
  if (values.length === 0) return null
  const upper = yield* nthInSteps(values, Math.floor(values.length / 2))
  if (values.length % 2 === 1) return upper
  // Everything before the upper middle is at most as large: the lower middle is the largest of it.
  let lower = Number.NEGATIVE_INFINITY
  for (let at = 0; at < values.length / 2; at++) lower = Math.max(lower, values[at] as number)
  return (lower + upper) / 2
}

function* nthInSteps(values: Float64Array, nth: number): Steps<number> {
  let low = 0
  let high = values.length - 1
  let work = 0
  while (low < high) {
    const pivot = values[(low + high) >>> 1] as number
    let left = low
    let right = high
    while (left <= right) {
      while ((values[left] as number) < pivot) left++
      while ((values[right] as number) > pivot) right--
      if (left > right) break
      const one = values[left] as number
      values[left++] = values[right] as number
      values[right--] = one
      if (++work >= COMPARED_PER_STEP) {
        work = 0
        yield
      }
    }
    if (nth <= right) high = right
    else if (nth >= left) low = left
    else break
  }
  return values[nth] as number
}

/**
 * A long computation split into short steps, so that the caller can yield to the event loop between steps. The inputs
 * must not change while it runs; then the result does not depend on the pauses. A step takes about one millisecond at
 * most.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Quotes per step, for work that takes at most one microsecond per quote. */
export const QUOTES_PER_STEP = 1_000

/**
 * Runs all steps without a pause and returns the result.
 *
 * @example finished(mapInSteps([1, 2], (n) => 2 * n)) // [2, 4]
 */
export function finished<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Like `Array.map`, in steps. */
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

const MERGED_PER_STEP = 20_000

/**
 * Sorts in steps with a stable merge sort that skips runs that are already in order. Returns the sorted entries. The
 * order of `list` afterwards is undefined.
 *
 * @example finished(sortInSteps(Int32Array.of(3, 1, 2), (one, other) => one - other)) // Int32Array [1, 2, 3]
 */
export function* sortInSteps(
  list: Int32Array<ArrayBuffer>,
  compare: (one: number, other: number) => number,
): Steps<Int32Array<ArrayBuffer>> {
  if (yield* isSorted(list, compare)) return list
  let from = list
  let to = new Int32Array(list.length)
  let work = 0
  for (let width = 1; width < list.length; width *= 2) {
    for (let start = 0; start < list.length; start += 2 * width) {
      const middle = Math.min(start + width, list.length)
      const end = Math.min(start + 2 * width, list.length)
      if (middle >= end || compare(from[middle - 1]!, from[middle]!) <= 0) {
        for (let at = start; at < end; at++) to[at] = from[at]!
        work += (end - start) / 4
      } else {
        let left = start
        let right = middle
        for (let at = start; at < end; at++) {
          const takeLeft = right >= end || (left < middle && compare(from[left]!, from[right]!) <= 0)
          to[at] = from[takeLeft ? left++ : right++]!
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

/** Whether a list is in order already. Quotes mostly are, and one pass over them is quicker than merging them. */
function* isSorted(list: Int32Array, compare: (one: number, other: number) => number): Steps<boolean> {
  for (let at = 1; at < list.length; at++) {
    if (at % MERGED_PER_STEP === 0) yield
    if (compare(list[at - 1]!, list[at]!) > 0) return false
  }
  return true
}

/** Entries swapped per step of a median search, and several times as many compared. */
const SWAPPED_PER_STEP = 10_000

/**
 * Like `median`, in steps, by quickselect (Hoare, 1961). For a million values, quickselect is much faster than a sort. Reorders
 * `values`.
 *
 * @example finished(medianInSteps(Float64Array.of(2200, 1800))) // 2000
 */
export function* medianInSteps(values: Float64Array): Steps<number | null> {
  if (values.length === 0) return null
  const upper = yield* nthInSteps(values, Math.floor(values.length / 2))
  if (values.length % 2 === 1) return upper
  // All values before the upper median are at most as large, so the lower median is their maximum.
  let lower = Number.NEGATIVE_INFINITY
  for (let at = 0; at < values.length / 2; at++) lower = Math.max(lower, values[at]!)
  return (lower + upper) / 2
}

/** The value at a position of the sorted values, by quickselect. Reorders `values`. @example finished(nthInSteps(Float64Array.of(3, 1), 0)) // 1 */
export function* nthInSteps(values: Float64Array, nth: number): Steps<number> {
  let low = 0
  let high = values.length - 1
  let work = 0
  while (low < high) {
    const pivot = values[(low + high) >>> 1]!
    let left = low
    let right = high
    while (left <= right) {
      while (values[left]! < pivot) left++
      while (values[right]! > pivot) right--
      if (left > right) break
      const one = values[left]!
      values[left++] = values[right]!
      values[right--] = one
      if (++work >= SWAPPED_PER_STEP) {
        work = 0
        yield
      }
    }
    if (nth <= right) high = right
    else if (nth >= left) low = left
    else break
  }
  return values[nth]!
}

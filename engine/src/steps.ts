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

/** As Array.filter, in steps. */
export function* filterInSteps<One>(
  list: readonly One[],
  keep: (one: One, index: number) => boolean,
): Steps<One[]> {
  const kept: One[] = []
  for (const [index, one] of list.entries()) {
    if (keep(one, index)) kept.push(one)
    if ((index + 1) % QUOTES_PER_STEP === 0) yield
  }
  return kept
}

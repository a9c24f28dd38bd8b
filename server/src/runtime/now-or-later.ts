/** A value that is known at once, or a promise of it. Waiting for a known value would take longer than most checks of a request. */
export type NowOrLater<T> = T | Promise<T>

/**
 * Continues with a value: at once if it is known, and otherwise when its promise is fulfilled.
 *
 * @example andThen(1, (one) => one + 1) // 2
 * @example andThen(Promise.resolve(1), (one) => one + 1) // a promise of 2
 */
export function andThen<T, Result>(
  value: NowOrLater<T>,
  next: (value: T) => NowOrLater<Result>,
): NowOrLater<Result> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** The result in place of a value that did not arrive in time. */
export const late = Symbol('late')

/**
 * A promise's value, or `late` after `ms` milliseconds; with Infinity, the value whenever it arrives. The work behind the
 * promise continues.
 *
 * When the time is up, this process first reads what has arrived: if it was busy or stopped meanwhile, the value may have
 * been in time, and only this process late.
 *
 * @throws what the promise rejects with, if it does so in time
 * @example await orLate(fetch(url), 500) // a Response, or `late`
 */
export async function orLate<T>(going: Promise<T>, ms: number): Promise<T | typeof late> {
  if (!Number.isFinite(ms)) return going
  const { promise, resolve } = Promise.withResolvers<typeof late>()
  // Node runs timers, reads from sockets, and then runs immediates.
  const timer = setTimeout(() => setImmediate(resolve, late), ms)
  try {
    return await Promise.race([going, promise])
  } finally {
    clearTimeout(timer)
    // After the time is up, nobody waits for a rejection.
    going.catch(() => {})
  }
}

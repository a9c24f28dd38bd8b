import { setImmediate as nextEvent } from 'node:timers/promises'
import type { Steps } from '#engine/steps.ts'

/** How long work runs before it yields, in milliseconds. Other events wait this long plus the current step. */
const sliceMs = 3

/**
 * Runs long work of the engine to its end, and yields to the event loop every few milliseconds so that other requests
 * are served. The result is the same as without yielding.
 *
 * @throws what the work throws
 */
export async function yieldBetweenSteps<Result>(
  work: Steps<Result>,
  monotonic: () => number = () => performance.now(),
): Promise<Result> {
  let sliceStart = monotonic()
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (monotonic() - sliceStart < sliceMs) continue
    await nextEvent()
    sliceStart = monotonic()
  }
}

import { setImmediate as othersTurn } from 'node:timers/promises'
import type { Steps } from '#engine/steps.ts'

/** How long work goes on before others have their turn. They wait this long for it, and for the step that it is in. */
const turnMs = 3

/**
 * Does long work of the engine between the answers to others: after each few milliseconds everything that waits in this
 * process is served first. It takes longer than in one go where there is something to serve, and gives the same.
 *
 * @throws what the work throws
 */
export async function yieldBetweenSteps<Result>(
  work: Steps<Result>,
  monotonic: () => number = () => performance.now(),
): Promise<Result> {
  let began = monotonic()
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (monotonic() - began < turnMs) continue
    await othersTurn()
    began = monotonic()
  }
}

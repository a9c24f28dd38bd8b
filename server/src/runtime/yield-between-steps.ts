import { AsyncLocalStorage } from 'node:async_hooks'
import type { Steps } from '#engine/steps.ts'

/**
 * How long all work together runs in one turn of the event loop, in milliseconds. Other events wait this long plus the
 * current step.
 */
const sliceMs = 3

/** The owner of the current work, such as a brokerage. */
const current = new AsyncLocalStorage<unknown>()

/** Runs a request for an owner. Its long work takes turns with other owners' work (see `yieldBetweenSteps`). */
export function onBehalfOf<T>(owner: unknown, work: () => T): T {
  return current.run(owner, work)
}

/** When the first work of this turn of the event loop began; null if none ran yet. */
let turnBegan: number | null = null

type Start = () => void
/** Owners with unfinished work, and their further work, which starts when the earlier work is done. */
const queues = new Map<unknown, Start[]>()
/** The functions that wait for a turn: the next slice of each owner, and starts, which take turns with slices. */
const ready: Start[] = []

/** Calls `start` in its own turn of the event loop. Each turn runs one start or one slice of long work, in order of arrival. */
export function takeTurn(start: Start): void {
  ready.push(start)
  if (ready.length === 1) setImmediate(runSlice)
}

function runSlice(): void {
  turnBegan = null
  // It stays in the list while it runs, because adding to an empty list starts another chain of turns.
  ready[0]?.()
  ready.shift()
  if (ready.length > 0) setImmediate(runSlice)
}

/**
 * Whether the work of this turn has run as long as it may. Counted for the turn and not for each work: a request with a
 * hundred short works, one after the other, would run to its end in one turn.
 */
function isTurnSpent(monotonic: () => number): boolean {
  const now = monotonic()
  if (turnBegan === null) {
    turnBegan = now
    setImmediate(() => {
      turnBegan = null
    })
  }
  return now - turnBegan >= sliceMs
}

/**
 * Runs long work of the engine to its end, and yields to the event loop every few milliseconds so that other requests are
 * served. The result is the same as without yielding.
 *
 * In each turn of the event loop, one slice of one work runs, and the owners take turns: a brokerage with a hundred slow
 * requests delays the work of another one by a slice at a time, not by a hundred. An owner's own works run one after the
 * other, because a hundred half-finished ones would need the memory of all of them.
 *
 * @param owner whose work it is; if absent, that of `onBehalfOf`. Work without an owner takes turns on its own
 * @throws what the work throws
 */
export async function yieldBetweenSteps<Result>(
  work: Steps<Result>,
  owner: unknown = current.getStore() ?? work,
  monotonic: () => number = () => performance.now(),
): Promise<Result> {
  const earlier = queues.get(owner)
  if (earlier === undefined) queues.set(owner, [])
  else await new Promise<void>((start) => earlier.push(start))
  try {
    for (;;) {
      if (isTurnSpent(monotonic)) {
        await new Promise<void>(takeTurn)
        // The time of the new turn begins before the step.
        isTurnSpent(monotonic)
      }
      const step = work.next()
      if (step.done === true) return step.value
    }
  } finally {
    const next = queues.get(owner)?.shift()
    if (next === undefined) queues.delete(owner)
    else takeTurn(next)
  }
}

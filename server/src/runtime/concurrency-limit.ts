/** A turn did not come within the time that was allowed for waiting. */
export class TurnTooLate extends Error {
  constructor() {
    super('The turn did not come in time.')
    this.name = 'TurnTooLate'
  }
}

/** Too many wait already. */
export class TurnsTaken extends Error {
  constructor() {
    super('Too many wait for their turn.')
    this.name = 'TurnsTaken'
  }
}

/** Waits for a turn; how it waits may be watched, and bounded by the milliseconds given to `turn`. */
export type WaitForTurn = (turn: (patienceMs: number) => Promise<void>) => Promise<void>

/**
 * Lets at most `atOnceMax` pieces of work of one key run at once; the others wait in the order they came, by `waiting` if
 * it is given: it may bound the wait. Where `waitingMax` wait already, one more is refused with TurnsTaken.
 *
 * @example const inTurn = turns<string>(2); await inTurn('hash', () => hashPassword(text))
 */
export function turns<Key>(
  atOnceMax: number,
  waiting: WaitForTurn = (turn) => turn(Number.POSITIVE_INFINITY),
  waitingMax = Number.POSITIVE_INFINITY,
): <T>(key: Key, work: () => Promise<T>) => Promise<T> {
  const keys = new Map<Key, { running: number; readonly waiting: (() => void)[] }>()
  return async (key, work) => {
    const turn = keys.get(key) ?? { running: 0, waiting: [] }
    keys.set(key, turn)
    if (turn.running >= atOnceMax && turn.waiting.length >= waitingMax) throw new TurnsTaken()
    if (turn.running >= atOnceMax) await waiting((patienceMs) => inLine(turn.waiting, patienceMs))
    else turn.running++
    try {
      return await work()
    } finally {
      // The place goes to the next in line, or is given back.
      const next = turn.waiting.shift()
      if (next !== undefined) next()
      else if (--turn.running === 0) keys.delete(key)
    }
  }
}

/** Stands in line until somebody's work is done, or until patience is over. */
function inLine(line: (() => void)[], patienceMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  if (!Number.isFinite(patienceMs)) {
    line.push(resolve)
    return promise
  }
  const timer = setTimeout(() => {
    line.splice(line.indexOf(called), 1)
    reject(new TurnTooLate())
  }, patienceMs)
  const called = () => {
    clearTimeout(timer)
    resolve()
  }
  line.push(called)
  return promise
}

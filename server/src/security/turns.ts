/**
 * Lets at most `atOnceMax` pieces of work of one key run at once; the others wait in the order they came.
 *
 * @example const inTurn = turns<string>(2); await inTurn('hash', () => hashPassword(text))
 */
export function turns<Key>(atOnceMax: number): <T>(key: Key, work: () => Promise<T>) => Promise<T> {
  const keys = new Map<Key, { running: number; readonly waiting: (() => void)[] }>()
  return async (key, work) => {
    const turn = keys.get(key) ?? { running: 0, waiting: [] }
    keys.set(key, turn)
    if (turn.running >= atOnceMax) await new Promise<void>((resume) => turn.waiting.push(resume))
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

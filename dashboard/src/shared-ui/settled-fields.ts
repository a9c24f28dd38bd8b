import { useLayoutEffect, useRef } from 'react'

/** Fields whose text is about to be replaced by a suggestion that is still on its way. */
const waiting = new Set<string>()
let actions: (() => void)[] = []

/** Holds back whatever sends the fields of this page until `fieldSettled` is called with the same id. */
export function fieldWaits(id: string): void {
  waiting.add(id)
}

export function fieldSettled(id: string): void {
  if (!waiting.delete(id) || waiting.size > 0) return
  const due = actions
  actions = []
  for (const action of due) action()
}

/**
 * The action, delayed until no field waits for a suggestion: a quote saved right after Tab must have the city, not the
 * letters that were typed. It then runs with the values of the latest render, and not at all once its page is gone.
 *
 * @example const save = useOnceSettled(() => saving.save(draft))
 */
export function useOnceSettled(action: () => void): () => void {
  const latest = useRef<(() => void) | null>(null)
  useLayoutEffect(() => {
    latest.current = action
    return () => {
      latest.current = null
    }
  })
  return () => {
    if (waiting.size === 0) latest.current?.()
    else actions.push(() => latest.current?.())
  }
}

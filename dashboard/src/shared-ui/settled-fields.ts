import { useLayoutEffect, useRef } from 'react'

/** Fields that wait for a suggestion to replace their text. */
const waiting = new Set<string>()
let actions: (() => void)[] = []

/** Delays all actions of `useOnceSettled` until `fieldSettled` is called with the same id. */
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
 * Delays an action until no field waits for a suggestion. A quote that is saved right after Tab must contain the suggested
 * city, not the typed letters. The action runs with the values of the latest render, or not at all after an unmount.
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

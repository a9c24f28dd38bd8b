import { type RefObject, useEffect, useRef } from 'react'
import type { RowAction } from './quotes-columns.tsx'
import { focusLink } from './quotes-table.tsx'

const actionKeys: Readonly<Record<string, RowAction>> = { w: 'won', l: 'lost', u: 'pending', r: 'requote' }

const typingTargets = 'input, textarea, select, [contenteditable="true"], [role="dialog"], [role="menu"]'

function moveTo(rows: HTMLCollection, at: number): void {
  focusLink(rows[Math.max(0, Math.min(rows.length - 1, at))])
}

/** The index of the row that a key moves to; null for other keys. */
function placeAfter(key: string, at: number, rows: number, letters: boolean): number | null {
  if (key === 'ArrowDown' || (letters && key === 'j')) return at + 1
  if (key === 'ArrowUp' || (letters && key === 'k')) return at - 1
  if (key === 'Home') return 0
  return key === 'End' ? rows - 1 : null
}

/**
 * The keyboard shortcuts of the list. Arrow keys move between rows while a row has the focus. J and K also move the focus
 * to the list. Letters act on the focused row. Shortcuts are off while the user types or a dialog is open.
 */
export function useQuotesKeys({
  body,
  letters,
  onAction,
  onHelp,
}: {
  body: RefObject<HTMLTableSectionElement | null>
  letters: boolean
  onAction: (action: RowAction, row: number) => void
  onHelp: () => void
}): void {
  const latest = useRef({ letters, onAction, onHelp })
  useEffect(() => {
    latest.current = { letters, onAction, onHelp }
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const { target } = event
      if (!(target instanceof Element) || target.closest(typingTargets) !== null) return
      const { letters: lettersOn, onAction: act, onHelp: help } = latest.current
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
      if (lettersOn && key === '?') {
        event.preventDefault()
        help()
        return
      }
      const rows = body.current?.children
      if (rows === undefined || rows.length === 0) return
      const row = target.closest('tr')
      const at = row === null ? -1 : [...rows].indexOf(row)
      if (at === -1) {
        if (!lettersOn || (key !== 'j' && key !== 'k')) return
        event.preventDefault()
        focusLink(body.current?.querySelector('[data-chosen]') ?? rows[0])
        return
      }
      const place = placeAfter(key, at, rows.length, lettersOn)
      if (place !== null) {
        event.preventDefault()
        moveTo(rows, place)
        return
      }
      const action = actionKeys[key]
      if (!lettersOn || action === undefined || event.repeat) return
      event.preventDefault()
      act(action, at)
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [body])
}

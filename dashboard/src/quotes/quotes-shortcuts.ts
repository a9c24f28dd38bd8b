import type { RefObject } from 'react'
import { type Decision, focusLink, type Shortcut, useShortcuts } from '../shared-ui/index.ts'
import type { RowAction } from './quotes-columns.tsx'
import type { QuotesSelection } from './quotes-selection.ts'

/**
 * The keyboard shortcuts of the list. Arrow keys move between rows while a row has the focus. J and K also move the focus
 * to the list. W, L and U act on the selected quotes, or else on the quote with the focus.
 */
export function useQuotesShortcuts({
  body,
  mayMark,
  selection,
  onAction,
  onMarkSelected,
}: {
  body: RefObject<HTMLTableSectionElement | null>
  mayMark: boolean
  selection: QuotesSelection
  onAction: (action: RowAction, row: number) => void
  onMarkSelected: (outcome: Decision) => void
}): void {
  const rows = () => [...(body.current?.children ?? [])]
  /** Runs with the index of the row that has the focus; does not apply without one. */
  const onRow = (act: (at: number) => void) => (_: unknown, target: Element) => {
    const row = target.closest('tr')
    const at = row === null ? -1 : rows().indexOf(row)
    return at === -1 ? false : act(at)
  }
  const nearest = (at: number) => Math.max(0, Math.min(rows().length - 1, at))
  const moves = (by: number) => onRow((at) => focusLink(rows()[nearest(at + by)]))
  const enters = (by: number) => (event: KeyboardEvent, target: Element) => {
    if (moves(by)(event, target) === false) {
      focusLink(body.current?.querySelector('[data-chosen]') ?? rows()[0])
    }
  }
  const selects = (by: 1 | -1) =>
    onRow((at) => {
      const next = nearest(at + by)
      selection.add([at, next])
      focusLink(rows()[next])
    })
  const acts = (action: RowAction) => onRow((at) => onAction(action, at))
  const marks = (outcome: Decision) => (event: KeyboardEvent, target: Element) =>
    selection.lanes.length > 0 ? onMarkSelected(outcome) : acts(outcome)(event, target)
  const moving: readonly Shortcut[] = [
    { keys: ['↓'], does: 'Next quote', on: ['ArrowDown'], run: moves(1) },
    { keys: ['↑'], does: 'Previous quote', on: ['ArrowUp'], run: moves(-1) },
    { keys: ['J'], does: 'Next quote, or go to the list', on: ['j'], run: enters(1) },
    { keys: ['K'], does: 'Previous quote, or go to the list', on: ['k'], run: enters(-1) },
    {
      keys: ['Home', 'End'],
      does: 'First or last quote',
      on: ['Home', 'End'],
      run: (event, target) => moves(event.key === 'Home' ? -rows().length : rows().length)(event, target),
    },
    { keys: ['Enter'], does: 'Open the quote' },
  ]
  const marking: readonly Shortcut[] = [
    { keys: ['W'], does: 'Mark won', on: ['w'], run: marks('won') },
    { keys: ['L'], does: 'Mark lost, with a reason', on: ['l'], run: marks('lost') },
    { keys: ['U'], does: 'Set pending again', on: ['u'], run: marks('pending') },
    { keys: ['R'], does: 'Requote, or answer a counter-offer', on: ['r'], run: acts('requote') },
    { keys: ['X'], does: 'Select the quote', on: ['x'], run: onRow(selection.toggle) },
    {
      keys: ['Shift', '↓'],
      does: 'Select this quote and the next',
      on: ['Shift+ArrowDown'],
      run: selects(1),
    },
    {
      keys: ['Shift', '↑'],
      does: 'Select this quote and the one before',
      on: ['Shift+ArrowUp'],
      run: selects(-1),
    },
    { keys: ['A'], does: 'Select all quotes on this page', on: ['a'], run: selection.addAll },
    {
      keys: ['Esc'],
      does: 'Clear the selection',
      on: ['Escape'],
      run: () => (selection.lanes.length === 0 ? false : selection.clear()),
    },
  ]
  useShortcuts('List of quotes', mayMark ? [...moving, ...marking] : moving)
}

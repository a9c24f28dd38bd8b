import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import {
  commonEquipment,
  equipmentName,
  type Option,
  TypeAhead,
  useAsking,
  usePlaceSuggestions,
} from '../shared-ui/index.ts'
import type { PastedError, PastedField } from './desk-paste.ts'

/** What a person can do about a wrong cell. */
export type Correction =
  | { readonly text: string; readonly isForAll: boolean }
  /** The place or equipment is right, although it is not known. */
  | 'confirm'
  | 'leave out the row'

interface Choice {
  readonly label: string
  readonly correction: Correction
}

const mustBeGiven: readonly PastedField[] = ['origin', 'destination']
const suggestionsMax = 5

/** The choices for a wrong cell. Every error has one. @param count the wrong cells with the same text */
export function choicesFor(
  cell: string,
  {
    error,
    field,
    count,
  }: { readonly error: PastedError; readonly field: PastedField; readonly count: number },
): Choice[] {
  const suggested = error.suggestions
    .slice(0, suggestionsMax)
    .flatMap((text): Choice[] => [
      ...(count > 1
        ? [{ label: `${text} in all ${count} cells`, correction: { text, isForAll: true } }]
        : []),
      { label: text, correction: { text, isForAll: false } },
    ])
  return [
    ...suggested,
    ...(error.is_unknown ? [{ label: `Keep “${cell}”`, correction: 'confirm' as const }] : []),
    ...(mustBeGiven.includes(field) || cell === ''
      ? []
      : [{ label: 'Leave empty', correction: { text: '', isForAll: false } }]),
    { label: 'Leave the row out', correction: 'leave out the row' },
  ]
}

interface CellEditorProps {
  readonly label: string
  readonly cell: string
  readonly field: PastedField
  readonly choices: readonly Choice[]
  /** The reason why the cell is wrong; null if it is not. */
  readonly wrong: string | null
  readonly onCorrect: (correction: Correction) => void
  /** Enter was pressed, and the text is final. */
  readonly onEnter: () => void
  /** An arrow key leads to a cell beside this one. */
  readonly onMove: (rows: number, columns: number) => void
  readonly onLeave: () => void
}

/**
 * The field of the cell that has the focus. Until its text is changed, Enter and Tab leave it as it is: the choices for a wrong cell are
 * accepted by arrow key and Enter. A place that is typed is completed as on the desk.
 */
export function CellEditor(props: CellEditorProps) {
  const { label, cell, field, choices, wrong, onCorrect, onEnter, onLeave } = props
  const [typed, setTyped] = useState(cell)
  const frame = useRef<HTMLDivElement>(null)
  const isEntering = useRef(false)
  // A text is final once: the field reports it again when it loses the focus.
  const isDone = useRef(false)
  const asking = useAsking(typed)
  const isChanged = typed !== cell
  const isPlace = field === 'origin' || field === 'destination'
  const places = usePlaceSuggestions(asking.asked, isPlace && isChanged)
  useLayoutEffect(() => {
    const input = frame.current?.querySelector('input')
    input?.focus()
    input?.select()
  }, [])
  const done = (text: string) => {
    const isEntered = isEntering.current
    isEntering.current = false
    if (isDone.current) return
    isDone.current = true
    const choice = choices.find((one) => one.label === text)
    const report = () => {
      if (choice !== undefined) onCorrect(choice.correction)
      else if (text.trim() !== cell) onCorrect({ text: text.trim(), isForAll: false })
      if (isEntered) onEnter()
    }
    // A field that goes while it loses the focus would take it from the next one.
    if (frame.current?.contains(document.activeElement) === true) report()
    else setTimeout(report, 0)
  }
  const options = isChanged ? typedOptions(field, typed) : choices.map(({ label: value }) => ({ value }))
  const hasList = isPlace || field === 'equipment' || options.length > 0
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys and the focus of the field inside
    <div
      ref={frame}
      onKeyDownCapture={(event) => {
        isEntering.current = event.key === 'Enter'
        if (!event.nativeEvent.isComposing) moveBy(event, hasList, props)
      }}
      onBlur={({ relatedTarget, currentTarget }) => {
        // Another window has the focus: the field gets it back.
        if (relatedTarget === null && !document.hasFocus()) return
        if (currentTarget.contains(relatedTarget)) return
        // Suggestions that have not arrived are not waited for.
        if (isChanged) done(typed)
        setTimeout(onLeave, 0)
      }}
    >
      <TypeAhead
        size="xs"
        aria-label={label}
        aria-invalid={wrong !== null}
        title={wrong ?? undefined}
        openOnFocus={wrong !== null}
        value={typed}
        onChange={(text) => {
          isDone.current = false
          setTyped(choices.some((one) => one.label === text) ? cell : text)
        }}
        onDone={done}
        asking={isPlace && isChanged ? asking : { ...asking, asked: typed.trim() }}
        isComplete={(text) => !isPlace || text === cell}
        suggestions={
          isPlace && isChanged
            ? places
            : { state: 'current', options, taken: null, failures: 0, retry: () => {} }
        }
      />
    </div>
  )
}

function typedOptions(field: PastedField, typed: string): Option[] {
  if (field !== 'equipment') return []
  const fitting = commonEquipment.filter((code) =>
    `${code} ${equipmentName(code)}`.toLowerCase().includes(typed.trim().toLowerCase()),
  )
  return fitting.map((code) => ({ value: code, label: equipmentName(code) }))
}

/** Arrow keys lead to the next cell where they would do nothing in the field. */
function moveBy(event: KeyboardEvent<HTMLElement>, hasList: boolean, { onMove }: CellEditorProps): void {
  const { key, target } = event
  if (!(target instanceof HTMLInputElement)) return
  const { selectionStart: from, selectionEnd: to, value } = target
  const isWhole = from === 0 && to === value.length
  if (key === 'ArrowLeft' && from === 0 && (to === 0 || isWhole)) onMove(0, -1)
  else if (key === 'ArrowRight' && to === value.length && (from === to || isWhole)) onMove(0, 1)
  else if (key === 'ArrowUp' && !hasList) onMove(-1, 0)
  else if (key === 'ArrowDown' && !hasList) onMove(1, 0)
  else return
  event.preventDefault()
  event.stopPropagation()
}

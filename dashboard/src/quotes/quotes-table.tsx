import { VisuallyHidden } from '@mantine/core'
import {
  type CSSProperties,
  memo,
  type RefObject,
  type MouseEvent as RowClick,
  useEffect,
  useRef,
} from 'react'
import type { Quote } from '#contract/quote.ts'
import { type QuotesColumn, type RowParts, sortedAs } from './quotes-columns.tsx'
import type { QuotesSelection } from './quotes-selection.ts'
import './quotes.css'

/**
 * The table of quotes. One row is current: arrow keys move between rows, and Tab stops only at the controls of the current
 * row, so that the list is a single Tab stop of the page.
 *
 * Not a DataTable: its 200 rows are memoized, its cells depend on the current row, and some of its sorts start ascending.
 */
export function QuotesTable({
  rows,
  columns,
  isChosen,
  selection,
  current,
  isBusy,
  mayMark,
  sort,
  onSort,
  onCurrent,
  act,
  onSelect,
  body,
}: {
  rows: readonly Quote[]
  columns: readonly QuotesColumn[]
  /** True if the person chose the columns: all of them are shown at every width. */
  isChosen: boolean
  selection: QuotesSelection
  current: string | null
  isBusy: boolean
  mayMark: boolean
  sort: string
  onSort: (sort: string) => void
  onCurrent: (laneRef: string) => void
  act: RowParts['act']
  onSelect: (laneRef: string, isSelected: boolean, withShift: boolean) => void
  body: RefObject<HTMLTableSectionElement | null>
}) {
  return (
    <section
      className="table-frame quotes-table"
      aria-label="Quotes"
      aria-busy={isBusy}
      data-chosen-columns={isChosen ? true : undefined}
    >
      <table style={isChosen ? { minWidth: `${widthOf(columns)}rem` } : undefined}>
        <VisuallyHidden component="caption">
          Quotes. Arrow keys move between rows while a row has the focus.
        </VisuallyHidden>
        <thead>
          <tr>
            {mayMark && <SelectAll rows={rows} selection={selection} />}
            {columns.map((column) => (
              <Header key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((quote) => (
            <QuoteRow
              key={quote.lane_ref}
              quote={quote}
              columns={columns}
              isSelected={selection.has(quote.lane_ref)}
              onSelect={onSelect}
              isCurrent={quote.lane_ref === current}
              mayMark={mayMark}
              act={act}
              onCurrent={onCurrent}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const selectWidth = 1.9
const laneWidth = 8.5

/** The width that a choice of columns needs, in rem. A narrower window scrolls the table sideways. */
function widthOf(columns: readonly QuotesColumn[]): number {
  return columns.reduce((sum, { width }) => sum + (width ?? laneWidth), selectWidth)
}

/** The style sheet decides whether the width holds: a phone has other widths. */
function widthStyle(rem: number | undefined): CSSProperties | undefined {
  return rem === undefined ? undefined : ({ '--width': `${rem}rem` } as CSSProperties)
}

function Header({
  column,
  sort,
  onSort,
}: {
  column: QuotesColumn
  sort: string
  onSort: (sort: string) => void
}) {
  const { sorts, header } = column
  const sorted = sortedAs(column, sort)
  return (
    <th
      scope="col"
      data-align={column.align}
      data-from={column.from}
      aria-sort={sorted}
      style={widthStyle(column.width)}
    >
      {column.hidesHeader === true ? (
        <VisuallyHidden>{header}</VisuallyHidden>
      ) : sorts === undefined ? (
        header
      ) : (
        <button
          type="button"
          className="sort-button"
          onClick={() => onSort(sort === sorts[0] ? (sorts[1] ?? sorts[0]) : sorts[0])}
        >
          {header}
          <span aria-hidden>{sorted === 'ascending' ? ' ▴' : sorted === 'descending' ? ' ▾' : ''}</span>
        </button>
      )}
    </th>
  )
}

function SelectAll({ rows, selection }: { rows: readonly Quote[]; selection: QuotesSelection }) {
  const box = useRef<HTMLInputElement>(null)
  const selected = selection.lanes.length
  const isAll = selected === rows.length
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = selected > 0 && !isAll
  })
  return (
    <th scope="col" data-column="select" style={widthStyle(selectWidth)}>
      <label>
        <VisuallyHidden>Select all quotes on this page</VisuallyHidden>
        <input
          ref={box}
          type="checkbox"
          checked={isAll}
          onChange={() => (isAll ? selection.clear() : selection.addAll())}
        />
      </label>
    </th>
  )
}

const QuoteRow = memo(function QuoteRow({
  onCurrent,
  columns,
  isSelected,
  onSelect,
  ...parts
}: RowParts & {
  columns: readonly QuotesColumn[]
  isSelected: boolean
  onSelect: (laneRef: string, isSelected: boolean, withShift: boolean) => void
  onCurrent: (laneRef: string) => void
}) {
  const { quote, isCurrent, mayMark } = parts
  const focusRow = (event: RowClick<HTMLTableRowElement>) => {
    const { target, currentTarget } = event
    if (target instanceof Element && target.closest('a, button, label, input') !== null) return
    // Moving the focus would clear the user's text selection.
    if (window.getSelection()?.isCollapsed === false) return
    focusLink(currentTarget)
  }
  return (
    <tr
      data-chosen={isCurrent ? true : undefined}
      data-selected={isSelected ? true : undefined}
      onFocus={() => onCurrent(quote.lane_ref)}
      onClick={focusRow}
    >
      {mayMark && (
        <td data-column="select">
          <label>
            <VisuallyHidden>Select {quote.lane_ref}</VisuallyHidden>
            <input
              type="checkbox"
              tabIndex={isCurrent ? 0 : -1}
              checked={isSelected}
              onChange={({ currentTarget, nativeEvent }) =>
                onSelect(
                  quote.lane_ref,
                  currentTarget.checked,
                  nativeEvent instanceof MouseEvent && nativeEvent.shiftKey,
                )
              }
            />
          </label>
        </td>
      )}
      {columns.map((column) => (
        <td key={column.key} data-align={column.align} data-from={column.from}>
          {column.cell(parts)}
        </td>
      ))}
    </tr>
  )
})

export function focusLink(row: Element | null | undefined): void {
  row?.querySelector<HTMLElement>('[data-row-link]')?.focus()
}

import { VisuallyHidden } from '@mantine/core'
import { type MouseEvent, memo, type RefObject } from 'react'
import type { Lane } from '#contract/lane.ts'
import { type QuotesColumn, quotesColumns, type RowParts, sortedAs } from './quotes-columns.tsx'
import './quotes.css'

/**
 * The table of quotes. One row is current: arrow keys move between rows, and Tab stops only at the controls of the current
 * row, so that the list is a single Tab stop of the page.
 *
 * Not a DataTable: its 200 rows are memoized, its cells depend on the current row, and some of its sorts start ascending.
 */
export function QuotesTable({
  rows,
  current,
  isBusy,
  mayMark,
  sort,
  onSort,
  onCurrent,
  act,
  body,
}: {
  rows: readonly Lane[]
  current: string | null
  isBusy: boolean
  mayMark: boolean
  sort: string
  onSort: (sort: string) => void
  onCurrent: (laneRef: string) => void
  act: RowParts['act']
  body: RefObject<HTMLTableSectionElement | null>
}) {
  return (
    <section className="table-frame quotes-table" aria-label="Quotes" aria-busy={isBusy}>
      <table>
        <VisuallyHidden component="caption">
          Quotes. Arrow keys move between rows while a row has the focus.
        </VisuallyHidden>
        <thead>
          <tr>
            {quotesColumns.map((column) => (
              <Header key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((lane) => (
            <QuoteRow
              key={lane.lane_ref}
              lane={lane}
              isCurrent={lane.lane_ref === current}
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
      data-column={column.key}
      data-align={column.align}
      data-from={column.from}
      aria-sort={sorted}
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

const QuoteRow = memo(function QuoteRow({
  onCurrent,
  ...parts
}: RowParts & { onCurrent: (laneRef: string) => void }) {
  const { lane, isCurrent } = parts
  const focusRow = (event: MouseEvent<HTMLTableRowElement>) => {
    const { target, currentTarget } = event
    if (target instanceof Element && target.closest('a, button') !== null) return
    // Moving the focus would clear the user's text selection.
    if (window.getSelection()?.isCollapsed === false) return
    focusLink(currentTarget)
  }
  return (
    <tr
      data-chosen={isCurrent ? true : undefined}
      onFocus={() => onCurrent(lane.lane_ref)}
      onClick={focusRow}
    >
      {quotesColumns.map((column) => (
        <td
          key={column.key}
          data-align={column.align}
          data-from={column.from}
          data-text={column.isText === true ? true : undefined}
        >
          {column.cell(parts)}
        </td>
      ))}
    </tr>
  )
})

/** Focuses the link of a row. */
export function focusLink(row: Element | null | undefined): void {
  row?.querySelector<HTMLElement>('[data-row-link]')?.focus()
}

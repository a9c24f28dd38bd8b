import { Tooltip, VisuallyHidden } from '@mantine/core'
import { type CSSProperties, type MouseEvent, memo, type ReactNode, type RefObject } from 'react'
import { useStable } from './stable.ts'

export interface Column<Row> {
  readonly key: string
  readonly header: string
  /** The header is only for screen readers. */
  readonly hidesHeader?: boolean
  /** The definition of a sortable column, which shows when its header has the pointer or the focus. */
  readonly tip?: string
  readonly cell: (row: Row, isCurrent: boolean) => ReactNode
  readonly align?: 'right'
  /** The column is hidden on narrower screens, where its content must be available elsewhere. */
  readonly from?: 'sm' | 'md'
  /** Long text wraps instead of widening the table. */
  readonly wraps?: boolean
  /** Its cells name their rows. */
  readonly names?: boolean
  /** The width in rem, where the style sheet fixes widths. Without one, the column takes the rest. */
  readonly width?: number
  /** The sort orders of this column, as the API names them. The first click selects the first one: the descending one. */
  readonly sorts?: readonly [first: string, second?: string]
  /** The first order is the ascending one. */
  readonly rises?: boolean
}

/** The rows that a person selected. */
export interface RowSelection {
  readonly count: number
  readonly has: (key: string) => boolean
  readonly addAll: () => void
  readonly clear: () => void
  readonly click: (row: number, isSelected: boolean, withShift: boolean) => void
}

const selectWidth = 1.9
const restWidth = 8.5

/**
 * A table. Wide tables scroll inside a frame that the keyboard can reach. Sortable headers are buttons with `aria-sort`.
 *
 * With `body`, keys move between the rows: the page adds them. Then the list is a single Tab stop, at the controls of the current row, and
 * its rows are memoized, because it can have 200.
 */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  rowKey,
  chosen,
  sort,
  onSort,
  onRowFocus,
  body,
  selection,
  isBusy,
  className = '',
  showsAll = false,
}: {
  /** The table's name for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** The key of the highlighted row; with `body`, of the current one. */
  chosen?: string | null
  sort?: string
  onSort?: (sort: string) => void
  onRowFocus?: (row: Row) => void
  body?: RefObject<HTMLTableSectionElement | null>
  selection?: RowSelection | null
  isBusy?: boolean
  className?: string
  /** Shows every column at every width: a narrower window scrolls the table sideways. */
  showsAll?: boolean
}) {
  const onFocus = useStable((row: Row) => onRowFocus?.(row))
  const onSelect = useStable((row: Row, isSelected: boolean, withShift: boolean) =>
    selection?.click(rows.indexOf(row), isSelected, withShift),
  )
  const RowOfTable = body === undefined ? TableRow : MemoizedRow
  const width = columns.reduce((sum, column) => sum + (column.width ?? restWidth), selectWidth)
  return (
    <section
      className={`table-frame ${className}`}
      aria-label={caption}
      aria-busy={isBusy}
      data-shows-all={showsAll || undefined}
      // Scrollable frames must be reachable by keyboard.
      tabIndex={body === undefined ? 0 : undefined}
    >
      <table style={showsAll ? { minWidth: `${width}rem` } : undefined}>
        <VisuallyHidden component="caption">
          {caption}
          {body !== undefined && '. Arrow keys move between rows while a row has the focus.'}
        </VisuallyHidden>
        <thead>
          <tr>
            {selection && <SelectAll selection={selection} of={rows.length} what={caption.toLowerCase()} />}
            {columns.map((column) => (
              <Header key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <RowOfTable
              key={rowKey(row)}
              row={row}
              name={rowKey(row)}
              columns={columns}
              isCurrent={chosen === rowKey(row)}
              isSelected={selection?.has(rowKey(row))}
              onFocus={onFocus}
              onSelect={onSelect}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The style sheet decides whether the width holds: a phone has other widths. */
function widthStyle(rem: number | undefined): CSSProperties | undefined {
  return rem === undefined ? undefined : ({ '--width': `${rem}rem` } as CSSProperties)
}

function TableRow<Row>({
  row,
  name,
  columns,
  isCurrent,
  isSelected,
  onFocus,
  onSelect,
}: {
  row: Row
  name: string
  columns: readonly Column<Row>[]
  isCurrent: boolean
  /** Undefined in a table whose rows cannot be selected. */
  isSelected: boolean | undefined
  onFocus: (row: Row) => void
  onSelect: (row: Row, isSelected: boolean, withShift: boolean) => void
}) {
  return (
    <tr
      data-chosen={isCurrent || undefined}
      data-selected={isSelected || undefined}
      onFocus={() => onFocus(row)}
      onClick={focusClicked}
    >
      {isSelected !== undefined && (
        <td data-column="select">
          <SelectBox
            label={`Select ${name}`}
            isSelected={isSelected}
            tabIndex={isCurrent ? 0 : -1}
            onSelect={(...given) => onSelect(row, ...given)}
          />
        </td>
      )}
      {columns.map(({ key, names, align, from, wraps, cell }) => {
        const Cell = names === true ? 'th' : 'td'
        return (
          <Cell
            key={key}
            scope={names === true ? 'row' : undefined}
            data-column={key}
            data-align={align}
            data-from={from}
            data-wraps={wraps === true || undefined}
          >
            {cell(row, isCurrent)}
          </Cell>
        )
      })}
    </tr>
  )
}

const MemoizedRow = memo(TableRow) as typeof TableRow

/** A click beside the controls of a row moves the focus to its link. */
function focusClicked({ target, currentTarget }: MouseEvent<HTMLTableRowElement>): void {
  if (target instanceof Element && target.closest('a, button, label, input') !== null) return
  // Moving the focus would clear the user's text selection.
  if (window.getSelection()?.isCollapsed === false) return
  focusLink(currentTarget)
}

/** Moves the focus to the link of a row that has `data-row-link`. */
export function focusLink(row: Element | null | undefined): void {
  row?.querySelector<HTMLElement>('[data-row-link]')?.focus()
}

function SelectAll({ selection, of, what }: { selection: RowSelection; of: number; what: string }) {
  const { count, addAll, clear } = selection
  return (
    <th scope="col" data-column="select" style={widthStyle(selectWidth)}>
      <SelectBox
        label={`Select all ${what} on this page`}
        isSelected={count === of}
        isMixed={count > 0 && count < of}
        onSelect={(isSelected) => (isSelected ? addAll() : clear())}
      />
    </th>
  )
}

function SelectBox({
  label,
  isSelected,
  isMixed = false,
  tabIndex,
  onSelect,
}: {
  label: string
  isSelected: boolean
  isMixed?: boolean
  tabIndex?: number
  onSelect: (isSelected: boolean, withShift: boolean) => void
}) {
  return (
    <label>
      <VisuallyHidden>{label}</VisuallyHidden>
      <input
        type="checkbox"
        ref={(box) => {
          if (box !== null) box.indeterminate = isMixed
        }}
        tabIndex={tabIndex}
        checked={isSelected}
        onChange={({ currentTarget, nativeEvent }) =>
          onSelect(currentTarget.checked, nativeEvent instanceof window.MouseEvent && nativeEvent.shiftKey)
        }
      />
    </label>
  )
}

interface HeaderProps<Row> {
  readonly column: Column<Row>
  readonly sort: string | undefined
  readonly onSort: ((sort: string) => void) | undefined
}

function Header<Row>(props: HeaderProps<Row>) {
  const { key, align, from, width, header, hidesHeader } = props.column
  return (
    <th
      scope="col"
      data-column={key}
      data-align={align}
      data-from={from}
      aria-sort={sortedAs(props.column, props.sort)}
      style={widthStyle(width)}
    >
      {hidesHeader === true ? <VisuallyHidden>{header}</VisuallyHidden> : <HeaderWords {...props} />}
    </th>
  )
}

function HeaderWords<Row>({ column, sort, onSort }: HeaderProps<Row>) {
  const { header, sorts, tip } = column
  if (sorts === undefined || onSort === undefined) return header
  const sorted = sortedAs(column, sort)
  return (
    <Tooltip
      label={tip}
      disabled={tip === undefined}
      events={{ hover: true, focus: true, touch: true }}
      multiline
      w={260}
      position="bottom"
      // Within the landmark of the page, so that screen readers find it there.
      portalProps={{ target: 'main' }}
    >
      <button
        type="button"
        className="sort-button"
        data-tip={tip === undefined ? undefined : true}
        onClick={() => onSort(sort === sorts[0] ? (sorts[1] ?? sorts[0]) : sorts[0])}
      >
        {header}
        <span aria-hidden>{sorted === 'descending' ? ' ▾' : sorted === 'ascending' ? ' ▴' : ''}</span>
      </button>
    </Tooltip>
  )
}

function sortedAs<Row>({ sorts, rises = false }: Column<Row>, sort: string | undefined) {
  if (sorts === undefined || sort === undefined) return undefined
  if (!sorts.includes(sort)) return 'none'
  return (sort === sorts[0]) === rises ? 'ascending' : 'descending'
}

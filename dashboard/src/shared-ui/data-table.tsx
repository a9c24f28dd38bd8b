import { Tooltip, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly key: string
  readonly header: string
  /** The definition of a sortable column, which shows when its header has the pointer or the focus. */
  readonly tip?: string
  readonly cell: (row: Row) => ReactNode
  readonly align?: 'right'
  /** The column is hidden on narrower screens, where its content must be available elsewhere. */
  readonly from?: 'sm' | 'md'
  /** Long text wraps instead of widening the table. */
  readonly wraps?: boolean
  /** The sort orders of this column, as the API names them. The first click selects the first one. */
  readonly sorts?: readonly [first: string, second?: string]
}

/**
 * A table. Wide tables scroll inside a frame that the keyboard can reach. Sortable headers are buttons with `aria-sort`.
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
}: {
  /** The table's name for screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  chosen?: string | null
  sort?: string
  onSort?: (sort: string) => void
  onRowFocus?: (row: Row) => void
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable frames must be reachable by keyboard
    <section className="table-frame" aria-label={caption} tabIndex={0}>
      <table>
        <VisuallyHidden component="caption">{caption}</VisuallyHidden>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                data-align={column.align}
                data-from={column.from}
                aria-sort={sortedAs(column, sort)}
              >
                {column.sorts === undefined || onSort === undefined ? (
                  column.header
                ) : (
                  <SortButton column={column} sorts={column.sorts} sort={sort} onSort={onSort} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              data-chosen={chosen === rowKey(row) ? true : undefined}
              onFocus={onRowFocus === undefined ? undefined : () => onRowFocus(row)}
            >
              {columns.map((column) => (
                <td
                  key={column.key}
                  data-align={column.align}
                  data-from={column.from}
                  data-wraps={column.wraps === true ? true : undefined}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function SortButton<Row>({
  column: { header, tip },
  sorts,
  sort,
  onSort,
}: {
  column: Column<Row>
  sorts: NonNullable<Column<Row>['sorts']>
  sort: string | undefined
  onSort: (sort: string) => void
}) {
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
        onClick={() => onSort(nextSort(sorts, sort))}
      >
        {header}
        <span aria-hidden>{sort === sorts[0] ? ' ▾' : sort === sorts[1] ? ' ▴' : ''}</span>
      </button>
    </Tooltip>
  )
}

function nextSort([first, second]: readonly [string, string?], sort: string | undefined): string {
  return sort === first && second !== undefined ? second : first
}

function sortedAs<Row>({ sorts }: Column<Row>, sort: string | undefined) {
  if (sorts === undefined || sort === undefined) return undefined
  return sort === sorts[0] ? 'descending' : sort === sorts[1] ? 'ascending' : 'none'
}

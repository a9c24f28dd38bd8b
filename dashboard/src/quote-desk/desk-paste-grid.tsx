import { IconTrash } from 'virtual:tabler-icons'
import { ActionIcon, NativeSelect } from '@mantine/core'
import { memo, useLayoutEffect, useMemo, useRef } from 'react'
import { dollars, laneName, sentTerms } from '../shared-ui/index.ts'
import {
  type CellAt,
  columnName,
  errorAt,
  fieldNames,
  type PastedField,
  type PastedRow,
  type ReadPaste,
  sameCells,
  withCells,
} from './desk-paste.ts'
import { CellEditor, type Correction, choicesFor } from './desk-paste-cell.tsx'

type Shown = NonNullable<ReadPaste['shown']>
type Column = Shown['columns'][number]

interface GridProps {
  readonly shown: Shown
  readonly onField: (column: number, field: PastedField) => void
  readonly onRows: (rows: readonly PastedRow[]) => void
  readonly onConfirm: (cell: string, rows: readonly PastedRow[]) => void
  /** The cell with the field; null if none has the focus. */
  readonly active: CellAt | null
  readonly onActive: (change: (before: CellAt | null) => CellAt | null) => void
  /** Moves on after a cell: to the next wrong one. */
  readonly onNext: (rows: readonly PastedRow[], after: CellAt) => void
}

/** The next wrong cell after another one, then from the first one on; null if no other is wrong. */
export function nextWrong(rows: readonly PastedRow[], after: CellAt | null): CellAt | null {
  const wrong = rows.flatMap(({ errors }, row) =>
    [...new Set(errors.flatMap(({ column }) => column ?? []))]
      .toSorted((one, other) => one - other)
      .map((column) => ({ row, column })),
  )
  const isAfter = (cell: CellAt) =>
    after === null || cell.row > after.row || (cell.row === after.row && cell.column > after.column)
  const others = wrong.filter((cell) => cell.row !== after?.row || cell.column !== after.column)
  return others.find(isAfter) ?? others[0] ?? null
}

/** The rows after a person corrected a cell. */
function corrected(shown: Shown, at: CellAt, correction: Correction): readonly PastedRow[] {
  const { rows } = shown
  if (correction === 'leave out the row') return rows.toSpliced(at.row, 1)
  if (correction === 'confirm') return withCells(rows, sameCells(shown, at), null)
  return withCells(rows, correction.isForAll ? sameCells(shown, at) : [at], correction.text)
}

/** The handlers of the cells, with a stable identity, so that only rows that changed are rendered again. */
function useCells(props: GridProps) {
  const latest = useRef(props)
  useLayoutEffect(() => {
    latest.current = props
  })
  return useMemo(() => {
    let left: number | null = null
    return {
      change: (at: CellAt, correction: Correction) => {
        const { shown, onRows, onConfirm } = latest.current
        const rows = corrected(shown, at, correction)
        // What follows at once, such as the way to the next wrong cell, is about these rows.
        latest.current = { ...latest.current, shown: { ...shown, rows: [...rows] } }
        left = correction === 'leave out the row' ? at.row : null
        if (correction === 'confirm') onConfirm(shown.rows[at.row]?.cells[at.column - 1] ?? '', rows)
        else onRows(rows)
      },
      /** The wrong cells with the same text. */
      count: (at: CellAt) => sameCells(latest.current.shown, at).length,
      enter: (at: CellAt) => {
        const { shown, onNext } = latest.current
        onNext(shown.rows, left === at.row ? { row: at.row, column: 0 } : at)
      },
      activate: (at: CellAt) => latest.current.onActive(() => at),
      leave: (at: CellAt) =>
        latest.current.onActive((now) => (now?.row === at.row && now.column === at.column ? null : now)),
      move: (from: CellAt, rows: number, columns: number) => {
        const { shown, onActive } = latest.current
        const to = { row: from.row + rows, column: from.column + columns }
        const isCell = to.column >= 1 && to.column <= shown.columns.length && shown.rows[to.row] !== undefined
        if (isCell) onActive(() => to)
      },
    }
  }, [])
}

type Cells = ReturnType<typeof useCells>

/**
 * Pasted rows as a grid: a choice above each column, cells to correct in place, and how each row was read or what is wrong with it. Tab
 * leads from one wrong cell to the next.
 */
export function PasteGrid(props: GridProps) {
  const { shown, onField, active } = props
  const { columns, rows } = shown
  const cells = useCells(props)
  return (
    <section className="table-frame desk-paste" aria-label="Pasted rows">
      <table>
        <thead>
          <tr>
            <th scope="col">Row</th>
            {columns.map((column) => (
              <th key={column.column} scope="col">
                <ColumnField column={column} onField={onField} />
              </th>
            ))}
            <th scope="col">Read as</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <Row
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place, while its line and its cells change
              key={at}
              row={row}
              at={at}
              columns={columns}
              active={active?.row === at ? active.column : null}
              cells={cells}
            />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const fields = Object.entries(fieldNames).map(([value, label]) => ({ value, label }))

/** What a column is: a person can choose another field, or leave the column out. */
function ColumnField({
  column,
  onField,
}: {
  column: Column
  onField: (column: number, field: PastedField) => void
}) {
  return (
    <>
      <span className="desk-paste-name">{columnName(column)}</span>
      <NativeSelect
        aria-label={columnName(column)}
        size="xs"
        rightSectionWidth={22}
        value={column.field ?? ''}
        data={[{ value: '', label: 'Leave out' }, ...fields]}
        onChange={({ currentTarget: { value } }) =>
          onField(
            column.column,
            fields.some((field) => field.value === value) ? (value as PastedField) : null,
          )
        }
      />
    </>
  )
}

interface RowProps {
  readonly row: PastedRow
  readonly at: number
  readonly columns: readonly Column[]
  readonly active: number | null
  readonly cells: Cells
}

const Row = memo(function Row({ row, at, columns, active, cells }: RowProps) {
  return (
    <tr>
      <td>
        <span className="desk-paste-row">
          {at + 1}
          <ActionIcon
            size="sm"
            variant="subtle"
            tabIndex={-1}
            aria-label={`Leave out row ${at + 1}`}
            onClick={() => cells.change({ row: at, column: 0 }, 'leave out the row')}
          >
            <IconTrash size={14} aria-hidden />
          </ActionIcon>
        </span>
      </td>
      {columns.map((column) => {
        const place = { row: at, column: column.column }
        const text = row.cells[column.column - 1] ?? ''
        const error = errorAt(row, column.column)
        const label = `${columnName(column)} of row ${at + 1}`
        return (
          <td
            key={column.column}
            data-wrong={error !== undefined || undefined}
            data-unread={column.field === null || undefined}
          >
            {active === column.column ? (
              <CellEditor
                key={text}
                label={label}
                cell={text}
                field={column.field}
                choices={
                  error === undefined
                    ? []
                    : choicesFor(text, { error, field: column.field, count: cells.count(place) })
                }
                wrong={error?.detail ?? null}
                onCorrect={(correction) => cells.change(place, correction)}
                onEnter={() => cells.enter(place)}
                onMove={(rows, by) => cells.move(place, rows, by)}
                onLeave={() => cells.leave(place)}
              />
            ) : (
              <button
                type="button"
                className="desk-paste-cell"
                tabIndex={error === undefined ? -1 : 0}
                title={error?.detail ?? text}
                aria-label={`${label}: ${text === '' ? 'empty' : text}${error === undefined ? '' : `. ${error.detail}`}`}
                onFocus={() => cells.activate(place)}
                // Some browsers give a clicked button no focus.
                onClick={() => cells.activate(place)}
              >
                {text}
              </button>
            )}
          </td>
        )
      })}
      <td>
        <RowState row={row} at={at} cells={cells} />
      </td>
    </tr>
  )
})

/** How a row was read, or what is wrong with each of its cells. */
function RowState({ row, at, cells }: Pick<RowProps, 'row' | 'at' | 'cells'>) {
  if (row.errors.length > 0) {
    return row.errors.map(({ column, detail, suggestions }) => (
      <div key={`${column} ${detail}`} className="desk-flag desk-paste-state">
        {detail}.
        {column !== null &&
          suggestions.slice(0, 3).map((text) => (
            <button
              key={text}
              type="button"
              className="desk-suggestion"
              tabIndex={-1}
              onClick={() => cells.change({ row: at, column }, { text, isForAll: false })}
            >
              {text}
            </button>
          ))}
      </div>
    ))
  }
  return (
    <div className="desk-paste-state">
      <ReadRow {...row} />
    </div>
  )
}

function ReadRow({ quote, warnings, notes }: PastedRow) {
  const { quoted_rate: rate, quoted_basis: basis = null, quoted_currency: currency = null } = quote
  const terms = rate === undefined ? null : sentTerms(basis, currency)
  const parts = [
    `${laneName(quote.origin ?? '–', quote.destination ?? '–')}, ${quote.equipment ?? 'V'}`,
    ...(rate === undefined ? ['no rate yet'] : [`${dollars(rate)}${terms === null ? '' : ` ${terms}`}`]),
    ...(quote.pickup_date === undefined ? [] : [`pickup ${quote.pickup_date}`]),
  ]
  const remarks = [...notes, ...warnings.map(({ detail }) => detail)].join(' ')
  return (
    <>
      {parts.join(', ')}
      {remarks !== '' && `. ${remarks}`}
    </>
  )
}

import {
  Button,
  Group,
  Modal,
  NativeSelect,
  Stack,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { pastedLengthMax, quotesPerRequestMax } from '#contract/limits.ts'
import {
  counted,
  DataTable,
  dollars,
  equipmentName,
  Failed,
  sentTerms,
  Understood,
} from '../shared-ui/index.ts'
import type { DeskQuote } from './desk-draft.ts'
import {
  byCustomer,
  columnName,
  fieldNames,
  noChoices,
  type PasteChoices,
  type PastedRow,
  quoteOf,
  type ReadPaste,
  textOf,
  usePaste,
} from './desk-paste.ts'

const instructions =
  'Copy rows from a spreadsheet and paste them here, with or without a header row. A place can be a city and state in one column or two, a ZIP code, or an airport code.'
const previewed = 200
const errorsShown = 12

/**
 * Adds rows from a spreadsheet to the desk. The dialog first shows how each column and each row was read, and the errors
 * of each row, which can be corrected in place. Rows with an error, and rows for another customer, stay in the dialog.
 */
export function PasteDialog({
  text,
  room,
  customer,
  onText,
  onAdd,
  onClose,
}: {
  /** The pasted text; null while the dialog is closed. */
  text: string | null
  /** The number of quotes that the request still has room for. */
  room: number
  /** The customer of the request; empty when none is entered. */
  customer: string
  onText: (text: string) => void
  /** `customer` is the customer that the rows name, or null. */
  onAdd: (quotes: readonly Omit<DeskQuote, 'id'>[], customer: string | null) => void
  onClose: () => void
}) {
  const [chosen, setChosen] = useState(noChoices)
  const read = usePaste(text ?? '', chosen)
  const { rows = [], header = null } = read.shown ?? {}
  const addButton = useRef<HTMLButtonElement>(null)
  const good = rows.filter(({ errors }) => errors.length === 0)
  const { customer: named, own, others } = byCustomer(good, customer)
  const tooMany = own.length > room
  const left = rows.filter((row) => !own.includes(row))
  const close = () => {
    setChosen(noChoices)
    onClose()
  }
  const add = () => {
    onAdd(own.map(quoteOf), own.some(({ quote }) => quote.customer_name !== undefined) ? named : null)
    if (left.length === 0) close()
    else onText(textOf(header, left))
  }
  return (
    <Modal.Root opened={text !== null} onClose={close} size="xl">
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title mb="sm">Paste rows</Modal.Title>
          <Stack>
            <Text size="sm">{instructions}</Text>
            <Textarea
              label="Rows"
              data-autofocus
              rows={5}
              placeholder={'Dallas, TX\tAtlanta, GA\tV\t2150'}
              value={text ?? ''}
              onChange={(event) => onText(event.currentTarget.value)}
            />
            <Text size="sm" role="status" mih={22}>
              {statusWords(read, text ?? '', {
                good: good.length,
                bad: rows.length - good.length,
                toCheck: toCheck(rows).length,
              })}
              {others.length > 0 && ` ${otherCustomers(named, others)}`}
              {tooMany && ` A request can have ${quotesPerRequestMax} quotes: you can add ${room} more.`}
            </Text>
            <PasteFailed {...read} />
            {read.shown !== null && (
              <PastedRows
                pasted={read.shown}
                next={addButton}
                onCell={(row, column, cell) => onText(read.correct(row, column, cell))}
                onChoose={(choice) => setChosen((before) => ({ ...before, ...choice(before) }))}
              />
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Close
              </Button>
              <Button ref={addButton} disabled={own.length === 0 || tooMany} onClick={add}>
                {addWords(own.length, left.length)}
              </Button>
            </Group>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function PasteFailed({ failure, retry }: ReadPaste) {
  return failure === null ? null : <Failed error={failure} retry={retry} title="The rows could not be read" />
}

/** @example addWords(2, 1) // 'Add the 2 good rows' */
function addWords(good: number, left: number): string {
  return left === 0 || good === 0 ? `Add ${counted(good, 'quote')}` : `Add the ${counted(good, 'good row')}`
}

/** How the rows were read: their columns, their dates, their errors, and a preview. */
function PastedRows({
  pasted,
  next,
  onCell,
  onChoose,
}: {
  pasted: NonNullable<ReadPaste['shown']>
  /** What has the focus after the last error. */
  next: RefObject<HTMLElement | null>
  onCell: OnCell
  onChoose: (choice: (before: PasteChoices) => Partial<PasteChoices>) => void
}) {
  const { columns, rows, understood } = pasted
  return (
    <>
      <ColumnsRead
        columns={columns}
        onChoose={(column, field) =>
          onChoose((before) => ({ columns: { ...before.columns, [column]: field } }))
        }
      />
      <Understood
        notes={understood}
        onChoose={(map) =>
          onChoose(() => ({ dates: map === 'dates=day_first' ? 'day_first' : 'month_first' }))
        }
      />
      <RowErrors
        rows={rows}
        next={next}
        nameOf={(column) => columnName(columns[column - 1] ?? { column, name: null, field: null })}
        onCell={onCell}
      />
      <RatesToCheck rows={toCheck(rows)} />
      {rows.length > 0 && <Preview rows={rows.slice(0, previewed)} />}
    </>
  )
}

type Columns = NonNullable<ReadPaste['pasted']>['columns']

/** How each column was read. A person can choose another field, such as which column is the rate. */
function ColumnsRead({
  columns,
  onChoose,
}: {
  columns: Columns
  onChoose: (column: number, field: Columns[number]['field']) => void
}) {
  if (columns.length === 0) return null
  const fields = Object.entries(fieldNames).map(([value, label]) => ({ value, label }))
  return (
    <Group gap="xs" align="flex-end" role="group" aria-label="How the columns were read">
      {columns.map((column) => (
        <NativeSelect
          key={column.column}
          label={columnName(column)}
          size="xs"
          maw={170}
          value={column.field ?? ''}
          data={[{ value: '', label: 'not used' }, ...fields]}
          onChange={({ currentTarget: { value } }) =>
            onChoose(column.column, value === '' ? null : (value as Columns[number]['field']))
          }
        />
      ))}
    </Group>
  )
}

/** @example otherCustomers('Acme', rows) // '2 rows are for another customer than Acme (Beta) and stay here.' */
function otherCustomers(named: string | null, others: readonly PastedRow[]): string {
  const names = [...new Set(others.map(({ quote }) => quote.customer_name ?? ''))].slice(0, 3).join(', ')
  const rows = others.length === 1 ? '1 row is' : `${others.length} rows are`
  return `${rows} for another customer than ${named} (${names}) and ${others.length === 1 ? 'stays' : 'stay'} here: a request has one customer.`
}

function statusWords(
  { pasted, failure, isTooLong }: ReadPaste,
  text: string,
  { good, bad, toCheck }: { readonly good: number; readonly bad: number; readonly toCheck: number },
): string {
  if (isTooLong) return `Paste at most ${pastedLengthMax.toLocaleString('en-US')} characters at a time.`
  if (text.trim() === '') return 'No rows pasted yet.'
  if (pasted === null) return failure === null ? 'Reading the rows…' : ''
  if (pasted.problem !== null) return pasted.problem
  const errors = bad === 0 ? '' : `, ${counted(bad, 'row')} with errors`
  return `${counted(good, 'quote')} read${errors}${toCheck === 0 ? '' : `, ${counted(toCheck, 'rate')} to check`}.`
}

type OnCell = (row: PastedRow, column: number, cell: string) => void

function RowErrors({
  rows,
  next,
  nameOf,
  onCell,
}: {
  rows: readonly PastedRow[]
  next: RefObject<HTMLElement | null>
  nameOf: (column: number) => string
  onCell: OnCell
}) {
  const focus = useFocusAmongErrors(next)
  // Their numbers among all rows stay, while the lines of the text can change.
  const bad = rows.flatMap((row, number) => (row.errors.length === 0 ? [] : [{ row, number }]))
  if (bad.length === 0) return null
  return (
    <ul className="desk-list" aria-label="Rows with errors" {...focus}>
      {bad.slice(0, errorsShown).map(({ row, number }) => (
        <li key={number}>
          {row.errors.map(({ column, detail, suggestions }, nth) => (
            <div key={errorKey(row, nth)} data-error={`${number} ${column ?? 0}`}>
              Row {row.line}: {detail}.
              {column !== null && (
                <CorrectedCell
                  label={`${nameOf(column)} of row ${row.line}`}
                  cell={row.cells[column - 1] ?? ''}
                  onDone={(text) => onCell(row, column, text)}
                />
              )}
              {column !== null &&
                suggestions.map((place) => (
                  <UnstyledButton
                    key={place}
                    className="desk-suggestion"
                    onClick={() => onCell(row, column, place)}
                  >
                    {place}
                  </UnstyledButton>
                ))}
            </div>
          ))}
        </li>
      ))}
      {bad.length > errorsShown && <li>{counted(bad.length - errorsShown, 'more row')}</li>}
    </ul>
  )
}

/** An error of a cell keeps its key when its words change, so that its field keeps the focus. */
function errorKey({ errors }: PastedRow, nth: number): string {
  const column = errors[nth]?.column ?? null
  return `${column} ${errors.slice(0, nth).filter((error) => error.column === column).length}`
}

/**
 * Keeps the focus in the list of errors: when the error that has it was corrected, it moves to the next one, or after the last error to
 * `next`. Otherwise it would go to the top of the page.
 */
function useFocusAmongErrors(next: RefObject<HTMLElement | null>) {
  const at = useRef<{ readonly element: Element; readonly error: string } | null>(null)
  useLayoutEffect(() => {
    if (at.current === null || at.current.element.isConnected) return
    const [row = 0, column = 0] = at.current.error.split(' ').map(Number)
    at.current = null
    const errors = [...document.querySelectorAll<HTMLElement>('[data-error]:has(input)')]
    const following =
      errors.find(({ dataset }) => {
        const [otherRow = 0, otherColumn = 0] = (dataset.error ?? '').split(' ').map(Number)
        return otherRow > row || (otherRow === row && otherColumn >= column)
      }) ?? errors.at(-1)
    const to = following?.querySelector('input') ?? next.current
    to?.focus()
  })
  return {
    onFocus: ({ target }: { target: Element }) => {
      const error = target.closest<HTMLElement>('[data-error]')?.dataset.error
      at.current = error === undefined ? null : { element: target, error }
    },
    onBlur: () => {
      at.current = null
    },
  }
}

/** A wrong cell to correct. It is read again when the field is left, or with Enter. */
function CorrectedCell({
  label,
  cell,
  onDone,
}: {
  label: string
  cell: string
  onDone: (text: string) => void
}) {
  const [typed, setTyped] = useState<string | null>(null)
  const done = () => {
    setTyped(null)
    if (typed !== null && typed !== cell) onDone(typed)
  }
  return (
    <TextInput
      size="xs"
      maw={280}
      aria-label={label}
      value={typed ?? cell}
      onChange={(event) => setTyped(event.currentTarget.value)}
      // What is typed replaces the text, however the field got the focus.
      onFocus={(event) => event.currentTarget.select()}
      onBlur={done}
      onKeyDown={(event) => event.key === 'Enter' && done()}
    />
  )
}

function toCheck(rows: readonly PastedRow[]): readonly PastedRow[] {
  return rows.filter(({ warnings }) => warnings.length > 0)
}

/** Rates that are far from cost, floor or going rate. They can be added: saving asks for a confirmation. */
function RatesToCheck({ rows }: { rows: readonly PastedRow[] }) {
  if (rows.length === 0) return null
  return (
    <ul className="desk-list" aria-label="Rates to check">
      {rows.slice(0, errorsShown).map(({ line, warnings }) => (
        <li key={line}>
          Row {line}: {warnings.map(({ detail }) => detail).join(' ')}
        </li>
      ))}
      {rows.length > errorsShown && <li>{counted(rows.length - errorsShown, 'more rate')}</li>}
    </ul>
  )
}

function Preview({ rows }: { rows: readonly PastedRow[] }) {
  return (
    <DataTable
      caption="Rows as they were read"
      rows={rows}
      rowKey={({ line }) => String(line)}
      columns={[
        { key: 'line', header: 'Row', align: 'right', cell: ({ line }) => line },
        { key: 'origin', header: 'Origin', cell: ({ quote }) => quote.origin ?? '–' },
        { key: 'destination', header: 'Destination', cell: ({ quote }) => quote.destination ?? '–' },
        { key: 'equipment', header: 'Equipment', cell: (row) => equipmentName(quoteOf(row).equipment) },
        { key: 'rate', header: 'Rate', align: 'right', cell: ({ quote }) => <PastedRate quote={quote} /> },
        {
          key: 'read',
          header: 'Status',
          cell: ({ errors, notes, warnings }) => {
            if (errors.length > 0) return 'Error'
            if (warnings.length > 0) return 'Check the rate'
            return notes.length === 0 ? 'OK' : notes.join(' ')
          },
        },
      ]}
    />
  )
}

/** A rate with what it includes and its currency, if the row states them. */
function PastedRate({ quote }: Pick<PastedRow, 'quote'>) {
  const { quoted_rate: rate, quoted_basis: basis = null, quoted_currency: currency = null } = quote
  const terms = sentTerms(basis, currency)
  return (
    <>
      {dollars(rate ?? null)}
      {rate !== undefined && terms !== null && (
        <Text component="span" size="xs" c="dimmed">
          {' '}
          {terms}
        </Text>
      )}
    </>
  )
}

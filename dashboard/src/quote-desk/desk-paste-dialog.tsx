import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { pastedLengthMax, quotesPerRequestMax } from '#contract/limits.ts'
import { counted, DataTable, dollars, equipmentName, Failed } from '../shared-ui/index.ts'
import type { DeskQuote } from './desk-draft.ts'
import {
  columnWords,
  convertedWords,
  type PastedRow,
  quoteOf,
  type ReadPaste,
  usePaste,
} from './desk-paste.ts'

const previewed = 200
const errorsShown = 12

/**
 * Adds rows from a spreadsheet to the desk. The dialog first shows how each column and each row was read, and the errors
 * of each row. Rows with an error stay in the dialog so that the user can correct them.
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
  const read = usePaste(text ?? '')
  const { pasted, failure, retry } = read
  const rows = pasted?.rows ?? []
  const good = rows.filter(({ errors }) => errors.length === 0)
  const bad = rows.filter(({ errors }) => errors.length > 0)
  const tooMany = good.length > room
  const customers = customersOf(good, customer)
  const add = () => {
    onAdd(good.map(quoteOf), customers[0] ?? null)
    if (bad.length === 0) onClose()
    else {
      const header = pasted?.header ?? null
      onText([...(header === null ? [] : [header]), ...bad.map((row) => row.text)].join('\n'))
    }
  }
  return (
    <Modal.Root opened={text !== null} onClose={onClose} size="xl">
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title mb="sm">Paste rows</Modal.Title>
          <Stack>
            <Text size="sm">
              Copy rows from a spreadsheet and paste them here, with or without a header row. A place can be a
              city and state in one column or two, a ZIP code, or an airport code.
            </Text>
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
                bad: bad.length,
                toCheck: toCheck(rows).length,
              })}
              {tooMany && ` A request can have ${quotesPerRequestMax} quotes: you can add ${room} more.`}
            </Text>
            {failure !== null && <Failed error={failure} retry={retry} title="The rows could not be read" />}
            {pasted !== null && <ColumnsRead columns={pasted.columns} />}
            {customers.length > 1 && <SeveralCustomers customers={customers} />}
            {bad.length > 0 && <RowErrors rows={bad} />}
            <RatesToCheck rows={toCheck(rows)} />
            {rows.length > 0 && <Preview rows={rows.slice(0, previewed)} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Close
              </Button>
              <Button disabled={good.length === 0 || tooMany || customers.length > 1} onClick={add}>
                {bad.length === 0 || good.length === 0
                  ? `Add ${counted(good.length, 'quote')}`
                  : `Add the ${counted(good.length, 'good row')}`}
              </Button>
            </Group>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function ColumnsRead({ columns }: { columns: NonNullable<ReadPaste['pasted']>['columns'] }) {
  if (columns.length === 0) return null
  return (
    <ul className="desk-list" aria-label="How the columns were read">
      {columns.map((column) => (
        <li key={column.column} style={{ overflowWrap: 'anywhere' }}>
          {columnWords(column)}
        </li>
      ))}
    </ul>
  )
}

function SeveralCustomers({ customers }: { customers: readonly string[] }) {
  return (
    <Text size="sm" role="alert" style={{ color: 'var(--mantine-color-error)', overflowWrap: 'anywhere' }}>
      A request can have only one customer, but these rows are for {customers.join(' and ')}. Paste the rows
      of one customer.
    </Text>
  )
}

/** The distinct customers of the request and of the rows, ignoring case. */
function customersOf(rows: readonly PastedRow[], ofRequest: string): string[] {
  const names = [ofRequest.trim(), ...rows.map(({ customer }) => customer ?? '')].filter(
    (name) => name !== '',
  )
  return [
    ...new Map(names.map((name): [string, string] => [name.toLowerCase(), name]).reverse()).values(),
  ].reverse()
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

function RowErrors({ rows }: { rows: readonly PastedRow[] }) {
  return (
    <ul className="desk-list" aria-label="Rows with errors">
      {rows.slice(0, errorsShown).map(({ line, errors }) => (
        <li key={line}>
          Row {line}: {errors.map(errorWords).join('. ')}
        </li>
      ))}
      {rows.length > errorsShown && <li>{counted(rows.length - errorsShown, 'more row')}</li>}
    </ul>
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

function errorWords({ detail, suggestions }: PastedRow['errors'][number]): string {
  return suggestions.length === 0 ? detail : `${detail}. Did you mean ${suggestions.join(' or ')}?`
}

function Preview({ rows }: { rows: readonly PastedRow[] }) {
  return (
    <DataTable
      caption="Rows as they were read"
      rows={rows}
      rowKey={({ line }) => String(line)}
      columns={[
        { key: 'line', header: 'Row', align: 'right', cell: ({ line }) => line },
        { key: 'origin', header: 'Origin', cell: ({ origin }) => origin ?? '–' },
        { key: 'destination', header: 'Destination', cell: ({ destination }) => destination ?? '–' },
        { key: 'equipment', header: 'Equipment', cell: (row) => equipmentName(quoteOf(row).equipment) },
        { key: 'rate', header: 'Rate', align: 'right', cell: ({ rate }) => dollars(rate) },
        {
          key: 'read',
          header: 'Status',
          cell: ({ errors, warnings, converted_by: how }) => {
            if (errors.length > 0) return 'Error'
            if (warnings.length > 0) return 'Check the rate'
            return how === null ? 'OK' : convertedWords[how]
          },
        },
      ]}
    />
  )
}

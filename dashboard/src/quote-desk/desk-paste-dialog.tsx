import { Button, Checkbox, Group, Modal, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useRef, useState } from 'react'
import { lanesPerRequestMax, pastedLengthMax } from '#contract/limits.ts'
import { useMay } from '../api/index.ts'
import { counted, Failed } from '../shared-ui/index.ts'
import type { DeskLane } from './desk-draft.ts'
import { MailPanel, type ReceivedForDesk } from './desk-mail-panel.tsx'
import {
  laneOf,
  type PastedField,
  type PastedRow,
  type ReadPaste,
  textOf,
  usePaste,
  withCell,
} from './desk-paste.ts'
import { PasteTable } from './desk-paste-table.tsx'

const errorsShown = 12

interface PasteProps {
  /** The pasted text; null while the dialog is closed. */
  text: string | null
  /** The mail of the mailbox whose lanes are added; null without one. */
  received: ReceivedForDesk | null
  /** The number of lanes that the request can still take. */
  room: number
  /** The customer of the request; empty when none is entered. */
  customer: string
  onText: (text: string) => void
  /** `customer` is the customer that the rows name, or null; `closes` is false if rows with errors stay in the dialog. */
  onAdd: (lanes: readonly Omit<DeskLane, 'id'>[], customer: string | null, closes: boolean) => void
  onClose: () => void
}

/** What was pasted, how it was read, and the choices of the person. */
function usePastedRows({ text, room, customer, onText, onAdd, onClose }: PasteProps) {
  const [fields, setFields] = useState<readonly (PastedField | null)[] | null>(null)
  const [acceptUnknown, setAcceptUnknown] = useState(false)
  const read = usePaste(text ?? '', fields, acceptUnknown)
  const { pasted, shown } = read
  const rows = pasted?.rows ?? []
  const good = rows.filter(({ errors }) => errors.length === 0)
  const bad = rows.filter(({ errors }) => errors.length > 0)
  const tooMany = good.length > room
  const customers = customersOf(good, customer)
  const add = () => {
    onAdd(good.map(laneOf), customers[0] ?? null, bad.length === 0)
    if (bad.length === 0) close()
    else {
      const header = pasted?.header ?? null
      onText([...(header === null ? [] : [header]), ...bad.map((row) => row.text)].join('\n'))
    }
  }
  const forget = () => {
    setFields(null)
    setAcceptUnknown(false)
  }
  const close = () => {
    forget()
    onClose()
  }
  const choose = (at: number, field: PastedField | null) => {
    // A field is that of one column.
    const columns = shown?.columns.map((column) => column.field) ?? []
    setFields(columns.map((one, nth) => (nth === at ? field : one === field ? null : one)))
  }
  return {
    ...read,
    fieldsChosen: choose,
    rows,
    good,
    bad,
    tooMany,
    customers,
    add,
    forget,
    close,
    acceptUnknown,
    setAcceptUnknown,
  }
}

const kinds = [
  { value: 'rows', label: 'Rows' },
  { value: 'mail', label: 'Mail' },
]

/** Adds lanes to the desk that are pasted: rows of a spreadsheet, or a mail. */
export function PasteDialog(props: PasteProps) {
  return (
    <Modal.Root opened={props.text !== null || props.received !== null} onClose={props.onClose} size="70rem">
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <PasteBody {...props} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

/** The text stays when the person changes between rows and mail. */
function PasteBody(props: PasteProps) {
  const [kind, setKind] = useState('rows')
  const mayQuote = useMay('member')
  const { text, received, onAdd } = props
  if (received !== null) {
    return (
      <>
        <Modal.Title mb="sm">Lanes of a mail</Modal.Title>
        <MailPanel {...props} text="" onAdd={(lanes) => onAdd(lanes, received.customer, true)} />
      </>
    )
  }
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Modal.Title>{kind === 'rows' ? 'Paste rows' : 'Paste a mail'}</Modal.Title>
        {mayQuote && (
          <SegmentedControl aria-label="What is pasted" data={kinds} value={kind} onChange={setKind} />
        )}
      </Group>
      {kind === 'rows' ? (
        <RowsPanel {...props} />
      ) : (
        <MailPanel {...props} text={text ?? ''} onAdd={(lanes) => onAdd(lanes, null, true)} />
      )}
    </>
  )
}

/**
 * Shows how each column and each row was read, and what is wrong with it, in a table whose cells can be corrected. Rows with an
 * error stay in the dialog so that the user can correct them.
 */
function RowsPanel(props: PasteProps) {
  const { text, room, onText } = props
  const paste = usePastedRows(props)
  const { failure, retry, rows, good, bad, tooMany, customers, add, forget, close } = paste
  return (
    <Stack>
      <Text size="sm">
        Copy rows from a spreadsheet and paste them here, with or without a header row. A place can be a city
        with or without its state, a ZIP code, or an airport code.
      </Text>
      <Textarea
        label="Rows"
        data-autofocus
        rows={5}
        placeholder={'Dallas, TX\tAtlanta, GA\tV\t2150'}
        value={text ?? ''}
        onChange={(event) => {
          // Another text may have other columns.
          forget()
          onText(event.currentTarget.value)
        }}
      />
      <Text size="sm" role="status" mih={22}>
        {statusWords(paste, text ?? '', {
          good: good.length,
          bad: bad.length,
          toCheck: toCheck(rows).length,
        })}
        {tooMany && ` A request can have ${lanesPerRequestMax} lanes: you can add ${room} more.`}
      </Text>
      {failure !== null && <Failed error={failure} retry={retry} title="The rows could not be read" />}
      {customers.length > 1 && <SeveralCustomers customers={customers} />}
      <RatesToCheck rows={toCheck(rows)} />
      <Corrections {...paste} onText={onText} />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Close
        </Button>
        <Button disabled={good.length === 0 || tooMany || customers.length > 1} onClick={add}>
          {bad.length === 0 || good.length === 0
            ? `Add ${counted(good.length, 'lane')}`
            : `Add the ${counted(good.length, 'good row')}`}
        </Button>
      </Group>
    </Stack>
  )
}

/** The table of the cells, and the choice to keep places that are not known. */
function Corrections({
  shown,
  bad,
  fieldsChosen,
  acceptUnknown,
  setAcceptUnknown,
  onText,
}: ReturnType<typeof usePastedRows> & { onText: (text: string) => void }) {
  // The table shows the last reading until the corrected rows are read: a second correction keeps the first.
  const corrected = useRef<{ of: typeof shown; rows: readonly Pick<PastedRow, 'text'>[] } | null>(null)
  const correct = (row: number, at: number, cell: string) => {
    if (shown === null) return
    const rows = withCell(
      corrected.current?.of === shown ? corrected.current.rows : shown.rows,
      row,
      at,
      cell,
    )
    corrected.current = { of: shown, rows }
    onText(textOf(shown.header, rows))
  }
  return (
    <>
      {shown !== null && shown.columns.length > 0 && (
        <PasteTable columns={shown.columns} rows={shown.rows} onField={fieldsChosen} onCell={correct} />
      )}
      {(acceptUnknown || bad.some(({ errors }) => errors.some((error) => error.unknown_place))) && (
        <Checkbox
          label="These places are correct: add them as typed"
          checked={acceptUnknown}
          onChange={(event) => setAcceptUnknown(event.currentTarget.checked)}
        />
      )}
    </>
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
  return `${counted(good, 'lane')} read${errors}${toCheck === 0 ? '' : `, ${counted(toCheck, 'rate')} to check`}.`
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

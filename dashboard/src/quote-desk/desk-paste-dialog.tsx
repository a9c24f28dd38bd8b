import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { type KeyboardEvent, useRef, useState } from 'react'
import { pastedLengthMax } from '#contract/limits.ts'
import { counted, Failed, Understood } from '../shared-ui/index.ts'
import {
  type CellAt,
  noChoices,
  type PastedRow,
  type PastePart,
  type ReadPaste,
  splitByCustomer,
  usePaste,
} from './desk-paste.ts'
import { nextWrong, PasteGrid } from './desk-paste-grid.tsx'

const instructions =
  'Copy rows from a spreadsheet and paste them here, with or without a header row. A place can be a city and state in one column or two, a ZIP code, or an airport code.'

interface PasteProps {
  isOpen: boolean
  /** The pasted text. It stays while the dialog is closed. */
  text: string
  /** The number of quotes that the request still has room for. */
  room: number
  /** The number of drafts that can be added beside the request. */
  draftsRoom: number
  /** The customer of the request; empty when none is entered. */
  customer: string
  onText: (text: string) => void
  /** The first part is for the open request; each other one becomes a draft. `closes` is false if rows stay in the dialog. */
  onAdd: (parts: readonly PastePart[], closes: boolean) => void
  onClose: () => void
}

/** What was pasted, how it was read, and what a person chose. */
function usePastedRows({ text, room, draftsRoom, customer, onText, onAdd, onClose }: PasteProps) {
  const [chosen, setChosen] = useState(noChoices)
  const [active, setActive] = useState<CellAt | null>(null)
  const read = usePaste(text, chosen)
  const addButton = useRef<HTMLButtonElement>(null)
  const rows = read.shown?.rows ?? []
  const good = rows.filter(({ errors }) => errors.length === 0)
  const parts = splitByCustomer(good, customer, room).slice(0, draftsRoom + 1)
  const added = parts.flatMap((part) => part.rows)
  const left = rows.filter((row) => !added.includes(row))
  /** Another text is read without the choices for this one. */
  const type = (typed: string) => {
    setChosen(noChoices)
    setActive(null)
    onText(typed)
  }
  const choose = (change: (before: typeof noChoices) => Partial<typeof noChoices>) =>
    setChosen((before) => ({ ...before, ...change(before) }))
  const show = (shown: readonly PastedRow[]) => {
    const { columns = [], header = null } = read.shown ?? {}
    // Columns stay what they are, whatever the rows that are left would show.
    choose(() => ({
      columns: Object.fromEntries(columns.map(({ column, field }) => [column, field])),
      hasHeader: header !== null,
    }))
    onText(read.show(shown))
  }
  const goOn = (among: readonly PastedRow[], after: CellAt | null) => {
    const next = nextWrong(among, after)
    setActive(next)
    if (next === null) addButton.current?.focus()
  }
  return {
    read,
    rows,
    good,
    parts,
    added,
    left,
    active,
    setActive,
    addButton,
    show,
    goOn,
    choose,
    /** Rows that were corrected are read again first. */
    canAdd: added.length > 0 && read.pasted !== null,
    type,
    add: () => {
      onAdd(parts, left.length === 0)
      if (left.length === 0) {
        type('')
        onClose()
      } else {
        show(left)
        setActive(nextWrong(left, null))
      }
    },
  }
}

/**
 * Adds rows from a spreadsheet to the desk, in a grid in which cells and columns can be corrected. Rows with an error stay in the dialog,
 * and rows of another customer become a draft of their own. Rows that were not added are there again when it is opened again.
 */
export function PasteDialog(props: PasteProps) {
  const { isOpen, text, onClose } = props
  const pasted = usePastedRows(props)
  const { read, rows, active, addButton, added, left } = pasted
  const onKeys = (event: KeyboardEvent) => {
    if (event.key !== 'F8') return
    event.preventDefault()
    pasted.goOn(rows, active)
  }
  return (
    // A dialog that moves in would be the frame of the lists inside, and cut them.
    <Modal.Root opened={isOpen} onClose={onClose} size="76rem" transitionProps={{ transition: 'fade' }}>
      <Modal.Overlay />
      <Modal.Content className="desk-paste-dialog">
        <Modal.Body>
          <Modal.Title mb="xs">Paste rows</Modal.Title>
          {/* The content takes no handler of keys. */}
          <Stack gap="xs" onKeyDown={onKeys}>
            {rows.length === 0 && <Text size="sm">{instructions}</Text>}
            <Textarea
              aria-label="Rows"
              data-autofocus
              rows={rows.length === 0 ? 6 : 1}
              placeholder={'Dallas, TX\tAtlanta, GA\tV\t2150'}
              value={text}
              onChange={(event) => pasted.type(event.currentTarget.value)}
            />
            <Text size="sm" role="status" mih={22}>
              {[statusWords(read, text, pasted), ...partWords(pasted.parts)].join(' ')}
            </Text>
            {read.failure !== null && (
              <Failed error={read.failure} retry={read.retry} title="The rows could not be read" />
            )}
            <GridOfRows {...pasted} />
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Close
              </Button>
              <Button
                ref={addButton}
                // It can have the focus while the last correction is read.
                {...(pasted.canAdd ? {} : { 'data-disabled': true })}
                aria-disabled={!pasted.canAdd}
                onClick={() => pasted.canAdd && pasted.add()}
              >
                {addWords(added.length, left.length)}
              </Button>
            </Group>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

/** How the rows were read, and the grid of their cells. */
function GridOfRows({ read, active, setActive, show, goOn, choose }: ReturnType<typeof usePastedRows>) {
  const { shown } = read
  if (shown === null || shown.columns.length === 0) return null
  return (
    <>
      <Understood
        notes={shown.understood}
        onChoose={(map) => choose(() => ({ dates: map === 'dates=day_first' ? 'day_first' : 'month_first' }))}
      />
      <PasteGrid
        shown={shown}
        active={active}
        onActive={setActive}
        onField={(column, field) => choose(({ columns }) => ({ columns: { ...columns, [column]: field } }))}
        onRows={show}
        onConfirm={(cell, rows) => {
          choose(({ confirmed }) => ({ confirmed: [...confirmed, cell] }))
          show(rows)
        }}
        onNext={goOn}
      />
    </>
  )
}

/** @example addWords(2, 1) // 'Add the 2 good rows' */
function addWords(good: number, left: number): string {
  return left === 0 || good === 0 ? `Add ${counted(good, 'quote')}` : `Add the ${counted(good, 'good row')}`
}

/** @example partWords([{ customer: 'Acme', rows }, { customer: 'Beta', rows }]) // ['1 row for Beta becomes a draft of its own.'] */
function partWords([, ...others]: readonly PastePart[]): string[] {
  return others.map(({ customer, rows }) => {
    const whose = customer === null ? '' : ` for ${customer}`
    return `${counted(rows.length, 'row')}${whose} ${rows.length === 1 ? 'becomes' : 'become'} a draft of ${rows.length === 1 ? 'its' : 'their'} own.`
  })
}

function statusWords(
  { pasted, shown, failure, isTooLong }: ReadPaste,
  text: string,
  { rows, good }: Pick<ReturnType<typeof usePastedRows>, 'rows' | 'good'>,
): string {
  if (isTooLong) return `Paste at most ${pastedLengthMax.toLocaleString('en-US')} characters at a time.`
  if (text.trim() === '') return 'No rows pasted yet.'
  if (pasted === null && shown === null) return failure === null ? 'Reading the rows…' : ''
  const { problem = null } = pasted ?? shown ?? {}
  if (problem !== null) return problem
  const bad = rows.length - good.length
  const toCheck = good.filter(({ warnings }) => warnings.length > 0).length
  const errors =
    bad === 0 ? '' : `, ${counted(bad, 'row')} with errors (Tab or F8 goes to the next wrong cell)`
  return `${counted(good.length, 'quote')} read${errors}${toCheck === 0 ? '' : `, ${counted(toCheck, 'rate')} to check`}.`
}

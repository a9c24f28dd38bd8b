import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core'
import { lanesPerRequestMax } from '#contract/limits.ts'
import { DataTable } from './data-table.tsx'
import type { DeskLane } from './desk-draft.ts'
import { type PastedRow, readPasted } from './desk-paste.ts'
import { counted, dollars, equipmentName, readDollars } from './formats.ts'

const previewed = 200
const errorsShown = 12

/**
 * Rows from a spreadsheet on their way to the desk: what was read of each, and what is wrong with it. Rows with an error
 * stay in the dialog to be put right.
 */
export function PasteDialog({
  text,
  room,
  onText,
  onAdd,
  onClose,
}: {
  /** Null: closed. */
  text: string | null
  /** How many lanes the request still takes. */
  room: number
  onText: (text: string) => void
  onAdd: (lanes: readonly Omit<DeskLane, 'id'>[]) => void
  onClose: () => void
}) {
  const { header, unread, rows } = readPasted(text ?? '')
  const good = rows.filter(({ errors }) => errors.length === 0)
  const bad = rows.filter(({ errors }) => errors.length > 0)
  const tooMany = good.length > room
  const add = () => {
    onAdd(good.map(({ lane }) => lane))
    if (bad.length === 0) onClose()
    else onText([...(header === null ? [] : [header]), ...bad.map((row) => row.text)].join('\n'))
  }
  return (
    <Modal.Root opened={text !== null} onClose={onClose} size="xl">
      <Modal.Overlay />
      <Modal.Content>
        <Modal.Body>
          <Modal.Title mb="sm">Paste rows</Modal.Title>
          <Stack>
            <Text size="sm">
              Copy rows from a spreadsheet and paste them here. Columns: origin, destination, equipment, rate,
              cost, market rate, pickup date, in this order or under a line of column names.
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
              {rows.length === 0
                ? 'Nothing to read yet.'
                : `${counted(good.length, 'lane')} read${bad.length === 0 ? '' : `, ${counted(bad.length, 'row')} with an error`}.${
                    tooMany ? ` A request takes ${lanesPerRequestMax} lanes: there is room for ${room}.` : ''
                  }`}
            </Text>
            {unread.length > 0 && (
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                Not taken over: {unread.join(', ')}. To use such a column, give it one of the names above.
              </Text>
            )}
            {bad.length > 0 && (
              <ul className="desk-list" aria-label="To put right">
                {bad.slice(0, errorsShown).map(({ line, errors }) => (
                  <li key={line}>
                    Row {line}: {errors.join('. ')}
                  </li>
                ))}
                {bad.length > errorsShown && <li>{counted(bad.length - errorsShown, 'more row')}</li>}
              </ul>
            )}
            {rows.length > 0 && <Preview rows={rows.slice(0, previewed)} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Close
              </Button>
              <Button disabled={good.length === 0 || tooMany} onClick={add}>
                {bad.length === 0 || good.length === 0
                  ? `Add ${counted(good.length, 'lane')}`
                  : `Add the ${counted(good.length, 'good row')}`}
              </Button>
            </Group>
          </Stack>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Preview({ rows }: { rows: readonly PastedRow[] }) {
  return (
    <DataTable
      caption="What was read of each row"
      rows={rows}
      rowKey={({ line }) => String(line)}
      columns={[
        { key: 'line', header: 'Row', align: 'right', cell: ({ line }) => line },
        { key: 'origin', header: 'Origin', cell: ({ lane }) => lane.origin || '–' },
        { key: 'destination', header: 'Destination', cell: ({ lane }) => lane.destination || '–' },
        { key: 'equipment', header: 'Equipment', cell: ({ lane }) => equipmentName(lane.equipment) },
        { key: 'rate', header: 'Rate', align: 'right', cell: ({ lane }) => dollars(readDollars(lane.rate)) },
        { key: 'read', header: 'Read', cell: ({ errors }) => (errors.length === 0 ? 'OK' : 'To put right') },
      ]}
    />
  )
}

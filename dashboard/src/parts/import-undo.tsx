import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useChange } from '../answers.ts'
import { counted } from './formats.ts'
import type { ImportAnswer } from './import-words.ts'
import { Failed } from './states.tsx'

/** Undoes an import, after saying what that does, and tells what it did. */
export function UndoDialog({ run, onClose }: { run: ImportAnswer | null; onClose: () => void }) {
  const undo = useChange('undo-import')
  const queries = useQueryClient()
  if (run === null) return null
  const close = () => {
    undo.reset()
    onClose()
  }
  const done = undo.data
  return (
    <Modal
      opened
      onClose={close}
      title={done === undefined ? 'Undo this import?' : 'The import was undone'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {run.file_name}
        </Text>
        {done === undefined ? (
          <>
            <WhatItDoes run={run} />
            {undo.error !== null && <Failed error={undo.error} title="Not undone" />}
            {undo.error?.code === 'timed-out' && (
              <Text size="sm">
                A large import takes longer to undo. Undo it again: it goes on where it is.
              </Text>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Keep it
              </Button>
              <Button
                color="red.9"
                loading={undo.isPending}
                onClick={() =>
                  undo.mutate(
                    { params: { import_id: run.import_id } },
                    { onSettled: () => void queries.invalidateQueries() },
                  )
                }
              >
                Undo the import
              </Button>
            </Group>
          </>
        ) : (
          <>
            <Alert color="gray" variant="outline" role="status">
              {counted(done.lanes_removed, 'quote')} taken out,{' '}
              {counted(done.bookings_rolled_back, 'booking')} rolled back.{' '}
              {done.lanes_kept > 0 &&
                `${counted(done.lanes_kept, 'quote')} kept: changed, booked or quoted again since.`}
            </Alert>
            <Group justify="flex-end">
              <Button onClick={close}>Close</Button>
            </Group>
          </>
        )}
      </Stack>
    </Modal>
  )
}

function WhatItDoes({ run }: { run: ImportAnswer }) {
  return (
    <Text size="sm" component="div">
      <ul style={{ margin: 0, paddingLeft: '1.2rem' }}>
        {run.rows_added > 0 && (
          <li>
            {counted(run.rows_added, 'quote')} it added {run.rows_added === 1 ? 'is' : 'are'} taken out. Any
            that somebody has changed, booked or quoted again since stays.
          </li>
        )}
        {run.rows_updated > 0 && (
          <li>
            {counted(run.rows_updated, 'booking')} it took over {run.rows_updated === 1 ? 'is' : 'are'} rolled
            back, in your name. Any that was changed again since stays.
          </li>
        )}
        <li>Advice counts without them at once. The same file can be imported again.</li>
      </ul>
    </Text>
  )
}

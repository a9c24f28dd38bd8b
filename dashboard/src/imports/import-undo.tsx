import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useChange } from '../api/index.ts'
import { counted, Failed } from '../shared-ui/index.ts'
import type { ImportAnswer } from './import-words.ts'

/** Explains and starts the undo of an import. ImportRun shows the progress. */
export function UndoDialog({
  run,
  onBegun,
  onClose,
}: {
  run: ImportAnswer | null
  onBegun: (run: ImportAnswer) => void
  onClose: () => void
}) {
  const undo = useChange('undo-import')
  const queries = useQueryClient()
  if (run === null) return null
  const close = () => {
    undo.reset()
    onClose()
  }
  return (
    <Modal opened onClose={close} title="Undo this import?" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack>
        <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
          {run.file_name}
        </Text>
        <WhatItDoes run={run} />
        {undo.error !== null && (
          <Failed
            error={undo.error}
            title={
              undo.error.code === 'state-conflict'
                ? 'Another import or undo is running'
                : 'The undo did not start'
            }
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button
            color="red.9"
            loading={undo.isPending}
            onClick={() =>
              undo.mutate(
                { params: { import_id: run.import_id } },
                {
                  onSuccess: (begun) => {
                    queries.setQueryData(['get-import', { params: { import_id: begun.import_id } }], begun)
                    void queries.invalidateQueries({ queryKey: ['list-imports'] })
                    onBegun(begun)
                    close()
                  },
                },
              )
            }
          >
            Undo the import
          </Button>
        </Group>
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
            {counted(run.rows_added, 'quote')} that the import added {run.rows_added === 1 ? 'is' : 'are'}{' '}
            removed. Quotes that were changed, booked or requoted since then stay.
          </li>
        )}
        {run.rows_updated > 0 && (
          <li>
            {counted(run.rows_updated, 'quote')} that the import changed{' '}
            {run.rows_updated === 1 ? 'gets' : 'get'} the previous values, recorded under your name. Quotes
            that were changed again since then stay.
          </li>
        )}
        <li>Advice updates at once. You can import the same file again afterward.</li>
        <li>The undo continues when you leave this page. No import can start until the undo has finished.</li>
      </ul>
    </Text>
  )
}

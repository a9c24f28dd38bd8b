import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { pagePaths } from '#contract/pages.ts'
import { useMay } from '../api/index.ts'
import { type Column, count, DataTable, moment, since } from '../shared-ui/index.ts'
import { canBeUndone, type ImportAnswer, statusWord } from './import-words.ts'

/** The past imports, newest first, with status, counts and an Undo button. */
export function ImportList({
  imports,
  shown,
  onOpen,
  onUndo,
}: {
  imports: readonly ImportAnswer[]
  shown: number | null
  onOpen: () => void
  onUndo: (run: ImportAnswer) => void
}) {
  const mayUndo = useMay('admin')
  const columns: Column<ImportAnswer>[] = [
    {
      key: 'file',
      header: 'File',
      wraps: true,
      cell: ({ import_id, file_name }) => (
        <Anchor
          renderRoot={(props) => (
            <Link {...props} to={pagePaths.imports} search={{ import: String(import_id) }} onClick={onOpen} />
          )}
          style={{ overflowWrap: 'anywhere' }}
          size="sm"
        >
          {file_name}
        </Anchor>
      ),
    },
    { key: 'status', header: 'Status', wraps: true, cell: statusWord },
    figure('Added', ({ rows_added }) => rows_added),
    { ...figure('Updated', ({ rows_updated }) => rows_updated), from: 'sm' },
    { ...figure('Unchanged', ({ rows_repeated }) => rows_repeated), from: 'sm' },
    { ...figure('Rejected', ({ rows_refused }) => rows_refused), from: 'sm' },
    {
      key: 'when',
      header: 'When',
      from: 'sm',
      cell: ({ created_at }) => <span title={moment(created_at)}>{since(created_at)}</span>,
    },
    {
      key: 'who',
      header: 'By',
      from: 'sm',
      wraps: true,
      cell: ({ created_by }) => (
        <span style={{ overflowWrap: 'anywhere' }}>{created_by?.name ?? 'npm run import'}</span>
      ),
    },
    ...(mayUndo
      ? [
          {
            key: 'undo',
            header: 'Actions',
            cell: (run: ImportAnswer) =>
              canBeUndone(run) && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Undo the import of ${run.file_name}, number ${run.import_id}`}
                  onClick={() => onUndo(run)}
                >
                  Undo
                </Button>
              ),
          },
        ]
      : []),
  ]
  return (
    <DataTable
      caption="Past imports, newest first"
      className="table-dense"
      rows={imports}
      rowKey={({ import_id }) => String(import_id)}
      chosen={shown === null ? null : String(shown)}
      columns={columns}
    />
  )
}

function figure(header: string, value: (run: ImportAnswer) => number): Column<ImportAnswer> {
  return { key: header, header, align: 'right', cell: (run) => count(value(run)) }
}

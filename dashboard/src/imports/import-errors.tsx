import { IconDownload } from 'virtual:tabler-icons'
import { Button, Group, Pagination, Stack, Text, Title } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { addressOfCall } from '../api/index.ts'
import { count, counted, DataTable } from '../shared-ui/index.ts'
import type { ImportAnswer } from './import-words.ts'

const perPage = 25
/** The service saves at most this many errors per import. */
const errorsSavedMax = 1_000

/** The errors of a file by cause, and by line and column, with a download of the rows to correct. */
export function ImportErrors({ run }: { run: ImportAnswer }) {
  const { errors } = run
  const search = useSearch({ strict: false })
  const pages = Math.ceil(errors.length / perPage)
  const page = Math.min(Math.max(1, Math.trunc(Number(search.page ?? 1)) || 1), Math.max(1, pages))
  if (errors.length === 0) return null
  const shown = errors.map((error, at) => ({ ...error, at })).slice((page - 1) * perPage, page * perPage)
  const byLine = (
    <>
      <ErrorsTable errors={shown} />
      {pages > 1 && <ErrorPages page={page} pages={pages} />}
    </>
  )
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <div>
          <Title order={3} size="h5">
            Errors
          </Title>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {errors.length >= errorsSavedMax
              ? `Showing the first ${count(errorsSavedMax)} errors; ${counted(run.rows_refused, 'row')} were rejected. `
              : ''}
            {columnsWithErrors(errors)}
            {run.refused_rows_saved > 0 &&
              ' Download the rows, correct them, and choose the file above: the reasons are in its last column, which is not imported.'}
          </Text>
        </div>
        {run.refused_rows_saved > 0 && (
          <Button
            component="a"
            href={addressOfCall('get-refused-rows', {}, { import_id: run.import_id })}
            download
            size="xs"
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
          >
            Download {counted(run.refused_rows_saved, 'refused row')}
          </Button>
        )}
      </Group>
      {run.causes.some(({ rows }) => rows > 1) ? (
        <>
          <Causes causes={run.causes} />
          <details>
            <summary>Each error by line</summary>
            <Stack gap="xs" mt="xs">
              {byLine}
            </Stack>
          </details>
        </>
      ) : (
        byLine
      )}
    </Stack>
  )
}

/** The first lines of a cause. @example linesInWords({ lines: [2, 3, 9], rows: 4 }) // '2, 3, 9 and 1 more' */
function linesInWords({ lines, rows }: Pick<Cause, 'lines' | 'rows'>): string {
  const shown = lines.map(count).join(', ')
  return rows > lines.length ? `${shown} and ${count(rows - lines.length)} more` : shown
}

type Cause = ImportAnswer['causes'][number]

/** The causes of the errors with their lines. */
function Causes({ causes }: { causes: ImportAnswer['causes'] }) {
  return (
    <DataTable
      caption="Errors by cause"
      rows={causes}
      rowKey={({ column, detail }) => `${column} ${detail}`}
      columns={[
        { key: 'rows', header: 'Rows', align: 'right', cell: ({ rows }) => count(rows) },
        {
          key: 'cause',
          header: 'Cause, with the first value',
          wraps: true,
          cell: ({ detail }) => <span style={{ overflowWrap: 'anywhere' }}>{detail}</span>,
        },
        { key: 'lines', header: 'Lines', wraps: true, cell: linesInWords },
      ]}
    />
  )
}

type ShownError = ImportAnswer['errors'][number] & { readonly at: number }

const cutColumn = {
  display: 'inline-block',
  maxWidth: 'min(14rem, 22vw)',
  overflow: 'hidden',
  textOverflow: 'ellipsis',
  verticalAlign: 'bottom',
} as const

function ErrorsTable({ errors }: { errors: readonly ShownError[] }) {
  return (
    <DataTable
      caption="Errors by line and column of the file"
      rows={errors}
      rowKey={({ at }) => String(at)}
      columns={[
        { key: 'row', header: 'Line', align: 'right', cell: ({ row }) => count(row) },
        {
          key: 'column',
          header: 'Column',
          cell: ({ column }) => (
            <span title={column ?? undefined} style={cutColumn}>
              {column ?? '–'}
            </span>
          ),
        },
        {
          key: 'detail',
          header: 'Error',
          wraps: true,
          cell: ({ detail }) => <span style={{ overflowWrap: 'anywhere' }}>{detail}</span>,
        },
      ]}
    />
  )
}

function ErrorPages({ page, pages }: { page: number; pages: number }) {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  return (
    <Pagination
      total={pages}
      value={page}
      size="sm"
      siblings={0}
      getControlProps={(control) => ({ 'aria-label': `${control} page` })}
      getItemProps={(number) => ({ 'aria-label': `Page ${number} of the errors` })}
      onChange={(next) =>
        void navigate({ to: '.', search: { ...search, page: String(next) }, replace: true })
      }
    />
  )
}

/** @example columnsWithErrors(errors) // 'Most are in Sell Rate (12), Quote Date (3).' */
function columnsWithErrors(errors: ImportAnswer['errors']): string {
  const counts = new Map<string, number>()
  for (const { column } of errors) {
    if (column !== null) counts.set(column, (counts.get(column) ?? 0) + 1)
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 3)
  if (most.length === 0) return ''
  return `${counts.size > 3 ? 'Most are in' : 'They are in'} ${most.map(([column, times]) => `${column} (${count(times)})`).join(', ')}.`
}

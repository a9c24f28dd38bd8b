import { IconDownload } from 'virtual:tabler-icons'
import { Button, Group, Pagination, Stack, Text, Title } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { count, counted, DataTable } from '../shared-ui/index.ts'
import { csvText, saveText } from './import-file.ts'
import type { ImportAnswer } from './import-words.ts'

const perPage = 25
/** The service saves at most this many errors per import. */
const errorsSavedMax = 1_000

/** The errors of a file by line and column, with a CSV download. */
export function ImportErrors({ run }: { run: ImportAnswer }) {
  const { errors } = run
  const search = useSearch({ strict: false })
  const pages = Math.ceil(errors.length / perPage)
  const page = Math.min(Math.max(1, Math.trunc(Number(search.page ?? 1)) || 1), Math.max(1, pages))
  if (errors.length === 0) return null
  const shown = errors.map((error, at) => ({ ...error, at })).slice((page - 1) * perPage, page * perPage)
  const save = async () => {
    const rows = errors.map(({ row, column, detail }) => [row, column, detail])
    saveText(`errors-of-import-${run.import_id}.csv`, await csvText(['Line', 'Column', 'Error'], rows))
  }
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <div>
          <Title order={3} size="h5">
            Errors by line
          </Title>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {errors.length >= errorsSavedMax
              ? `Showing the first ${count(errorsSavedMax)} errors; ${counted(run.rows_refused, 'row')} were rejected. `
              : ''}
            {columnsWithErrors(errors)}
          </Text>
        </div>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => void save()}
        >
          Download errors as CSV
        </Button>
      </Group>
      <Causes errors={errors} />
      <ErrorsTable errors={shown} />
      {pages > 1 && <ErrorPages page={page} pages={pages} />}
    </Stack>
  )
}

/** Errors with one cause: they have the same column, and the same message except for its values. */
export interface Cause {
  readonly column: string | null
  /** The message of the first error. */
  readonly detail: string
  readonly lines: readonly number[]
}

/**
 * The errors by cause, the most frequent first.
 *
 * @example causesOf([{ row: 2, column: 'Rate', detail: 'Rate must be dollars; it is "x".' }, …'"y".' }]) // one cause of two lines
 */
export function causesOf(errors: ImportAnswer['errors']): Cause[] {
  const causes = Map.groupBy(errors, ({ column, detail }) =>
    JSON.stringify([column, detail.replaceAll(/"[^"]*"/g, '""').replaceAll(/\d+/g, '0')]),
  )
  return [...causes.values()]
    .map((same) => ({
      column: same[0]?.column ?? null,
      detail: same[0]?.detail ?? '',
      lines: same.map(({ row }) => row),
    }))
    .sort((one, other) => other.lines.length - one.lines.length)
}

const linesShown = 8

/** @example linesInWords([2, 3, 9]) // '2, 3, 9' */
function linesInWords(lines: readonly number[]): string {
  const shown = lines.slice(0, linesShown).map(count).join(', ')
  return lines.length > linesShown ? `${shown} and ${count(lines.length - linesShown)} more` : shown
}

/** The causes of the errors with their lines. Renders nothing if each error has its own cause. */
function Causes({ errors }: { errors: ImportAnswer['errors'] }) {
  const causes = causesOf(errors)
  if (causes.length === errors.length) return null
  return (
    <DataTable
      caption="Errors by cause"
      rows={causes}
      rowKey={({ column, detail }) => `${column} ${detail}`}
      columns={[
        { key: 'rows', header: 'Rows', align: 'right', cell: ({ lines }) => count(lines.length) },
        {
          key: 'cause',
          header: 'Cause, with the first value',
          wraps: true,
          cell: ({ detail }) => <span style={{ overflowWrap: 'anywhere' }}>{detail}</span>,
        },
        { key: 'lines', header: 'Lines', wraps: true, cell: ({ lines }) => linesInWords(lines) },
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

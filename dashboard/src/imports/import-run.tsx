import { Alert, Anchor, Button, Group, Paper, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { mapWith } from '#contract/import-map.ts'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer, useChange, useMay } from '../api/index.ts'
import { count, counted, Failed, Heed, Loading, moment, Understood } from '../shared-ui/index.ts'
import { ImportChanges, ImportNotApplied } from './import-changes.tsx'
import { ImportErrors } from './import-errors.tsx'
import { withMeanings } from './import-map.tsx'
import { ImportMeanings } from './import-meanings.tsx'
import {
  canBeUndone,
  fieldLabel,
  type ImportAnswer,
  isBusy,
  statusWord,
  summary,
  undoSummary,
} from './import-words.ts'

const pollEveryMs = 500

/** Checks a file again. Receives a function that changes the map of the last check. */
export type Recheck = (change: (map: string) => string) => void

/** One import: its progress, then its result. */
export function ImportRun({
  importId,
  takesFocus,
  actions,
  onChoose,
  onEnded,
  onUndo,
  onClose,
}: {
  importId: number
  /** True when the user opened the import by a click. The heading then gets the focus. */
  takesFocus: boolean
  /** Renders the next actions of a finished run. */
  actions: (run: ImportAnswer) => ReactNode
  /** Checks the file again with a changed map; null for a run whose file is not at hand. */
  onChoose: (run: ImportAnswer) => Recheck | null
  onEnded: (run: ImportAnswer) => void
  onUndo: (run: ImportAnswer) => void
  onClose: () => void
}) {
  const run = useRun(importId, onEnded)
  const heading = useRef<HTMLHeadingElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per opened import
  useEffect(() => {
    if (!takesFocus) return
    heading.current?.focus({ preventScroll: true })
    heading.current?.scrollIntoView({ block: 'start' })
  }, [importId])
  const title = run.data === undefined ? `Import ${importId}` : titleOf(run.data)
  return (
    <Paper withBorder p="md" component="section" aria-label={`${title}, number ${importId}`}>
      <Stack gap="md">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <div style={{ minWidth: 0 }}>
            <Title
              order={2}
              size="h4"
              ref={heading}
              tabIndex={-1}
              style={{ outline: 'none', scrollMarginTop: 70 }}
            >
              {title}
            </Title>
            {run.data !== undefined && (
              <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {run.data.file_name} · {moment(run.data.created_at)}
                {run.data.created_by !== null && ` · ${run.data.created_by.name}`} · {statusWord(run.data)}
              </Text>
            )}
          </div>
          {(run.data === undefined || !isBusy(run.data)) && (
            <Button size="xs" variant="subtle" onClick={onClose} style={{ flex: 'none' }}>
              Close
            </Button>
          )}
        </Group>
        {run.error !== null && <Failed error={run.error} retry={() => void run.refetch()} />}
        {run.data === undefined ? (
          run.error === null && <Loading rows={3} label="Loading the import" />
        ) : run.data.status === 'running' ? (
          <Running run={run.data} />
        ) : run.data.status === 'undoing' ? (
          <Undoing run={run.data} />
        ) : (
          <Ended run={run.data} actions={actions} onChoose={onChoose} onUndo={onUndo} />
        )}
        <div role="status" style={{ position: 'absolute', left: -9999 }}>
          {run.data !== undefined && !isBusy(run.data)
            ? `${run.data.file_name}, ${statusWord(run.data)}: ${run.data.undo === null ? summary(run.data) : undoSummary(run.data.undo)}`
            : ''}
        </div>
      </Stack>
    </Paper>
  )
}

function titleOf({ status, dry_run }: ImportAnswer): string {
  if (status === 'running') return dry_run ? 'Checking the file' : 'Importing the file'
  if (status === 'undoing') return 'Undoing the import'
  return dry_run ? 'Result of the check' : 'Result of the import'
}

/** An import, polled twice per second while it runs or is being undone. */
function useRun(importId: number, onEnded: (run: ImportAnswer) => void) {
  const queries = useQueryClient()
  const asked = { params: { import_id: importId } }
  const known = queries.getQueryData<ImportAnswer>(['get-import', asked])
  const run = useAnswer('get-import', asked, {
    everyMs: known === undefined || isBusy(known) ? pollEveryMs : false,
  })
  const busyBefore = useRef<number | null>(null)
  const { data } = run
  // biome-ignore lint/correctness/useExhaustiveDependencies: called once, when the import or undo ends
  useEffect(() => {
    if (data === undefined) return
    if (busyBefore.current === data.import_id && !isBusy(data)) onEnded(data)
    busyBefore.current = isBusy(data) ? data.import_id : null
  }, [data?.import_id, data?.status])
  return run
}

function Running({ run }: { run: ImportAnswer }) {
  const stop = useChange('stop-import')
  const mayStop = useMay('member')
  const done = run.bytes_total === 0 ? 0 : Math.floor((100 * run.bytes_read) / run.bytes_total)
  const stopping = stop.isPending || stop.isSuccess
  return (
    <Stack gap="xs">
      <Progress value={done} size="lg" aria-label={`${run.dry_run ? 'Checked' : 'Imported'} so far`} />
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          {run.rows_read === 0
            ? 'Waiting to start, or reading the first rows.'
            : `${counted(run.rows_read, 'row')} read, ${done}% of the file. ${summary(run)}`}
        </Text>
        {mayStop && (
          <Button
            size="xs"
            variant="default"
            disabled={stopping}
            onClick={() => stop.mutate({ params: { import_id: run.import_id } })}
          >
            {stopping ? 'Stopping' : 'Stop'}
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {run.dry_run
          ? 'A check imports nothing. It continues when you leave this page.'
          : 'The import continues when you leave this page. If you stop it, the rows imported so far stay.'}
      </Text>
      {stop.error !== null && <Failed error={stop.error} title="Could not stop the import" />}
    </Stack>
  )
}

function Undoing({ run }: { run: ImportAnswer }) {
  const { undo } = run
  const total = undo?.rows_total ?? 0
  const done = undo?.rows_done ?? 0
  return (
    <Stack gap="xs">
      <Progress
        value={total === 0 ? 0 : Math.floor((100 * done) / total)}
        size="lg"
        aria-label="Undone so far"
      />
      <Text size="sm">
        {undo === null || done === 0
          ? 'Waiting to start, or undoing the first rows.'
          : `${count(done)} of ${counted(total, 'row')} undone. ${undoSummary(undo)}`}
      </Text>
      <Text size="sm" c="dimmed">
        The undo continues when you leave this page, and after a restart of the service. No import can start
        until the undo has finished.
      </Text>
      {run.failure !== null && (
        <Alert
          color="gray"
          variant="outline"
          style={{ background: 'var(--pending-soft)' }}
          title="The undo is waiting"
        >
          {run.failure}
        </Alert>
      )}
    </Stack>
  )
}

const warningRemedies: Readonly<Record<ImportAnswer['warnings'][number]['code'], string>> = {
  no_lost_quotes:
    'Every quote that was decided in this file was won. Add the quotes that you lost, or choose the column that says how each quote ended.',
  basis_assumed:
    'Statistics convert an amount that is not on the default basis by its fuel charge, and do not count it if no fuel charge is known.',
  no_dates:
    'If the quotes are older, add a column with their dates and import that file. To replace quotes without dates, first undo their import.',
}

/** What to do about notes that are shown before the others, unless they have choices of their own. */
const remedies: Readonly<Partial<Record<ImportAnswer['understood'][number]['code'], string>>> = {
  content: 'Look at the first values of the column above, choose the columns, and check the file again.',
  refused_rows:
    'Advice learns from the share of quotes won. Correct the refused rows first, or choose what their words mean.',
}

/** What to look at before the file is imported. */
function Notices({ run }: { run: ImportAnswer }) {
  return (
    <>
      {run.warnings.map(({ code, detail }) => (
        <Heed key={code} title={detail}>
          {warningRemedies[code]}
        </Heed>
      ))}
      {run.understood.map(({ code, detail, choices }) => {
        const remedy = choices.length > 0 ? undefined : remedies[code]
        return (
          remedy !== undefined && (
            <Heed key={detail} title={detail}>
              {remedy}
            </Heed>
          )
        )
      })}
    </>
  )
}

function Ended({
  run,
  actions,
  onChoose,
  onUndo,
}: {
  run: ImportAnswer
  actions: (run: ImportAnswer) => ReactNode
  onChoose: (run: ImportAnswer) => Recheck | null
  onUndo: (run: ImportAnswer) => void
}) {
  const recheck = onChoose(run)
  const mayUndo = useMay('admin')
  return (
    <Stack gap="md">
      {run.failure !== null && (
        <Alert
          color="gray"
          variant="outline"
          style={{ background: 'var(--pending-soft)' }}
          title={run.status === 'stopped' ? 'The import was stopped' : 'The import did not finish'}
        >
          {run.failure} {!run.dry_run && 'The rows imported so far stay, unless you undo the import.'}
        </Alert>
      )}
      {run.status === 'undone' && (
        <Alert color="gray" variant="outline" title="This import was undone">
          {run.undo !== null && undoSummary(run.undo)} The figures below describe the import before the undo.
        </Alert>
      )}
      <Notices run={run} />
      <ImportMeanings
        words={run.words}
        onChoose={recheck && ((meanings) => recheck((map) => withMeanings(map, meanings)))}
      />
      <Understood
        notes={run.understood.filter(
          ({ code, choices }) => code !== 'words' && (remedies[code] === undefined || choices.length > 0),
        )}
        onChoose={recheck && ((pair) => recheck((map) => mapWith(map, [pair])))}
      />
      <Figures run={run} />
      <Group gap="xs">
        {actions(run)}
        {!run.dry_run && run.status !== 'undone' && (
          <Button component={Link} to={pagePaths.quotes} variant="default">
            View quotes
          </Button>
        )}
        {canBeUndone(run) &&
          (mayUndo ? (
            <Button variant="default" onClick={() => onUndo(run)}>
              Undo this import
            </Button>
          ) : (
            <Text size="sm" c="dimmed">
              An admin or owner can undo this import.
            </Text>
          ))}
      </Group>
      <ImportChanges run={run} />
      <ImportNotApplied run={run} />
      <ImportErrors run={run} />
      <ColumnsRead run={run} />
    </Stack>
  )
}

function Figures({ run }: { run: ImportAnswer }) {
  const would = run.dry_run
  const figures = [
    { label: would ? 'Would be added' : 'Added', value: run.rows_added, hint: 'new quotes' },
    {
      label: would ? 'Will change' : 'Changed',
      value: run.rows_updated,
      hint: 'existing quotes with new values',
    },
    { label: 'Unchanged', value: run.rows_repeated, hint: 'rows without new values' },
    { label: 'Won', value: run.rows_won, hint: 'accepted rows' },
    { label: 'Lost', value: run.rows_lost, hint: 'accepted rows' },
    { label: 'Pending', value: run.rows_pending, hint: 'accepted rows' },
    { label: would ? 'Would be rejected' : 'Rejected', value: run.rows_refused, hint: 'rows with an error' },
    ...(run.rows_kept > 0
      ? [{ label: 'Skipped', value: run.rows_kept, hint: 'rows with only skipped values' }]
      : []),
  ]
  return (
    <SimpleGrid cols={{ base: 2, sm: 4, xl: figures.length }} spacing="sm" component="dl" m={0}>
      {figures.map(({ label, value, hint }) => (
        <div key={label} style={{ borderLeft: '3px solid var(--line)', paddingLeft: 10 }}>
          <Text component="dt" size="sm" c="dimmed">
            {label}
          </Text>
          <Text component="dd" m={0} size="xl" fw={650} lh={1.2}>
            {count(value)}
          </Text>
          <Text component="dd" m={0} size="xs" c="dimmed">
            {hint}
          </Text>
        </div>
      ))}
    </SimpleGrid>
  )
}

function ColumnsRead({ run }: { run: ImportAnswer }) {
  return (
    <details>
      <summary>Imported columns</summary>
      <ul style={{ overflowWrap: 'anywhere', fontSize: 'var(--mantine-font-size-sm)' }}>
        {Object.entries(run.columns).map(([field, column]) => (
          <li key={field}>
            {fieldLabel(field)} from <strong>{column === '' ? 'an unnamed column' : column}</strong>
          </li>
        ))}
        <li>Not imported: {run.ignored_columns.length === 0 ? 'none' : run.ignored_columns.join(', ')}</li>
      </ul>
      <Text size="sm">
        A row is one line of the file; the header is line 1.{' '}
        <Anchor href="/docs/" target="_blank" rel="noreferrer">
          Field formats
        </Anchor>
      </Text>
    </details>
  )
}

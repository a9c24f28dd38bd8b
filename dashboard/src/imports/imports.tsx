import { Alert, Button, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer, useMay } from '../api/index.ts'
import { counted, Failed, Loading, Page, useOwnAddress } from '../shared-ui/index.ts'
import { GoodFile } from './import-example.tsx'
import type { ChosenFile } from './import-file.ts'
import { ImportList } from './import-list.tsx'
import { NewImport, NotTaken, type ReadyFile, type Sending, sendingWords, useSending } from './import-new.tsx'
import { ImportRun, type Recheck } from './import-run.tsx'
import { UndoDialog } from './import-undo.tsx'
import { type ImportAnswer, isBusy } from './import-words.ts'

const pollEveryMs = 4_000
const importsListed = 200

/** Imports past quotes and bookings from a file: choose, map, check, import. Lists the past imports. */
export default function ImportPage() {
  const mayImport = useMay('member')
  const { list, running, shownId, show } = useShownImport()
  const [chosen, setChosen] = useState<ChosenFile | null>(null)
  const [checked, setChecked] = useState<Checked | null>(null)
  const [undoing, setUndoing] = useState<ImportAnswer | null>(null)
  const clicked = useRef(false)
  const queries = useQueryClient()
  const sending = useSending((run, ready) => {
    clicked.current = true
    setChecked(run.dry_run ? { importId: run.import_id, ready } : null)
    show(run.import_id)
  })
  const onChanged = useCallback(() => setChecked(null), [])
  const ended = (run: ImportAnswer) => {
    void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'match-import-columns' })
    if (!run.dry_run && run.status === 'done') setChosen(null)
  }
  return (
    <Page
      title="Import and export"
      hint="Import past quotes and bookings from a spreadsheet or another system. Advice uses them at once."
    >
      {mayImport ? (
        <NewImport
          chosen={chosen}
          onChosen={setChosen}
          sending={sending}
          busy={running}
          onChanged={onChanged}
        />
      ) : (
        <Alert color="gray" variant="outline" title="Your role is viewer">
          You can see past imports. To import a file, you need the role member, which an owner or admin can
          assign on the page People and teams.
        </Alert>
      )}
      {shownId !== null && (
        <ImportRun
          key={shownId}
          importId={shownId}
          takesFocus={clicked.current}
          onEnded={ended}
          onUndo={setUndoing}
          onClose={() => show(null)}
          onChoose={otherReading(checked, sending)}
          actions={(run) => (
            <ImportAfterCheck
              run={run}
              ready={checked?.importId === run.import_id ? checked.ready : null}
              sending={sending}
              mayImport={mayImport}
            />
          )}
        />
      )}
      <PastImports
        list={list}
        shownId={shownId}
        mayImport={mayImport}
        hasFile={chosen !== null}
        onOpen={() => {
          clicked.current = true
        }}
        onUndo={setUndoing}
      />
      <UndoDialog
        run={undoing}
        onBegun={({ import_id }) => {
          clicked.current = true
          show(import_id)
        }}
        onClose={() => setUndoing(null)}
      />
    </Page>
  )
}

interface Checked {
  readonly importId: number
  readonly ready: ReadyFile
}

/** Checks the file of a run again with a changed map; null for a run whose file is not at hand. */
function otherReading(checked: Checked | null, sending: Sending) {
  return (run: ImportAnswer) => {
    if (checked?.importId !== run.import_id || sending.isPending) return null
    const { ready } = checked
    return (change: Parameters<Recheck>[0]) => sending.send({ ...ready, map: change(ready.map) }, true)
  }
}

/** The import in the address, or else the running import, so that a reload of the page shows it again. */
function useShownImport() {
  const search = useSearch({ strict: false })
  const goOn = useOwnAddress(pagePaths.imports)
  const [isRunning, setIsRunning] = useState(false)
  const list = useAnswer('list-imports', {}, { everyMs: isRunning ? pollEveryMs : false })
  const running = list.data?.imports.find(isBusy) ?? null
  const named = /^[1-9]\d{0,9}$/.test(search.import ?? '') ? Number(search.import) : null
  const show = useCallback(
    (importId: number | null, replace = false) =>
      goOn({ search: importId === null ? {} : { import: String(importId) }, replace }),
    [goOn],
  )
  const runningId = running?.import_id ?? null
  useEffect(() => {
    setIsRunning(runningId !== null)
    if (runningId !== null && named === null) show(runningId, true)
  }, [runningId, named, show])
  return { list, running, shownId: named, show }
}

/** Imports the checked file with the same columns, after a successful check. */
function ImportAfterCheck({
  run,
  ready,
  sending,
  mayImport,
}: {
  run: ImportAnswer
  ready: ReadyFile | null
  sending: Sending
  mayImport: boolean
}) {
  if (!run.dry_run || !mayImport || run.status !== 'done') return null
  const rows = run.rows_added + run.rows_updated
  if (rows === 0) {
    return (
      <Text size="sm">
        {run.rows_refused === 0
          ? 'This file has nothing new.'
          : 'No row can be imported. Correct the file, or choose other columns.'}
      </Text>
    )
  }
  if (ready === null) {
    return (
      <Text size="sm" c="dimmed">
        This was a check, so nothing was imported. To import the file, choose it above.
      </Text>
    )
  }
  return (
    <>
      <Button loading={sending.isPending} onClick={() => sending.send(ready, false)}>
        Import {counted(rows, 'row')}
      </Button>
      <Text size="sm" c="dimmed" role="status">
        {sending.isPending
          ? sendingWords(ready.file)
          : run.rows_refused > 0
            ? `${counted(run.rows_refused, 'row')} with errors will be skipped. You can correct and import them later.`
            : 'Every row of the file is valid.'}
      </Text>
      {sending.importError !== null && <NotTaken error={sending.importError} />}
    </>
  )
}

function PastImports({
  list,
  shownId,
  mayImport,
  hasFile,
  onOpen,
  onUndo,
}: {
  list: ReturnType<typeof useShownImport>['list']
  shownId: number | null
  mayImport: boolean
  /** True when a file is selected. The description of the file format is then hidden. */
  hasFile: boolean
  onOpen: () => void
  onUndo: (run: ImportAnswer) => void
}) {
  if (list.data === undefined) {
    return list.error === null ? (
      <Loading label="Loading the imports" />
    ) : (
      <Failed error={list.error} retry={() => void list.refetch()} />
    )
  }
  const { imports } = list.data
  return (
    <Stack gap="sm" component="section" aria-label="Past imports">
      <Title order={2} size="h4">
        Past imports
      </Title>
      {imports.length === 0 ? (
        <>
          <Text size="sm" c="dimmed">
            No imports yet.
          </Text>
          {!hasFile && <GoodFile mayImport={mayImport} />}
        </>
      ) : (
        <>
          <ImportList imports={imports} shown={shownId} onOpen={onOpen} onUndo={onUndo} />
          {imports.length >= importsListed && (
            <Text size="sm" c="dimmed">
              Shows the last {importsListed} imports.
            </Text>
          )}
          <details>
            <summary>File format</summary>
            <GoodFile mayImport={mayImport} />
          </details>
        </>
      )}
    </Stack>
  )
}

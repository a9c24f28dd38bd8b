import { Alert, Button, Stack, Text, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { pagePaths } from '#contract/pages.ts'
import { useAnswer, useMay } from '../api/index.ts'
import { counted, Failed, Loading, Page } from '../shared-ui/index.ts'
import { GoodFile } from './import-example.tsx'
import type { ChosenFile } from './import-file.ts'
import { ImportList } from './import-list.tsx'
import { NewImport, NotTaken, type ReadyFile, type Sending, sendingWords, useSending } from './import-new.tsx'
import { ImportRun } from './import-run.tsx'
import { UndoDialog } from './import-undo.tsx'
import { type ImportAnswer, isBusy } from './import-words.ts'

const lookEveryMs = 4_000
const importsListed = 200

/** Past quotes and bookings from a file: choose, map, check, import; and the imports so far. */
export default function ImportPage() {
  const mayImport = useMay('member')
  const { list, running, shownId, show } = useShownImport()
  const [chosen, setChosen] = useState<ChosenFile | null>(null)
  const [checked, setChecked] = useState<{ importId: number; ready: ReadyFile } | null>(null)
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
      title="Import"
      hint="Past quotes and bookings from a spreadsheet or another system. Advice counts them at once."
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
          You can see what was imported. Importing takes the role of member: an owner or admin can give it to
          you on the Team page.
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
          actions={(run) => (
            <ImportForReal
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
        isBusy={chosen !== null}
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

/** The import that the address names, or else the one that is under way: a page that is loaded anew finds it again. */
function useShownImport() {
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const [isRunning, setIsRunning] = useState(false)
  const list = useAnswer('list-imports', {}, { everyMs: isRunning ? lookEveryMs : false })
  const running = list.data?.imports.find(isBusy) ?? null
  const named = /^[1-9]\d{0,9}$/.test(search.import ?? '') ? Number(search.import) : null
  const show = useCallback(
    (importId: number | null, replace = false) =>
      void navigate({
        to: pagePaths.imports,
        search: importId === null ? {} : { import: String(importId) },
        replace,
        resetScroll: false,
      }),
    [navigate],
  )
  const runningId = running?.import_id ?? null
  useEffect(() => {
    setIsRunning(runningId !== null)
    if (runningId !== null && named === null) show(runningId, true)
  }, [runningId, named, show])
  return { list, running, shownId: named, show }
}

/** The step after a check: the same file with the same columns, for real. */
function ImportForReal({
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
          ? 'There is nothing new in this file.'
          : 'No row can be imported as it is. Correct the file, or choose other columns.'}
      </Text>
    )
  }
  if (ready === null) {
    return (
      <Text size="sm" c="dimmed">
        This was a check: nothing was kept. To import the file, choose it above.
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
            ? `${counted(run.rows_refused, 'row')} with errors will be left out. Mended, they can be imported later.`
            : 'Every row of the file is good.'}
      </Text>
      {sending.importError !== null && <NotTaken error={sending.importError} />}
    </>
  )
}

function PastImports({
  list,
  shownId,
  mayImport,
  isBusy,
  onOpen,
  onUndo,
}: {
  list: ReturnType<typeof useShownImport>['list']
  shownId: number | null
  mayImport: boolean
  /** A file is chosen: nobody needs to be told what a file is like. */
  isBusy: boolean
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
    <Stack gap="sm" component="section" aria-label="Imports so far">
      <Title order={2} size="h4">
        Imports so far
      </Title>
      {imports.length === 0 ? (
        <>
          <Text size="sm" c="dimmed">
            Nothing was imported yet.
          </Text>
          {!isBusy && <GoodFile mayImport={mayImport} />}
        </>
      ) : (
        <>
          <ImportList imports={imports} shown={shownId} onOpen={onOpen} onUndo={onUndo} />
          {imports.length >= importsListed && (
            <Text size="sm" c="dimmed">
              The last {importsListed} imports.
            </Text>
          )}
          <details>
            <summary>What a good file has</summary>
            <GoodFile mayImport={mayImport} />
          </details>
        </>
      )}
    </Stack>
  )
}

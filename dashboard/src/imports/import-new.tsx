import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { type CallFailed, useAnswer, useChange } from '../api/index.ts'
import { Failed, Loading } from '../shared-ui/index.ts'
import { ChooseFile } from './import-choose.tsx'
import { type ChosenFile, fileSize, readChosenFile, UnfitFile } from './import-file.ts'
import { type Choice, type ChosenBases, MapColumns, mapOf } from './import-map.tsx'
import type { ImportAnswer } from './import-words.ts'

/** A file with its column map. The check and the import use the same map. */
export interface ReadyFile {
  readonly file: File
  readonly map: string
}

/** Uploads files to be checked or imported, and returns the state and errors of the last upload. */
export function useSending(onBegun: (run: ImportAnswer, ready: ReadyFile) => void) {
  const queries = useQueryClient()
  const create = useChange('create-import')
  const send = (ready: ReadyFile, dryRun: boolean) =>
    create.mutate(
      {
        query: {
          file_name: ready.file.name.slice(0, 255),
          dry_run: dryRun ? 'true' : 'false',
          map: ready.map,
        },
        body: ready.file,
      },
      {
        onSuccess: (run) => {
          queries.setQueryData(['get-import', { params: { import_id: run.import_id } }], run)
          onBegun(run, ready)
        },
        onSettled: () => void queries.invalidateQueries({ queryKey: ['list-imports'] }),
      },
    )
  const { isPending } = create
  useEffect(() => {
    if (!isPending) return
    // Leaving the page aborts the upload. After the upload, the import continues on the server.
    const keep = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', keep)
    return () => window.removeEventListener('beforeunload', keep)
  }, [isPending])
  const wasCheck = create.variables?.query?.dry_run === 'true'
  return {
    send,
    isPending,
    checkError: wasCheck ? create.error : null,
    importError: wasCheck ? null : create.error,
    forget: create.reset,
  }
}

/** The status during an upload. @example sendingWords(file) // 'Uploading 4.2 MB. Stay on this page until the upload is complete.' */
export function sendingWords(file: File): string {
  return `Uploading ${fileSize(file.size)}. Stay on this page until the upload is complete.`
}

export type Sending = ReturnType<typeof useSending>

/** The steps of a new import: choose a file, map its columns, check it. */
export function NewImport({
  chosen,
  onChosen,
  sending,
  busy,
  onChanged,
}: {
  chosen: ChosenFile | null
  onChosen: (chosen: ChosenFile | null) => void
  sending: Sending
  /** The running import or undo of the brokerage. Only one can run at a time. */
  busy: ImportAnswer | null
  /** Called when the file or the columns change, which invalidates the last check. */
  onChanged: () => void
}) {
  const [reading, setReading] = useState(false)
  const [unfit, setUnfit] = useState<string | null>(null)
  const { forget } = sending
  const take = useCallback(
    (file: File) => {
      setReading(true)
      setUnfit(null)
      forget()
      onChanged()
      readChosenFile(file)
        .then(onChosen, (error: unknown) => {
          onChosen(null)
          setUnfit(
            error instanceof UnfitFile
              ? error.message
              : 'The file could not be read. Check your connection and choose the file again.',
          )
        })
        .finally(() => setReading(false))
    },
    [forget, onChanged, onChosen],
  )
  return (
    <Stack gap="md">
      <ChooseFile
        chosen={chosen}
        busy={reading || sending.isPending}
        onFile={take}
        onClear={() => {
          onChosen(null)
          onChanged()
          forget()
        }}
      />
      {unfit !== null && (
        <Alert color="red" variant="outline" role="alert" title="This file cannot be imported">
          {unfit}
        </Alert>
      )}
      {chosen !== null && (
        <Columns
          key={`${chosen.file.name} ${chosen.file.size} ${chosen.file.lastModified}`}
          chosen={chosen}
          sending={sending}
          busy={busy}
          onChanged={onChanged}
        />
      )}
    </Stack>
  )
}

function Columns({
  chosen,
  sending,
  busy,
  onChanged,
}: {
  chosen: ChosenFile
  sending: Sending
  busy: ImportAnswer | null
  onChanged: () => void
}) {
  const headers = [...chosen.header]
  const [choices, setChoices] = useState<Choice | null>(null)
  const [bases, setBases] = useState<ChosenBases>({ basis: '', cost_basis: '' })
  const preset = useAnswer(
    'match-import-columns',
    { body: { headers } },
    { staleMs: Number.POSITIVE_INFINITY },
  )
  const choice = choices ?? preset.data?.positions ?? {}
  const map = preset.data === undefined ? '' : mapOf(preset.data.fields, choice, bases)
  const asChosen = useAnswer(
    'match-import-columns',
    { body: { headers, map } },
    { enabled: choices !== null, keeps: true, staleMs: Number.POSITIVE_INFINITY },
  )
  const match = choices === null ? preset.data : (asChosen.data ?? preset.data)
  if (preset.error !== null || match === undefined || preset.data === undefined) {
    return preset.error === null ? (
      <Loading rows={10} label="Matching the columns" />
    ) : (
      <Failed
        error={preset.error}
        retry={() => void preset.refetch()}
        title="The columns could not be matched"
      />
    )
  }
  const unmet = match.needs.filter(({ is_met, assumed }) => !is_met && assumed === null)
  const assumed = match.needs.filter((need) => !need.is_met && need.assumed !== null)
  const settled = choices === null || (!asChosen.isPlaceholderData && asChosen.data !== undefined)
  return (
    <Stack gap="md">
      <MapColumns
        chosen={chosen}
        preset={preset.data}
        choice={choice}
        unmet={unmet}
        assumed={assumed}
        ignored={match.ignored_columns}
        match={match}
        bases={bases}
        onBases={(next) => {
          setBases(next)
          onChanged()
        }}
        onChoose={(field, position) => {
          setChoices({ ...choice, [field]: position })
          onChanged()
        }}
      />
      {asChosen.error !== null && <Failed error={asChosen.error} retry={() => void asChosen.refetch()} />}
      <CheckFile
        chosen={chosen}
        sending={sending}
        isReady={settled && unmet.length === 0}
        busy={busy}
        check={() => sending.send({ file: chosen.file, map }, true)}
      />
    </Stack>
  )
}

function CheckFile({
  chosen,
  sending,
  isReady,
  busy,
  check,
}: {
  chosen: ChosenFile
  sending: Sending
  isReady: boolean
  busy: ImportAnswer | null
  check: () => void
}) {
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <Button onClick={check} loading={sending.isPending} disabled={!isReady || busy !== null}>
          Check the file
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {sending.isPending
            ? sendingWords(chosen.file)
            : busy !== null
              ? busy.status === 'undoing'
                ? 'The import below is being undone. Wait until the undo has finished.'
                : 'Only one import can run at a time. Wait until the import below has finished, or stop it.'
              : isReady
                ? 'A check reads every row and imports nothing.'
                : 'Choose the missing columns first.'}
        </Text>
      </Group>
      {sending.checkError !== null && <NotTaken error={sending.checkError} />}
    </Stack>
  )
}

/** Why an upload failed. The file stays selected. */
export function NotTaken({ error }: { error: CallFailed }) {
  return (
    <Stack gap="xs">
      <Failed
        error={error}
        title={
          error.code === 'state-conflict' ? 'Another import or undo is running' : 'The file was not accepted'
        }
      />
      {error.isTemporary && (
        <Text size="sm">The file and its columns are still selected. Try again when you are ready.</Text>
      )}
    </Stack>
  )
}

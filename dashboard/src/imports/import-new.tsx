import { Alert, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import { mapWith } from '#contract/import-map.ts'
import { refusedColumn } from '#contract/refused-column.ts'
import { type Answer, CallFailed, useAnswer, useChange, useSession } from '../api/index.ts'
import { encodingChoices, Failed, Loading } from '../shared-ui/index.ts'
import { ChooseFile } from './import-choose.tsx'
import type { Constants } from './import-constants.tsx'
import { type ChosenFile, type FileChoices, fileSize, readChosenFile, UnfitFile } from './import-file.ts'
import { type Choice, type ChosenBases, MapColumns, mapOf, withMeanings } from './import-map.tsx'
import { useSavedMeanings } from './import-meanings.tsx'
import type { ImportAnswer } from './import-words.ts'

/** A file with its column map. The check and the import use the same map. */
export interface ReadyFile {
  readonly file: File
  readonly map: string
  /** The sheet of a workbook; null for CSV text. */
  readonly sheet: string | null
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
          ...(ready.sheet === null ? {} : { sheet: ready.sheet }),
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

/** Why a file could not be read, in words. */
function whyUnfit(error: unknown): string {
  if (error instanceof UnfitFile) return error.message
  if (error instanceof CallFailed)
    return error.errors.length > 0 ? error.errors.map(({ detail }) => detail).join(' ') : error.message
  return 'The file could not be read. Check your connection and choose the file again.'
}

/** A file whose header could not be read. A person can choose the encoding if its words fit two. */
interface Unfit {
  readonly file: File
  readonly why: string
  readonly isEncoding: boolean
}

const isOfEncoding = (error: unknown) =>
  error instanceof CallFailed && error.errors.some(({ code }) => code === 'encoding')

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
  const [unfit, setUnfit] = useState<Unfit | null>(null)
  const { forget } = sending
  const take = useCallback(
    (file: File, choices: FileChoices = {}) => {
      setReading(true)
      setUnfit(null)
      forget()
      onChanged()
      readChosenFile(file, choices)
        .then(onChosen, (error: unknown) => {
          onChosen(null)
          setUnfit({ file, why: whyUnfit(error), isEncoding: isOfEncoding(error) })
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
        onSheet={(sheet) => chosen !== null && take(chosen.file, { sheet })}
        onClear={() => {
          onChosen(null)
          onChanged()
          forget()
        }}
      />
      {unfit !== null && (
        <Alert color="red" variant="outline" role="alert" title="This file cannot be imported">
          {unfit.why}
          {unfit.isEncoding && <EncodingChoice onChoose={(encoding) => take(unfit.file, { encoding })} />}
        </Alert>
      )}
      {chosen !== null && (
        <Columns
          key={`${chosen.file.name} ${chosen.file.size} ${chosen.file.lastModified} ${chosen.sheet} ${chosen.encoding}`}
          chosen={chosen}
          sending={sending}
          busy={busy}
          onChanged={onChanged}
          onEncoding={(encoding) => take(chosen.file, { encoding })}
        />
      )}
    </Stack>
  )
}

/** The encoding of a text that fits several. */
function EncodingChoice({ onChoose }: { onChoose: (encoding: string) => void }) {
  return (
    <NativeSelect
      label="Encoding"
      maw={280}
      mt="xs"
      value=""
      data={[{ value: '', label: 'Choose by the words' }, ...encodingChoices]}
      onChange={({ currentTarget: { value } }) => onChoose(value)}
    />
  )
}

interface SavedMap {
  readonly headers: string
  readonly choice: Choice
  readonly bases: ChosenBases
  /** Absent in maps that an earlier version saved. */
  readonly constants?: Constants
}

/** The number of headers whose column choice is saved: enough for all kinds of files of a brokerage. */
const savedMapsMax = 20

/** The columns that were chosen in this browser for the last file with the same header; null if none were. */
function useSavedMap(headers: readonly string[]) {
  const { tenant } = useSession()
  const [maps, setMaps] = useLocalStorage<readonly SavedMap[]>({
    key: `lanewise-import-maps-${tenant.id}`,
    defaultValue: [],
    getInitialValueInEffect: false,
  })
  // A file of refused rows has the columns of its file, and one with the reasons.
  const key = JSON.stringify(headers.filter((name) => !name.startsWith(refusedColumn)))
  const [kept] = useState(() => maps.find((map) => map.headers === key) ?? null)
  return {
    kept,
    keep: (chosen: Omit<SavedMap, 'headers'>) =>
      setMaps(
        [{ headers: key, ...chosen }, ...maps.filter((map) => map.headers !== key)].slice(0, savedMapsMax),
      ),
  }
}

/** A choice in which a column is read as a field, or left out, and as nothing else. */
function withColumn(choice: Choice, column: number, field: string | null): Choice {
  const others = Object.entries(choice).map(
    ([name, position]) => [name, position === column ? null : position] as const,
  )
  return { ...Object.fromEntries(others), ...(field === null ? {} : { [field]: column }) }
}

function SavedColumnsNote({ onForget }: { onForget: () => void }) {
  return (
    <Group gap="xs">
      <Text size="sm">The columns are those that you chose for an earlier file with this header.</Text>
      <Button size="compact-sm" variant="default" onClick={onForget}>
        Match by name instead
      </Button>
    </Group>
  )
}

/** The bases that the file itself states, as one of refused rows does. */
function statedBases(match: Answer<'match-import-columns'> | undefined): ChosenBases {
  const stated = (match?.bases ?? []).filter(({ from }) => from === 'map')
  const of = (isCost: boolean) => stated.find(({ field }) => (field === 'truck_cost') === isCost)?.basis ?? ''
  return { basis: of(false), cost_basis: of(true) }
}

/** What a person chose for the columns of a header, and how the service reads the file with it. */
function useChosenColumns(headers: string[], onChanged: () => void) {
  const { kept: keptHere, keep } = useSavedMap(headers)
  // A file of refused rows says how its import was read.
  const kept = headers.some((name) => name.startsWith(`${refusedColumn} (`)) ? null : keptHere
  const [chosen, setChosen] = useState<Partial<Omit<SavedMap, 'headers'>>>(kept ?? {})
  const preset = useAnswer(
    'match-import-columns',
    { body: { headers } },
    { staleMs: Number.POSITIVE_INFINITY },
  )
  const isChosen = chosen.choice !== undefined
  const choice = chosen.choice ?? preset.data?.positions ?? {}
  const bases = chosen.bases ?? statedBases(preset.data)
  const constants = chosen.constants ?? preset.data?.constants ?? {}
  const map = preset.data === undefined ? '' : mapOf(preset.data.fields, choice, { bases, constants })
  const asChosen = useAnswer(
    'match-import-columns',
    { body: { headers, map } },
    { enabled: isChosen, keeps: true, staleMs: Number.POSITIVE_INFINITY },
  )
  const change = (next: typeof chosen) => {
    setChosen(next)
    onChanged()
  }
  return {
    preset,
    asChosen,
    match: isChosen ? (asChosen.data ?? preset.data) : preset.data,
    isSettled: !isChosen || (!asChosen.isPlaceholderData && asChosen.data !== undefined),
    isAsSaved: kept !== null && chosen.choice === kept.choice,
    choice,
    bases,
    constants,
    map,
    save: () => isChosen && keep({ choice, bases, constants }),
    forget: () => change({}),
    onBases: (given: ChosenBases) => change({ ...chosen, bases: given }),
    onConstant: (field: string, value: string) => {
      const { [field]: _, ...others } = constants
      // The automatic match of the columns is now a choice, because the map names every field.
      change({ ...chosen, choice, constants: value === '' ? others : { ...others, [field]: value } })
    },
    onChoose: (column: number, field: string | null) =>
      change({ ...chosen, choice: withColumn(choice, column, field) }),
  }
}

function Columns({
  chosen,
  sending,
  busy,
  onChanged,
  onEncoding,
}: {
  chosen: ChosenFile
  sending: Sending
  busy: ImportAnswer | null
  onChanged: () => void
  /** The header is short: what follows can show that the text fits two encodings. */
  onEncoding: (encoding: string) => void
}) {
  const columns = useChosenColumns([...chosen.header], onChanged)
  const { preset, asChosen, match, map } = columns
  const { meanings } = useSavedMeanings()
  if (preset.error !== null) {
    const retry = () => void preset.refetch()
    return <Failed error={preset.error} retry={retry} title="The columns could not be matched" />
  }
  if (match === undefined || preset.data === undefined)
    return <Loading rows={10} label="Matching the columns" />
  const unmet = match.needs.filter(({ is_met, assumed }) => !is_met && assumed === null)
  const assumed = match.needs.filter((need) => !need.is_met && need.assumed !== null)
  const isWrong = match.problems.some(({ code }) => code === 'map')
  return (
    <Stack gap="md">
      {columns.isAsSaved && <SavedColumnsNote onForget={columns.forget} />}
      <MapColumns
        chosen={chosen}
        preset={preset.data}
        choice={columns.choice}
        unmet={unmet}
        assumed={assumed}
        match={match}
        bases={columns.bases}
        onBases={columns.onBases}
        constants={columns.constants}
        onConstant={columns.onConstant}
        onChoose={columns.onChoose}
      />
      {asChosen.error !== null && <Failed error={asChosen.error} retry={() => void asChosen.refetch()} />}
      <CheckFile
        chosen={chosen}
        sending={sending}
        isReady={columns.isSettled && unmet.length === 0 && !isWrong}
        isWrong={isWrong}
        busy={busy}
        onEncoding={onEncoding}
        check={() => {
          columns.save()
          const { file, sheet, encoding } = chosen
          const read = encoding === null ? map : mapWith(map, [`encoding=${encoding}`])
          sending.send({ file, map: withMeanings(read, meanings), sheet }, true)
        }}
      />
    </Stack>
  )
}

function CheckFile({
  chosen,
  sending,
  isReady,
  isWrong,
  busy,
  check,
  onEncoding,
}: {
  chosen: ChosenFile
  sending: Sending
  isReady: boolean
  /** Whether a value for all rows is wrong. */
  isWrong: boolean
  busy: ImportAnswer | null
  check: () => void
  onEncoding: (encoding: string) => void
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
                : isWrong
                  ? 'Correct the value for all rows first.'
                  : 'Choose the missing columns first.'}
        </Text>
      </Group>
      {sending.checkError !== null && <NotTaken error={sending.checkError} />}
      {isOfEncoding(sending.checkError) && <EncodingChoice onChoose={onEncoding} />}
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

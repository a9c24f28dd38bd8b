import { Button, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, type Query, useChange } from '../api/index.ts'
import { counted, encodingChoices, FileForm, Understood } from '../shared-ui/index.ts'

type Loaded = Answer<'load-market-file'>

const errorsShown = 10

/** Loads market rates from a file: checks it first, and saves it on request. */
export function RateFile() {
  const [file, setFile] = useState<File | null>(null)
  const [assumed, setAssumed] = useState<WholeFile>({
    source: '',
    basis: '',
    kind: 'buy',
    unit: '',
    equipment: '',
    asOf: '',
    sheet: '',
    encoding: '',
  })
  /** How parts of the file are read, in pairs such as dates=day_first. */
  const [chosen, setChosen] = useState<readonly string[]>([])
  const load = useChange('load-market-file')
  const queries = useQueryClient()
  const send = (dryRun: boolean, pairs = chosen) => {
    if (file === null) return
    const { source, basis, kind, unit, equipment, asOf, sheet, encoding } = assumed
    const map = encoding === '' ? pairs : [...pairs, `encoding=${encoding}`]
    const query: Query<'load-market-file'> = {
      ...(source.trim() === '' ? {} : { source: source.trim() }),
      ...(basis === '' ? {} : { basis: basis as 'all_in' | 'linehaul' }),
      kind: kind as 'buy' | 'sell',
      ...(unit === '' ? {} : { unit: unit as 'per_load' | 'per_mile' }),
      ...(equipment.trim() === '' ? {} : { equipment: equipment.trim() }),
      ...(asOf === '' ? {} : { as_of: asOf }),
      ...(sheet.trim() === '' ? {} : { sheet: sheet.trim() }),
      ...(map.length === 0 ? {} : { map: map.join() }),
      dry_run: dryRun ? 'true' : 'false',
    }
    load.mutate(
      { query, body: file },
      { onSuccess: () => (dryRun ? undefined : void queries.invalidateQueries()) },
    )
  }
  const changed =
    <Value,>(set: (value: Value) => void) =>
    (value: Value) => {
      load.reset()
      set(value)
    }
  const choose = (pair: string) => {
    const [name] = pair.split('=')
    const next = [...chosen.filter((one) => one.split('=')[0] !== name), pair]
    setChosen(next)
    send(true, next)
  }
  const checked = load.data
  return (
    <FileForm
      label="Load a file of market rates"
      titleOrder={2}
      hint="A CSV or Excel file (.xlsx), such as an export of DAT or Greenscreens, with the columns origin, destination, equipment and rate; also low, high, fuel, reports, miles, source, date and basis. Amounts are dollars per load, or dollars per mile if the column or you say so."
      fileLabel="File of market rates"
      file={file}
      onFile={changed((next: File | null) => {
        setFile(next)
        setChosen([])
      })}
      fields={<Assumed assumed={assumed} onChange={changed(setAssumed)} />}
      error={load.error}
      errorTitle="The file was not loaded"
      pending={load.isPending}
      action="Check the file"
      onSend={() => send(true)}
      result={checked !== undefined && <Result loaded={checked} onChoose={checked.stored ? null : choose} />}
      then={
        checked?.stored === false && checked.failed < checked.rows ? (
          <Button loading={load.isPending} onClick={() => send(false)}>
            Save {counted(checked.rows - checked.failed, 'rate')}
          </Button>
        ) : null
      }
    />
  )
}

interface WholeFile {
  readonly source: string
  readonly basis: string
  readonly kind: string
  readonly unit: string
  readonly equipment: string
  readonly asOf: string
  readonly sheet: string
  /** How text that is not UTF-8 is read. Empty: by its words; a file that fits two encodings is refused without a choice. */
  readonly encoding: string
}

/** The values for rows that do not state them. */
function Assumed({ assumed, onChange }: { assumed: WholeFile; onChange: (next: WholeFile) => void }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <TextInput
        label="Source, if the file has none"
        value={assumed.source}
        onChange={(event) => onChange({ ...assumed, source: event.currentTarget.value })}
      />
      <NativeSelect
        label="Basis, if the file has none"
        value={assumed.basis}
        onChange={(event) => onChange({ ...assumed, basis: event.currentTarget.value })}
        data={[
          { value: '', label: 'Choose' },
          { value: 'all_in', label: 'All-in: with fuel' },
          { value: 'linehaul', label: 'Linehaul: without fuel' },
        ]}
      />
      <NativeSelect
        label="Kind, if the file has none"
        value={assumed.kind}
        onChange={(event) => onChange({ ...assumed, kind: event.currentTarget.value })}
        data={[
          { value: 'buy', label: 'What carriers are paid' },
          { value: 'sell', label: 'What customers pay' },
        ]}
      />
      <NativeSelect
        label="Unit, if the file has none"
        value={assumed.unit}
        onChange={(event) => onChange({ ...assumed, unit: event.currentTarget.value })}
        data={[
          { value: '', label: 'Choose, if needed' },
          { value: 'per_load', label: 'Dollars per load' },
          { value: 'per_mile', label: 'Dollars per mile' },
        ]}
      />
      <TextInput
        label="Equipment, if the file has none"
        value={assumed.equipment}
        onChange={(event) => onChange({ ...assumed, equipment: event.currentTarget.value })}
      />
      <TextInput
        label="Date, if the file has none"
        type="date"
        value={assumed.asOf}
        onChange={(event) => onChange({ ...assumed, asOf: event.currentTarget.value })}
      />
      <TextInput
        label="Sheet of a workbook, if not the first one with rates"
        value={assumed.sheet}
        onChange={(event) => onChange({ ...assumed, sheet: event.currentTarget.value })}
      />
      <NativeSelect
        label="Encoding, if names look wrong"
        value={assumed.encoding}
        onChange={(event) => onChange({ ...assumed, encoding: event.currentTarget.value })}
        data={[{ value: '', label: 'As its words say' }, ...encodingChoices]}
      />
    </SimpleGrid>
  )
}

/** @example fieldWords('origin_state') // 'origin state' */
const fieldWords = (field: string | null) =>
  field === 'mid' ? 'the rate' : (field ?? '').replaceAll('_', ' ')

function Result({
  loaded,
  onChoose,
}: {
  loaded: Loaded
  /** Reads the file again with another choice; null after it was saved. */
  onChoose: ((map: string) => void) | null
}) {
  const read = loaded.columns.filter(({ field }) => field !== null)
  const unread = loaded.columns.filter(({ name, field }) => field === null && name !== '')
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600} role="status">
        {loaded.stored
          ? `${counted(loaded.created, 'rate')} added, ${loaded.updated} replaced, ${loaded.unchanged} unchanged, ${loaded.failed} refused.`
          : `${counted(loaded.rows - loaded.failed, 'valid rate')}, ${loaded.failed} refused. Nothing is saved yet.`}
      </Text>
      {loaded.not_used > 0 && (
        <Text size="sm">
          {counted(loaded.not_used, 'rate')} cannot be compared with your rates: too old, on the other basis,
          or not in US dollars.
        </Text>
      )}
      <Understood notes={loaded.understood} onChoose={onChoose} />
      <Text size="xs" c="dimmed">
        Columns read: {read.map(({ name, field }) => `${name} as ${fieldWords(field)}`).join(', ')}.
        {unread.length > 0 && ` Not read: ${unread.map(({ name }) => name).join(', ')}.`}
      </Text>
      {loaded.errors.length > 0 && (
        <ul style={{ margin: 0, paddingLeft: '1.2rem', fontSize: 'var(--mantine-font-size-sm)' }}>
          {loaded.errors.slice(0, errorsShown).map(({ line, detail }) => (
            <li key={`${line} ${detail}`}>
              Line {line}: {detail}
            </li>
          ))}
        </ul>
      )}
      {loaded.errors.length > errorsShown && <Text size="sm">The first {errorsShown} errors are shown.</Text>}
    </Stack>
  )
}

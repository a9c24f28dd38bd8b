import { IconAlertCircle, IconHelpCircle } from 'virtual:tabler-icons'
import { Alert, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { mapWith } from '#contract/import-map.ts'
import type { RateBasis } from '#contract/rate-basis.ts'
import { basisWords } from '#engine/rate-basis.ts'
import type { Answer } from '../api/index.ts'
import { DataTable, Heed } from '../shared-ui/index.ts'
import { type Constants, SameValues } from './import-constants.tsx'
import type { ChosenFile } from './import-file.ts'
import { columnLabel, fieldLabel } from './import-words.ts'

type Match = Answer<'match-import-columns'>
type Field = Match['fields'][number]

/** Import field -> column of the file, counted from 1; null if the field is not imported. */
export type Choice = Readonly<Record<string, number | null>>

/** What the rates and the truck costs of a file include. Empty: what the column's name states, else the default. */
export interface ChosenBases {
  readonly basis: RateBasis | ''
  readonly cost_basis: RateBasis | ''
}

/** The choice as the `map` parameter of an import. It names every field, so that the service guesses none. */
export function mapOf(
  fields: readonly Pick<Field, 'field'>[],
  choice: Choice,
  { bases, constants }: { readonly bases: ChosenBases; readonly constants: Constants },
): string {
  const columns = fields
    .map(({ field }) => {
      const position = choice[field] ?? null
      if (position !== null) return `${field}=#${position}`
      const value = constants[field]
      return value === undefined ? `${field}=` : `${field}=="${value.replaceAll('"', '""')}"`
    })
    .join(',')
  const said = Object.entries(bases).flatMap(([name, basis]) => (basis === '' ? [] : [`${name}=${basis}`]))
  return [columns, ...said].join(',')
}

/** What words of a file mean: the left side of each pair of the map, such as `outcome:Dead`, and its meaning; empty for none. */
export type Meanings = Readonly<Record<string, string>>

/** @example withMeanings('basis=all_in', { 'outcome:Dead': 'lost' }) // 'basis=all_in,outcome:Dead=lost' */
export function withMeanings(map: string, meanings: Meanings): string {
  const stated = Object.entries(meanings).filter(([, meaning]) => meaning !== '')
  return mapWith(
    map,
    stated.map(([left, meaning]) => `${left}=${meaning}`),
    Object.keys(meanings),
  )
}

interface Mapping {
  readonly chosen: ChosenFile
  /** The automatic match of the header. Its order and groups stay the same while the user changes the choice. */
  readonly preset: Match
  readonly choice: Choice
  /** Reads a field from a column, or leaves the column out. */
  readonly onChoose: (column: number, field: string | null) => void
}

const basisQuestions = [
  { name: 'basis', label: 'These rates are', fields: ['quoted_rate', 'customer_rate'] },
  { name: 'cost_basis', label: 'These truck costs are', fields: ['truck_cost'] },
] as const

/** Asks once for the basis of the file's amounts. */
function BasisQuestions({
  match,
  bases,
  onBases,
}: {
  match: Match
  bases: ChosenBases
  onBases: (bases: ChosenBases) => void
}) {
  return (
    <Group gap="lg" align="flex-start">
      {basisQuestions
        .filter(({ fields }) => fields.some((field) => match.columns[field] !== undefined))
        .map(({ name, label, fields }) => {
          const guess = match.bases.find(
            (one) => one.from === 'name' && fields.some((field) => field === one.field),
          )
          const assumed =
            guess === undefined
              ? 'the default of the brokerage'
              : `${basisWords[guess.basis]}, by the name “${shortened(match.columns[guess.field] ?? '')}”`
          return (
            <NativeSelect
              key={name}
              label={label}
              value={bases[name]}
              onChange={(event) => onBases({ ...bases, [name]: event.currentTarget.value as RateBasis | '' })}
              data={[
                { value: '', label: bases[name] === '' ? `Assumed: ${assumed}` : 'Not stated' },
                { value: 'linehaul', label: 'linehaul: without fuel and accessorials' },
                { value: 'all_in', label: 'all-in: with fuel and accessorials' },
              ]}
            />
          )
        })}
    </Group>
  )
}

/** The field that each column is read as, one row per column. */
export function MapColumns({
  assumed,
  unmet,
  match,
  bases,
  onBases,
  constants,
  onConstant,
  ...mapping
}: Mapping & {
  readonly match: Match
  readonly bases: ChosenBases
  readonly onBases: (bases: ChosenBases) => void
  readonly constants: Constants
  readonly onConstant: (field: string, value: string) => void
  /** The requirements that the current choice does not meet. */
  readonly unmet: Match['needs']
  /** The facts that no column provides, and that the import assumes. */
  readonly assumed: Match['needs']
}) {
  return (
    <Stack gap="md">
      <div aria-live="polite">{unmet.length > 0 && <StillNeeded unmet={unmet} fields={match.fields} />}</div>
      {assumed.map(({ what, any_of, assumed: words }) => (
        <Heed key={what} title={`No column has ${what}`}>
          {words} If a column has {what}, choose it as{' '}
          {any_of.map((fields) => fields.map(fieldLabel).join(' with ')).join(' or ')}.
        </Heed>
      ))}
      <StatusQuestions {...mapping} />
      <BasisQuestions match={match} bases={bases} onBases={onBases} />
      <ColumnsTable {...mapping} />
      <SameValues match={match} constants={constants} onConstant={onConstant} />
    </Stack>
  )
}

const statusQuestions: Readonly<Record<string, { readonly ask: string; readonly use: string }>> = {
  cancelled: {
    ask: 'looks like it says whether a load was cancelled. Should rows with yes be left out?',
    use: 'Leave them out',
  },
  outcome: {
    ask: 'looks like it says how each quote ended. Should it decide what was won and lost?',
    use: 'Use it as the outcome',
  },
}

/** Asks about columns that look like a status. They are never matched without an answer. */
function StatusQuestions({ preset, chosen, choice, onChoose }: Mapping) {
  const [ignored, setIgnored] = useState<ReadonlySet<number>>(new Set())
  const taken = new Set(Object.values(choice))
  const questions = preset.fields.flatMap(({ field, may_be }) => {
    const question = statusQuestions[field]
    return question === undefined || (choice[field] ?? null) !== null
      ? []
      : may_be
          .filter((column) => !taken.has(column) && !ignored.has(column))
          .map((column) => ({ field, column, ...question }))
  })
  return questions.map(({ field, column, ask, use }) => (
    <Alert
      key={column}
      color="gray"
      variant="outline"
      style={{ background: 'var(--pending-soft)' }}
      icon={<IconHelpCircle aria-hidden />}
      title={`The column “${shortened(columnLabel(chosen.header, column))}” ${ask}`}
    >
      <Samples chosen={chosen} position={column} />
      <Group gap="xs" mt={6}>
        <Button size="compact-sm" onClick={() => onChoose(column, field)}>
          {use}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => setIgnored((before) => new Set([...before, column]))}
        >
          Ignore the column
        </Button>
      </Group>
    </Alert>
  ))
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

function StillNeeded({ unmet, fields }: { unmet: Match['needs']; fields: readonly Field[] }) {
  const needed = new Set(unmet.flatMap(({ any_of }) => any_of.flat()))
  const canBeStated = fields.some(({ field, takes_constant }) => takes_constant && needed.has(field))
  return (
    <Alert
      color="gray"
      variant="outline"
      style={{ background: 'var(--pending-soft)' }}
      icon={<IconAlertCircle aria-hidden />}
      title="Choose the missing columns"
    >
      <ul style={{ margin: 0, paddingLeft: '1.2rem' }}>
        {unmet.map(({ what, any_of }) => (
          <li key={what}>
            {what}: {any_of.map((fields) => fields.map(fieldLabel).join(' with ')).join(', or ')}
          </li>
        ))}
      </ul>
      {canBeStated && 'Or write a value below that is the same for all rows.'}
    </Alert>
  )
}

interface FileColumn {
  /** The position of the column in the file, from 1. */
  readonly position: number
  readonly label: string
  /** The field that the column is read as; null if it is left out. */
  readonly field: Field | null
  /** Fields that the column may contain, and that no column provides. */
  readonly perhaps: readonly Field[]
}

function columnsOf({ preset, chosen, choice }: Mapping): FileColumn[] {
  const readFrom = new Map(Object.entries(choice).map(([field, position]) => [position, field]))
  const isFree = ({ field }: Field) =>
    (choice[field] ?? null) === null && statusQuestions[field] === undefined
  return chosen.header.map((_, index) => {
    const position = index + 1
    const name = readFrom.get(position)
    const field = preset.fields.find((one) => one.field === name) ?? null
    return {
      position,
      label: columnLabel(chosen.header, position),
      field,
      perhaps:
        field === null ? preset.fields.filter((one) => isFree(one) && one.may_be.includes(position)) : [],
    }
  })
}

function ColumnsTable(mapping: Mapping) {
  const { preset, chosen, onChoose } = mapping
  const columns = columnsOf(mapping)
  const asked = new Set(preset.needs.flatMap(({ any_of }) => any_of.flat()))
  const items = (isAsked: boolean) =>
    preset.fields
      .filter(({ field }) => asked.has(field) === isAsked)
      .map(({ field }) => ({ value: field, label: fieldLabel(field) }))
      // Typing "destination" in a list chooses the first entry that begins so.
      .sort((one, other) => one.label.localeCompare(other.label))
  const data = [
    { value: '', label: 'Not imported' },
    { group: 'Required', items: items(true) },
    { group: 'Optional', items: items(false) },
  ]
  return (
    <DataTable
      caption={`The columns of ${chosen.file.name}`}
      rows={columns}
      rowKey={({ position }) => String(position)}
      columns={[
        {
          key: 'column',
          header: 'Column of the file',
          wraps: true,
          cell: ({ label }) => (
            <Text size="sm" fw={600} title={label} style={{ overflowWrap: 'anywhere' }}>
              {shortened(label)}
            </Text>
          ),
        },
        {
          key: 'read-as',
          header: 'Read as',
          cell: (column) => (
            <>
              <NativeSelect
                size="xs"
                aria-label={`Read ${column.label} as`}
                value={column.field?.field ?? ''}
                onChange={(event) => onChoose(column.position, event.currentTarget.value || null)}
                data={data}
              />
              {column.field?.is_guessed === true && (
                <Text size="xs" c="dimmed">
                  guessed: check the values
                </Text>
              )}
              <Suggestions column={column} onChoose={onChoose} />
            </>
          ),
        },
        {
          key: 'values',
          header: 'First values',
          from: 'sm',
          wraps: true,
          cell: ({ position }) => <Samples chosen={chosen} position={position} />,
        },
      ]}
    />
  )
}

function Suggestions({
  column: { position, label, perhaps },
  onChoose,
}: Pick<Mapping, 'onChoose'> & { column: FileColumn }) {
  if (perhaps.length === 0) return null
  return (
    <Group gap={6} mt={4}>
      <IconHelpCircle size={16} aria-hidden />
      <Text size="xs">Perhaps</Text>
      {perhaps.slice(0, 3).map(({ field }) => (
        <Button
          key={field}
          size="compact-xs"
          variant="default"
          onClick={() => onChoose(position, field)}
          aria-label={`Read ${fieldLabel(field)} from ${label}`}
        >
          {fieldLabel(field)}
        </Button>
      ))}
    </Group>
  )
}

function Samples({ chosen, position }: { chosen: ChosenFile; position: number }) {
  const values = [...new Set(chosen.samples.map((cells) => cells[position - 1] ?? ''))].filter(
    (value) => value !== '',
  )
  return (
    <Text size="xs" truncate title={values.join(' · ')}>
      {values.length === 0 ? (
        <Text span c="dimmed" inherit>
          empty in the first rows
        </Text>
      ) : (
        values.slice(0, 3).map(shortened).join(' · ')
      )}
    </Text>
  )
}

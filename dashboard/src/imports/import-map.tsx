import { IconAlertCircle, IconHelpCircle } from 'virtual:tabler-icons'
import { Alert, Button, Grid, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { RateBasis } from '#contract/rate-basis.ts'
import type { Answer } from '../api/index.ts'
import { basisNames, DataTable, Heed } from '../shared-ui/index.ts'
import type { ChosenFile } from './import-file.ts'
import { columnLabel, fieldLabel } from './import-words.ts'

type Match = Answer<'match-import-columns'>
type Field = Match['fields'][number]

/** Import field -> column of the file, counted from 1; null if the field is not imported. */
export type Choice = Readonly<Record<string, number | null>>

/** What the rates and the truck costs of a file include; empty: as the name of the column says, else the default. */
export interface ChosenBases {
  readonly basis: RateBasis | ''
  readonly cost_basis: RateBasis | ''
}

/** The choice as the `map` parameter of an import. It names every field, so that the service guesses none. */
export function mapOf(fields: readonly Pick<Field, 'field'>[], choice: Choice, bases: ChosenBases): string {
  const columns = fields
    .map(({ field }) => {
      const position = choice[field] ?? null
      return `${field}=${position === null ? '' : `#${position}`}`
    })
    .join(',')
  const said = Object.entries(bases).flatMap(([name, basis]) => (basis === '' ? [] : [`${name}=${basis}`]))
  return [columns, ...said].join(',')
}

interface Mapping {
  readonly chosen: ChosenFile
  /** The automatic match of the header. Its order and groups stay the same while the user changes the choice. */
  readonly preset: Match
  readonly choice: Choice
  /** The requirements that the current choice does not meet. */
  readonly unmet: Match['needs']
  readonly onChoose: (field: string, position: number | null) => void
}

const basisQuestions = [
  { name: 'basis', label: 'These rates are', fields: ['quoted_rate', 'customer_rate'] },
  { name: 'cost_basis', label: 'These truck costs are', fields: ['truck_cost'] },
] as const

/** Asks once what the amounts of the file include. */
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
              : `${basisNames[guess.basis]}, by the name “${shortened(match.columns[guess.field] ?? '')}”`
          return (
            <NativeSelect
              key={name}
              label={label}
              value={bases[name]}
              onChange={(event) => onBases({ ...bases, [name]: event.currentTarget.value as RateBasis | '' })}
              data={[
                { value: '', label: bases[name] === '' ? `Assumed: ${assumed}` : 'Not said' },
                { value: 'linehaul', label: 'linehaul: without fuel and accessorials' },
                { value: 'all_in', label: 'all-in: with fuel and accessorials' },
              ]}
            />
          )
        })}
    </Group>
  )
}

/** Assigns columns of the file to fields, with sample values. */
export function MapColumns({
  ignored,
  assumed,
  match,
  bases,
  onBases,
  ...mapping
}: Mapping & {
  /** The match of the current choice. */
  readonly match: Match
  readonly bases: ChosenBases
  readonly onBases: (bases: ChosenBases) => void
  /** The facts that no column provides, and that the import assumes. */
  readonly assumed: Match['needs']
  readonly ignored: readonly string[]
}) {
  const { preset, unmet, chosen } = mapping
  const asked = new Set(preset.needs.flatMap(({ any_of }) => any_of.flat()))
  const groups = [
    { title: 'Required fields', fields: preset.fields.filter(({ field }) => asked.has(field)) },
    { title: 'Optional fields', fields: preset.fields.filter(({ field }) => !asked.has(field)) },
  ]
  return (
    <Stack gap="md">
      <FirstRows chosen={chosen} />
      <div aria-live="polite">{unmet.length > 0 && <StillNeeded unmet={unmet} />}</div>
      {assumed.map(({ what, any_of, assumed: words }) => (
        <Heed key={what} title={`No column holds ${what}`}>
          {words} If a column holds {what}, choose it as{' '}
          {any_of.map((fields) => fields.map(fieldLabel).join(' with ')).join(' or ')}.
        </Heed>
      ))}
      <StatusQuestions {...mapping} />
      <BasisQuestions match={match} bases={bases} onBases={onBases} />
      {groups.map(({ title, fields }) => (
        <section key={title} aria-label={title}>
          <Title order={2} size="h6" mb={4}>
            {title}
          </Title>
          {fields.map((field) => (
            <FieldRow key={field.field} field={field} {...mapping} />
          ))}
        </section>
      ))}
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {ignored.length === 0
          ? 'All named columns of the file are imported.'
          : `Columns that are not imported: ${ignored.join(', ')}.`}
      </Text>
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
        <Button size="compact-sm" onClick={() => onChoose(field, column)}>
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

interface Sample {
  readonly cells: readonly string[]
  readonly row: number
}

function FirstRows({ chosen }: { chosen: ChosenFile }) {
  return (
    <DataTable
      caption={`The first rows of ${chosen.file.name}`}
      rows={chosen.samples.map((cells, row) => ({ cells, row }))}
      rowKey={({ row }: Sample) => String(row)}
      columns={chosen.header.map((_, position) => ({
        key: String(position),
        header: shortened(columnLabel(chosen.header, position + 1)),
        cell: ({ cells }: Sample) => <span title={cells[position]}>{shortened(cells[position] ?? '')}</span>,
      }))}
    />
  )
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}

function StillNeeded({ unmet }: { unmet: Match['needs'] }) {
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
    </Alert>
  )
}

function FieldRow({ field, chosen, choice, unmet, onChoose }: Mapping & { field: Field }) {
  const { field: name, description, may_be } = field
  const position = choice[name] ?? null
  const need =
    position === null ? unmet.find(({ any_of }) => any_of.some((fields) => fields.includes(name))) : undefined
  const taken = new Set(Object.values(choice))
  const perhaps = position === null ? may_be.filter((column) => !taken.has(column)) : []
  return (
    <Grid
      gap="xs"
      align="center"
      py={6}
      px={8}
      style={{
        borderTop: '1px solid var(--line)',
        background: need !== undefined || perhaps.length > 0 ? 'var(--pending-soft)' : undefined,
      }}
    >
      <Grid.Col span={{ base: 12, sm: 5 }}>
        <Group gap={6} wrap="nowrap" align="center">
          <Text size="sm" fw={600}>
            {fieldLabel(name)}
          </Text>
          {field.is_guessed && position !== null && (
            <Text size="xs" span c="dimmed">
              guessed: check the values
            </Text>
          )}
          {need !== undefined && (
            <Text size="xs" span>
              {need.any_of.length === 1 ? 'required' : 'this or another field is required'}
            </Text>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {description}
        </Text>
      </Grid.Col>
      <Grid.Col span={{ base: 12, sm: 3 }}>
        <NativeSelect
          size="xs"
          aria-label={`Column for ${fieldLabel(name)}`}
          value={position === null ? '' : String(position)}
          onChange={(event) =>
            onChoose(name, event.currentTarget.value === '' ? null : Number(event.currentTarget.value))
          }
          data={[
            { value: '', label: 'Not in this file' },
            ...chosen.header.map((_, index) => ({
              value: String(index + 1),
              label: shortened(columnLabel(chosen.header, index + 1)),
            })),
          ]}
        />
      </Grid.Col>
      <Grid.Col span={{ base: 12, sm: 4 }}>
        {position !== null ? (
          <Samples chosen={chosen} position={position} />
        ) : (
          perhaps.length > 0 && (
            <Suggestions name={name} columns={perhaps} chosen={chosen} onChoose={onChoose} />
          )
        )}
      </Grid.Col>
    </Grid>
  )
}

function Suggestions({
  name,
  columns,
  chosen,
  onChoose,
}: Pick<Mapping, 'chosen' | 'onChoose'> & { name: string; columns: readonly number[] }) {
  return (
    <Group gap={6}>
      <IconHelpCircle size={16} aria-hidden />
      <Text size="xs">Suggested</Text>
      {columns.slice(0, 3).map((column) => (
        <Button
          key={column}
          size="compact-xs"
          variant="default"
          onClick={() => onChoose(name, column)}
          aria-label={`Read ${fieldLabel(name)} from ${columnLabel(chosen.header, column)}`}
        >
          {shortened(columnLabel(chosen.header, column))}
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

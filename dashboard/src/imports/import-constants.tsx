import { Fieldset, SimpleGrid, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Answer } from '../api/index.ts'
import { fieldLabel } from './import-words.ts'

type Match = Answer<'match-import-columns'>

/** Import field -> its value for all rows of the file. */
export type Constants = Readonly<Record<string, string>>

/** Inputs for the fields that no column serves, such as the equipment of a file about vans only. */
export function SameValues({
  match,
  constants,
  onConstant,
}: {
  /** The match of the current choice. */
  readonly match: Match
  readonly constants: Constants
  /** Sets the value of a field; an empty one removes it. */
  readonly onConstant: (field: string, value: string) => void
}) {
  const fieldsOf = (needs: Match['needs']) => new Set(needs.flatMap(({ any_of }) => any_of.flat()))
  const needed = fieldsOf(match.needs)
  const missing = fieldsOf(match.needs.filter(({ is_met }) => !is_met))
  // A field stays where it is while its value is typed.
  const [stated] = useState(constants)
  const isFirst = (field: string) =>
    missing.has(field) || stated[field] !== undefined || (needed.has(field) && constants[field] !== undefined)
  const free = match.fields
    .filter(({ field, takes_constant }) => takes_constant && match.columns[field] === undefined)
    .map(({ field }) => field)
  const first = free.filter(isFirst)
  const others = free.filter((field) => !isFirst(field))
  const inputs = (fields: readonly string[]) => (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
      {fields.map((field) => (
        <SameValue
          key={field}
          field={field}
          value={constants[field] ?? ''}
          fault={match.problems.find(({ code, column }) => code === 'map' && column === field)?.detail}
          onValue={(value) => onConstant(field, value)}
        />
      ))}
    </SimpleGrid>
  )
  return (
    <div>
      {first.length > 0 && (
        <Fieldset variant="unstyled" p={0} legend="Same value for all rows, because no column has it">
          {inputs(first)}
        </Fieldset>
      )}
      {others.length > 0 && (
        <details style={{ marginTop: 'var(--mantine-spacing-xs)' }}>
          <summary>
            Same value for all rows in {first.length > 0 ? 'other fields' : 'a field without a column'}
          </summary>
          {inputs(others)}
        </details>
      )}
    </div>
  )
}

function SameValue({
  field,
  value,
  fault,
  onValue,
}: {
  field: string
  value: string
  fault: string | undefined
  onValue: (value: string) => void
}) {
  const [typed, setTyped] = useState(value)
  // The value is checked when it is complete, and not for each letter.
  const settle = () => {
    if (typed.trim() !== value) onValue(typed.trim())
  }
  return (
    <TextInput
      label={fieldLabel(field)}
      size="xs"
      maxLength={100}
      value={typed}
      error={fault}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={settle}
      onKeyDown={(event) => {
        if (event.key === 'Enter') settle()
      }}
    />
  )
}

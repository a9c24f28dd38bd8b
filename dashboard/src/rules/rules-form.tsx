import {
  Button,
  Fieldset,
  Group,
  NativeSelect,
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
  Title,
} from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type CallFailed, useAnswer, useChange } from '../api/index.ts'
import { Failed, peopleChoices, useNotice } from '../shared-ui/index.ts'
import { fieldAt, fieldsOf, type RuleField, type RuleFields, ruleFields, ruleOf } from './rules-fields.ts'
import { RuleTest, type TestedRule, useRuleTest } from './rules-test.tsx'
import type { Rule } from './rules-words.ts'

const choices = {
  area: [
    { value: 'place', label: 'the city itself' },
    { value: 'market', label: 'the market around it' },
  ],
  rate_type: [
    { value: '', label: 'both' },
    { value: 'spot', label: 'spot' },
    { value: 'contract', label: 'contract' },
  ],
  confidence_at_most: [
    { value: '', label: 'any' },
    { value: 'none', label: 'no decided quotes' },
    { value: 'low', label: 'at most low' },
    { value: 'medium', label: 'at most medium' },
  ],
  outside: [
    { value: '', label: 'as a less specific rule says' },
    { value: 'warn', label: 'is saved with a warning' },
    { value: 'approval', label: 'needs approval' },
    { value: 'block', label: 'is refused' },
  ],
} as const

/** The two parts of the form. The fields of most rules stand in the open, all others behind a disclosure. */
const parts = [
  {
    of: '/conditions/',
    question: 'Which quotes? Leave a field empty for any.',
    usual: ['customer', 'origin', 'destination', 'equipment'],
    more: 'More conditions',
  },
  {
    of: '/terms/',
    question: 'What must their rates be? What is empty here comes from a less specific rule.',
    usual: ['minimum_margin_pct', 'minimum_margin', 'target_margin_pct', 'outside'],
    more: 'More limits',
  },
] as const satisfies readonly { usual: readonly RuleField[]; [words: string]: unknown }[]
const fieldNames = Object.keys(ruleFields) as RuleField[]
const newRule = fieldsOf(null)

function errorsOf(error: CallFailed | null): Partial<Record<RuleField, string>> {
  return Object.fromEntries(
    (error?.errors ?? []).flatMap(({ pointer = '' }) => {
      const field = fieldAt(pointer)
      return field === null ? [] : [[field, error?.fieldError(pointer)]]
    }),
  )
}

interface Choice {
  readonly value: string
  readonly label: string
}

/** The fields of a rule: its conditions and its terms. */
function RuleInputs({
  fields,
  wrong,
  people,
  teams,
  set,
}: {
  fields: RuleFields
  wrong: Partial<Record<RuleField, string>>
  people: readonly Choice[]
  teams: readonly Choice[]
  set: (name: RuleField) => (event: { currentTarget: { value: string } }) => void
}) {
  const [shown] = useState(fields)
  const listed: Readonly<Partial<Record<RuleField, readonly Choice[]>>> = {
    ...choices,
    rep_id: named(fields.rep_id, people),
    team_id: named(fields.team_id, teams),
  }
  const inputs = (names: readonly RuleField[]) => (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
      {names.map((name) => {
        const data = listed[name]
        const input = {
          label: ruleFields[name].label,
          value: fields[name],
          onChange: set(name),
          error: wrong[name],
        }
        return data === undefined ? (
          <TextInput key={name} autoComplete="off" {...input} />
        ) : (
          <NativeSelect key={name} data={data.map((one) => ({ ...one }))} {...input} />
        )
      })}
    </SimpleGrid>
  )
  return parts.map(({ of, question, usual, more }) => {
    const others = fieldNames.filter(
      (name) => ruleFields[name].at.startsWith(of) && !(usual as readonly RuleField[]).includes(name),
    )
    return (
      <Fieldset key={of} variant="unstyled" p={0} legend={question}>
        {inputs(usual)}
        <details open={others.some((name) => shown[name] !== newRule[name] || wrong[name] !== undefined)}>
          <summary style={{ marginBlock: 'var(--mantine-spacing-xs)' }}>{more}</summary>
          {inputs(others)}
        </details>
      </Fieldset>
    )
  })
}

/** The people or teams to choose from. The one of the rule may have left since. */
function named(id: string, all: readonly Choice[]): readonly Choice[] {
  const isKnown = id === '' || all.some(({ value }) => value === id)
  return [
    { value: '', label: 'any' },
    ...all,
    ...(isKnown ? [] : [{ value: id, label: `no longer here (${id})` }]),
  ]
}

/** The form of a rule, which can be tested on past quotes before it is saved. */
export function RuleForm({ rule, onDone }: { rule: Rule | null; onDone: () => void }) {
  const [fields, setFields] = useState(() => fieldsOf(rule))
  const [isOn, setOn] = useState(rule?.on ?? true)
  const [tested, setTested] = useState<TestedRule | null>(null)
  const test = useRuleTest(tested)
  const add = useChange('add-pricing-rule')
  const change = useChange('change-pricing-rule')
  const people = peopleChoices(
    (useAnswer('list-users', {}).data?.users ?? []).filter(({ status }) => status === 'active'),
  )
  const teams = (useAnswer('list-teams', {}).data?.teams ?? []).map(({ team_id, name }) => ({
    value: String(team_id),
    label: name,
  }))
  const queries = useQueryClient()
  const notify = useNotice()
  const failure = test.error ?? add.error ?? change.error
  const wrong = errorsOf(failure)
  const set = (name: RuleField) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    setFields((before) => ({ ...before, [name]: value }))
  }
  const forget = () => {
    setTested(null)
    add.reset()
    change.reset()
  }
  const saved = {
    onSuccess: () => {
      void queries.invalidateQueries()
      notify('The rule is saved.')
      onDone()
    },
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    forget()
    const body = { ...ruleOf(fields), on: isOn }
    if (rule === null) add.mutate({ body }, saved)
    else change.mutate({ params: { rule_id: rule.rule_id }, body }, saved)
  }
  const tryOut = () => {
    forget()
    setTested({ ...ruleOf(fields), ...(rule === null ? {} : { rule_id: rule.rule_id }) })
  }
  return (
    <Paper
      withBorder
      p="sm"
      component="form"
      onSubmit={save}
      aria-label={rule === null ? 'New rule' : `Rule ${rule.rule_id}`}
    >
      <Stack gap="sm">
        <Title order={2} size="h5">
          {rule === null ? 'New rule' : `Rule ${rule.rule_id}`}
        </Title>
        <RuleInputs fields={fields} wrong={wrong} people={people} teams={teams} set={set} />
        <Switch label="On" checked={isOn} onChange={(event) => setOn(event.currentTarget.checked)} />
        {failure !== null && Object.keys(wrong).length === 0 && (
          <Failed error={failure} title="Nothing was saved" />
        )}
        <Group gap="xs">
          <Button type="submit" loading={add.isPending || change.isPending}>
            Save rule
          </Button>
          <Button variant="default" onClick={tryOut} loading={test.isFetching}>
            Test on past quotes
          </Button>
          <Button variant="subtle" onClick={onDone}>
            Cancel
          </Button>
        </Group>
        {tested !== null && test.data !== undefined && <RuleTest answer={test.data} />}
      </Stack>
    </Paper>
  )
}

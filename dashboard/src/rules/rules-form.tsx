import {
  Button,
  Group,
  NativeSelect,
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  Text,
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

/** The fields whose texts are typed, in the order of the form. */
const typed = (Object.keys(ruleFields) as RuleField[]).filter(
  (name) => !(name in choices) && !/_id$/.test(name),
)
const conditionTexts = typed.filter((name) => ruleFields[name].at.startsWith('/conditions/'))
const termTexts = typed.filter((name) => !conditionTexts.includes(name))

function errorsOf(error: CallFailed | null): Partial<Record<RuleField, string>> {
  return Object.fromEntries(
    (error?.errors ?? []).flatMap(({ pointer, detail }) => {
      const field = fieldAt(pointer)
      return field === null ? [] : [[field, detail]]
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
  const texts = (names: readonly RuleField[]) =>
    names.map((name) => (
      <TextInput
        key={name}
        label={ruleFields[name].label}
        value={fields[name]}
        onChange={set(name)}
        error={wrong[name]}
        autoComplete="off"
      />
    ))
  const choice = (name: keyof typeof choices) => (
    <NativeSelect
      key={name}
      label={ruleFields[name].label}
      data={choices[name].map((one) => ({ ...one }))}
      value={fields[name]}
      onChange={set(name)}
      error={wrong[name]}
    />
  )
  const named = (name: 'rep_id' | 'team_id', all: readonly Choice[]) => (
    <NativeSelect
      label={ruleFields[name].label}
      data={[
        { value: '', label: 'any' },
        ...all,
        // The person or the team of the rule may have left since.
        ...(fields[name] === '' || all.some(({ value }) => value === fields[name])
          ? []
          : [{ value: fields[name], label: `no longer here (${fields[name]})` }]),
      ]}
      value={fields[name]}
      onChange={set(name)}
      error={wrong[name]}
    />
  )
  return (
    <>
      <Text size="sm">Which quotes? Leave a field empty for any.</Text>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        {texts(conditionTexts)}
        {named('rep_id', people)}
        {named('team_id', teams)}
        {choice('area')}
        {choice('rate_type')}
        {choice('confidence_at_most')}
      </SimpleGrid>
      <Text size="sm">What must their rates be? What is empty here comes from a less specific rule.</Text>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        {texts(termTexts)}
        {choice('outside')}
      </SimpleGrid>
    </>
  )
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

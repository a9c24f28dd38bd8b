import { Button, Checkbox, Group, Paper, Pill, Stack, Text, TextInput, Title } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { roleAtLeast } from '#contract/roles.ts'
import { customerKey } from '#engine/customer-name.ts'
import { type Answer, type Body, type CallFailed, call, useAnswer } from '../api/index.ts'
import { CustomerInput, Failed, useSentForm } from '../shared-ui/index.ts'

export type Team = Answer<'list-teams'>['teams'][number]

/** The form of a new or a changed team: its name, members and customers. */
export function TeamForm({ team, onDone }: { team: Team | null; onDone: () => void }) {
  const saving = useMutation<Answer<'add-team'>, CallFailed, Body<'add-team'>>({
    mutationFn: (body) =>
      team === null
        ? call('add-team', { body })
        : call('change-team', { params: { id: team.team_id }, body }),
  })
  const { form, submit, input, pending, failure } = useSentForm(saving, {
    fields: {
      name: team?.name ?? '',
      members: team?.members.map(({ id }) => String(id)) ?? [],
      customers: team?.customers ?? [],
      typed: '',
    },
    pointers: { members: /^\/members(\/|$)/, customers: /^\/customers(\/|$)/ },
    // A name that was typed but not added is meant, too.
    send: ({ name, members, customers, typed }) => ({
      name,
      members: members.map(Number),
      customers: withName(customers, typed),
    }),
    said: ({ name }) => `The team ${name.trim()} is saved.`,
    done: onDone,
  })
  const { customers, typed } = form.values
  const { error: wrongName, ...name } = input('name')
  const title = team === null ? 'New team' : `Team ${team.name}`
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label={title} noValidate>
      <Stack gap="sm">
        <Title order={3} size="h5" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        <TextInput
          label="Name of the team"
          maw={420}
          required
          autoComplete="off"
          {...name}
          error={wrongName?.replace(/^name: /, '')}
        />
        <MembersField {...input('members')} />
        <CustomersField
          chosen={customers}
          onChange={input('customers').onChange}
          typed={typed}
          setTyped={input('typed').onChange}
          error={form.errors.customers}
        />
        {failure('The team was not saved')}
        <Group gap="xs">
          <Button type="submit" loading={pending}>
            Save the team
          </Button>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

/** Names with another one, unless they have it in some spelling. */
function withName(names: readonly string[], typed: string): string[] {
  const key = customerKey(typed)
  return key === '' || names.some((one) => customerKey(one) === key) ? [...names] : [...names, typed.trim()]
}

function MembersField(input: GetInputPropsReturnType) {
  const people = useAnswer('list-users', {}, { staleMs: 60_000 })
  return (
    <Checkbox.Group
      label="Members"
      description="Admins and owners see all customers, also without being members."
      {...input}
    >
      <Group gap="md" mt="xs">
        {people.data?.users.map(({ id, name, role }) => (
          <Checkbox
            key={id}
            value={String(id)}
            label={roleAtLeast(role, 'admin') ? `${name} (${role})` : name}
            style={{ overflowWrap: 'anywhere' }}
          />
        ))}
      </Group>
      {people.error !== null && (
        <Failed
          error={people.error}
          title="The people could not be loaded"
          retry={() => void people.refetch()}
        />
      )}
    </Checkbox.Group>
  )
}

function CustomersField({
  chosen,
  onChange,
  typed,
  setTyped,
  error,
}: {
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  typed: string
  setTyped: (text: string) => void
  error: ReactNode
}) {
  const add = (name: string) => {
    if (name.trim() === '') return
    onChange(withName(chosen, name))
    setTyped('')
  }
  return (
    <div>
      <Group align="flex-start" gap="xs" wrap="nowrap" maw={560}>
        <div style={{ flexGrow: 1 }}>
          <CustomerInput
            label="Add a customer that only this team sees"
            value={typed}
            onChange={setTyped}
            error={error}
          />
        </div>
        <Button variant="default" mt={25} onClick={() => add(typed)}>
          Add
        </Button>
      </Group>
      {chosen.length === 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          No customers yet.
        </Text>
      ) : (
        <Group gap="xs" mt="xs" role="list" aria-label="Customers of the team">
          {chosen.map((name) => (
            <Pill
              key={name}
              size="lg"
              role="listitem"
              withRemoveButton
              removeButtonProps={{ 'aria-label': `Take ${name} out`, tabIndex: 0, 'aria-hidden': false }}
              onRemove={() => onChange(chosen.filter((one) => one !== name))}
            >
              {name}
            </Pill>
          ))}
        </Group>
      )}
    </div>
  )
}

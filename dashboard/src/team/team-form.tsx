import { Button, Checkbox, Group, Paper, Pill, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type Role, roleAtLeast } from '#contract/roles.ts'
import { customerKey } from '#engine/customer-name.ts'
import { type Answer, type CallFailed, call, useAnswer } from '../api/index.ts'
import { CustomerInput, Failed, type FormInput, peopleChoices, useSentForm } from '../shared-ui/index.ts'

export type Team = Answer<'list-teams'>['teams'][number]

/** The form of a new or a changed team: its name, members and customers. */
export function TeamForm({ team, onDone }: { team: Team | null; onDone: () => void }) {
  const save = useMutation<unknown, CallFailed, SentTeam>({
    mutationFn: (body) =>
      team === null
        ? call('add-team', { body })
        : call('change-team', { params: { id: team.team_id }, body }),
  })
  const { values, set, input, submit, failed, isPending } = useSentForm(save, {
    initial: {
      name: team?.name ?? '',
      members: team?.members.map(({ id }) => String(id)) ?? [],
      customers: team?.customers ?? [],
      typed: '',
    },
    // A customer who was typed but not added is saved, too.
    sent: ({ name, members, customers, typed }) => ({
      name,
      members: members.map(Number),
      customers: withName(customers, typed),
    }),
    saved: ({ name }) => `The team ${name.trim()} is saved.`,
    onSuccess: onDone,
  })
  const title = team === null ? 'New team' : `Team ${team.name}`
  return (
    <Paper withBorder p="md" component="form" onSubmit={submit} aria-label={title} noValidate>
      <Stack gap="sm">
        <Title order={3} size="h5" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        <TextInput label="Name of the team" maw={420} required autoComplete="off" {...input('name')} />
        <MembersField {...input('members')} />
        <CustomersField
          chosen={values.customers}
          onChange={(customers) => set('customers', customers)}
          input={{ ...input('typed'), error: input('customers').error }}
        />
        {failed && <Failed error={failed} title="The team was not saved" />}
        <Group gap="xs">
          <Button type="submit" loading={isPending}>
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

/** Adds a name to the names, unless they have it in some spelling. */
function withName(names: readonly string[], typed: string): string[] {
  const key = customerKey(typed)
  return key === '' || names.some((one) => customerKey(one) === key) ? [...names] : [...names, typed.trim()]
}

interface SentTeam {
  readonly name: string
  readonly members: number[]
  readonly customers: string[]
}

const withRole = (name: string, role: Role | undefined) =>
  role !== undefined && roleAtLeast(role, 'admin') ? `${name} (${role})` : name

function MembersField(input: FormInput<string[]>) {
  const people = useAnswer('list-users', {}, { staleMs: 60_000 })
  return (
    <Checkbox.Group
      label="Members"
      description="Admins and owners see all customers, also without being members."
      {...input}
    >
      <Group gap="md" mt="xs">
        {peopleChoices(people.data?.users ?? []).map(({ value, label }, at) => (
          <Checkbox
            key={value}
            value={value}
            label={withRole(label, people.data?.users[at]?.role)}
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
  input,
}: {
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  /** The field of a customer to add. */
  input: FormInput<string>
}) {
  const add = (name: string) => {
    if (name.trim() === '') return
    onChange(withName(chosen, name))
    input.onChange('')
  }
  return (
    <div>
      <Group align="flex-start" gap="xs" wrap="nowrap" maw={560}>
        <div style={{ flexGrow: 1 }}>
          <CustomerInput label="Add a customer that only this team sees" {...input} />
        </div>
        <Button variant="default" mt={25} onClick={() => add(input.value)}>
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

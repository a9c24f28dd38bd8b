import { Button, Checkbox, Group, Paper, Pill, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Role, roleAtLeast } from '#contract/roles.ts'
import { customerKey } from '#engine/customer-name.ts'
import { type Answer, type CallFailed, useAnswer, useChange } from '../api/index.ts'
import { CustomerInput, Failed, peopleChoices, useNotice } from '../shared-ui/index.ts'

export type Team = Answer<'list-teams'>['teams'][number]

/** The form of a new or a changed team: its name, members and customers. */
export function TeamForm({ team, onDone }: { team: Team | null; onDone: () => void }) {
  const [name, setName] = useState(team?.name ?? '')
  const [members, setMembers] = useState<readonly string[]>(team?.members.map(({ id }) => String(id)) ?? [])
  const [customers, setCustomers] = useState<readonly string[]>(team?.customers ?? [])
  const [typed, setTyped] = useState('')
  const { save, error, isPending } = useSaving(team, onDone)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // A customer who was typed but not added is saved, too.
    save({ name, members: members.map(Number), customers: withName(customers, typed) })
  }
  const wrong = {
    name: error?.fieldError('/name')?.replace(/^name: /, ''),
    members: listError(error, 'members'),
    customers: listError(error, 'customers'),
  }
  const isFieldError = Object.values(wrong).some((one) => one !== undefined)
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
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={wrong.name}
          autoComplete="off"
        />
        <MembersField chosen={members} onChange={setMembers} error={wrong.members} />
        <CustomersField
          chosen={customers}
          onChange={setCustomers}
          typed={typed}
          setTyped={setTyped}
          error={wrong.customers}
        />
        {error !== null && !isFieldError && <Failed error={error} title="The team was not saved" />}
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

/** The error of a list, or the first one of its entries. */
function listError(error: CallFailed | null, list: 'members' | 'customers'): string | undefined {
  const found = error?.errors.find(
    ({ pointer }) => pointer === `/${list}` || pointer?.startsWith(`/${list}/`),
  )
  return found?.detail
}

interface SentTeam {
  readonly name: string
  readonly members: number[]
  readonly customers: string[]
}

function useSaving(team: Team | null, onDone: () => void) {
  const add = useChange('add-team')
  const change = useChange('change-team')
  const queries = useQueryClient()
  const notify = useNotice()
  const save = (body: SentTeam) => {
    const options = {
      onSuccess: () => {
        notify(`The team ${body.name.trim()} is saved.`)
        void queries.invalidateQueries()
        onDone()
      },
    }
    if (team === null) add.mutate({ body }, options)
    else change.mutate({ params: { id: team.team_id }, body }, options)
  }
  return { save, error: add.error ?? change.error, isPending: add.isPending || change.isPending }
}

const withRole = (name: string, role: Role | undefined) =>
  role !== undefined && roleAtLeast(role, 'admin') ? `${name} (${role})` : name

function MembersField({
  chosen,
  onChange,
  error,
}: {
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  error: string | undefined
}) {
  const people = useAnswer('list-users', {}, { staleMs: 60_000 })
  return (
    <Checkbox.Group
      label="Members"
      description="Admins and owners see all customers, also without being members."
      value={[...chosen]}
      onChange={onChange}
      error={error}
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
  typed,
  setTyped,
  error,
}: {
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  typed: string
  setTyped: (text: string) => void
  error: string | undefined
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

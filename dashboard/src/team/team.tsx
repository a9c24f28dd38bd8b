import { Badge, Button, Group, NativeSelect, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Role } from '#contract/roles.ts'
import { type Answer, useAnswer, useChange, useMay, useSession } from '../api/index.ts'
import {
  type Column,
  DataTable,
  day,
  Failed,
  Loading,
  Page,
  useNameOfPerson,
  useNotice,
} from '../shared-ui/index.ts'
import { InviteDialog } from './team-invite.tsx'
import { RemoveDialog } from './team-remove.tsx'
import { roleChoices, roleMeanings } from './team-roles.ts'
import { Teams } from './teams.tsx'

type Person = Answer<'list-users'>['users'][number]

/** The people of the brokerage with their roles. Admins can invite and remove people and change roles. */
export default function TeamPage() {
  const people = useAnswer('list-users', {})
  const mayManage = useMay('admin')
  const mayMakeOwners = useMay('owner')
  const [inviting, setInviting] = useState(false)
  const [removing, setRemoving] = useState<Person | null>(null)
  return (
    <Page
      title="People and teams"
      hint={
        mayManage
          ? 'A new role takes effect with the person’s next request.'
          : 'Owners and admins invite people and set roles.'
      }
      actions={mayManage && <Button onClick={() => setInviting(true)}>Invite a person</Button>}
    >
      {people.isPending ? (
        <Loading label="Loading the team" />
      ) : people.error !== null ? (
        <Failed error={people.error} retry={() => void people.refetch()} />
      ) : (
        <PeopleTable people={people.data.users} onRemove={setRemoving} />
      )}
      {!people.isPending && <RoleMeanings />}
      {!people.isPending && <Teams />}
      <InviteDialog opened={inviting} onClose={() => setInviting(false)} mayMakeOwners={mayMakeOwners} />
      <RemoveDialog person={removing} onClose={() => setRemoving(null)} />
    </Page>
  )
}

function PeopleTable({
  people,
  onRemove,
}: {
  people: readonly Person[]
  onRemove: (person: Person) => void
}) {
  const mayManage = useMay('admin')
  const mayMakeOwners = useMay('owner')
  const { user } = useSession()
  const mayChange = (person: Person) => mayManage && (mayMakeOwners || person.role !== 'owner')
  const columns: Column<Person>[] = [
    {
      key: 'name',
      header: 'Name',
      wraps: true,
      cell: (person) => (
        <>
          <span style={{ overflowWrap: 'anywhere' }}>{person.name}</span>
          {person.id === user.id && (
            <Text span size="sm" c="dimmed">
              {' '}
              (you)
            </Text>
          )}
          <Text hiddenFrom="sm" size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {person.email}
            {person.status === 'invited' && ' · invited'}
          </Text>
        </>
      ),
    },
    {
      key: 'email',
      header: 'Email',
      from: 'sm',
      wraps: true,
      cell: ({ email }) => <span style={{ overflowWrap: 'anywhere' }}>{email}</span>,
    },
    {
      key: 'role',
      header: 'Role',
      cell: (person) =>
        mayChange(person) ? <RoleSelect person={person} mayMakeOwners={mayMakeOwners} /> : person.role,
    },
    {
      key: 'status',
      header: 'Status',
      from: 'sm',
      cell: ({ status }) =>
        status === 'invited' ? (
          <Badge variant="default" miw="max-content">
            invited
          </Badge>
        ) : (
          status
        ),
    },
    { key: 'since', header: 'Since', from: 'sm', cell: ({ created_at }) => day(created_at) },
  ]
  const actions: Column<Person> = {
    key: 'remove',
    header: 'Actions',
    cell: (person) => mayChange(person) && <RemoveButton person={person} onRemove={onRemove} />,
  }
  return (
    <DataTable
      caption="People of the brokerage"
      rows={people}
      rowKey={({ id }) => String(id)}
      columns={mayManage ? [...columns, actions] : columns}
    />
  )
}

function RemoveButton({ person, onRemove }: { person: Person; onRemove: (person: Person) => void }) {
  const nameOf = useNameOfPerson()
  return (
    <Group gap="xs">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Remove ${nameOf(person)}`}
        onClick={() => onRemove(person)}
      >
        Remove
      </Button>
    </Group>
  )
}

function RoleMeanings() {
  return (
    <Text size="sm" c="dimmed" component="div">
      Each role can also do everything that the roles above it can:
      <ul style={{ margin: 0 }}>
        {Object.entries(roleMeanings).map(([role, meaning]) => (
          <li key={role}>
            <strong>{role}</strong> {meaning}
          </li>
        ))}
      </ul>
    </Text>
  )
}

function RoleSelect({ person, mayMakeOwners }: { person: Person; mayMakeOwners: boolean }) {
  const change = useChange('update-user')
  const queries = useQueryClient()
  const notify = useNotice()
  const nameOf = useNameOfPerson()
  const choices = roleChoices(mayMakeOwners || person.role === 'owner')
  return (
    <NativeSelect
      size="xs"
      miw={104}
      aria-label={`Role of ${nameOf(person)}`}
      value={person.role}
      disabled={change.isPending}
      data={choices.map(({ value }) => value)}
      onChange={(event) =>
        change.mutate(
          { params: { id: person.id }, body: { role: event.currentTarget.value as Role } },
          {
            onSuccess: ({ name, role }) => notify(`${name} is now ${role}.`),
            onError: (error) => notify(`Not changed: ${error.message}`, { failed: true }),
            onSettled: () => {
              void queries.invalidateQueries({ queryKey: ['list-users'] })
              void queries.invalidateQueries({ queryKey: ['me'] })
            },
          },
        )
      }
    />
  )
}

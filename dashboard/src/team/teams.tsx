import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useAnswer, useChange, useMay } from '../api/index.ts'
import {
  ConfirmChange,
  CustomerLink,
  counted,
  Failed,
  Loading,
  Section,
  useNameOfPerson,
} from '../shared-ui/index.ts'
import { type Team, TeamForm } from './team-form.tsx'

const rule =
  'A customer in a team is seen and edited only by the members of its teams, and by admins and owners. A customer in no team is seen by everybody. Service tokens see all customers.'

/** Which people see which customers. Only admins see the teams. */
export function Teams() {
  const mayManage = useMay('admin')
  return (
    <Section title="Who sees which customers" hint={rule}>
      {mayManage ? (
        <TeamList />
      ) : (
        <Text size="sm">Owners and admins see the teams, and decide which customers are in one.</Text>
      )}
    </Section>
  )
}

function TeamList() {
  const { data, error, refetch } = useAnswer('list-teams', {})
  const [adds, setAdds] = useState(false)
  if (error !== null) {
    return <Failed error={error} title="The teams could not be loaded" retry={() => void refetch()} />
  }
  if (data === undefined) return <Loading label="Loading the teams" rows={2} height={60} />
  return (
    <>
      {data.teams.length === 0 && (
        <Text size="sm">There are no teams, so everybody sees and edits all customers.</Text>
      )}
      {data.teams.map((team) => (
        <TeamCard key={team.team_id} team={team} />
      ))}
      {adds ? (
        <TeamForm team={null} onDone={() => setAdds(false)} />
      ) : (
        <Group>
          <Button onClick={() => setAdds(true)}>Add a team</Button>
        </Group>
      )}
    </>
  )
}

function TeamCard({ team }: { team: Team }) {
  const [edits, setEdits] = useState(false)
  const nameOf = useNameOfPerson()
  if (edits) return <TeamForm team={team} onDone={() => setEdits(false)} />
  const { name, members, customers } = team
  return (
    <Paper withBorder p="md" component="section" aria-label={`Team ${name}`}>
      <Stack gap="xs" style={{ overflowWrap: 'anywhere' }}>
        <Group justify="space-between">
          <Title order={3} size="h5">
            {name}
          </Title>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-label={`Edit the team ${name}`}
              onClick={() => setEdits(true)}
            >
              Edit
            </Button>
            <RemoveTeam team={team} />
          </Group>
        </Group>
        <Text size="sm">
          <b>Members:</b>{' '}
          {members.length === 0
            ? 'none, so only admins and owners see its customers'
            : members.map(nameOf).join(', ')}
        </Text>
        <Text size="sm" component="div">
          <b>Customers that only they, admins and owners see:</b>{' '}
          {customers.length === 0
            ? 'none'
            : customers.map((customer, at) => (
                <span key={customer}>
                  {at > 0 && ', '}
                  <CustomerLink name={customer} />
                </span>
              ))}
        </Text>
      </Stack>
    </Paper>
  )
}

function RemoveTeam({ team: { team_id, name, customers } }: { team: Team }) {
  const [asks, setAsks] = useState(false)
  const remove = useChange('remove-team')
  return (
    <>
      <Button
        size="xs"
        variant="default"
        aria-label={`Remove the team ${name}`}
        onClick={() => setAsks(true)}
      >
        Remove
      </Button>
      <ConfirmChange
        call={remove}
        sent={asks ? { params: { id: team_id } } : null}
        said={() => `The team ${name} is removed.`}
        close={() => setAsks(false)}
        title={`Remove the team ${name}?`}
        action="Remove the team"
      >
        <Text size="sm">
          {customers.length === 0
            ? 'It has no customers, so nobody sees more or less than before.'
            : `Everybody will see its ${counted(customers.length, 'customer')}, except those that are also in another team.`}
        </Text>
      </ConfirmChange>
    </>
  )
}

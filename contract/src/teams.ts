import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { changeOf, label, recordId, text } from './fields.ts'
import { teamCustomersMax, teamMembersMax, teamsMax } from './limits.ts'

export const Team = Type.Object({
  team_id: Type.Integer(),
  name: Type.String(),
  members: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() }), {
    description:
      'People who left the brokerage are not listed. Without members, only admins see the customers',
  }),
  customers: Type.Array(Type.String(), { description: 'The names of the customers that only the team sees' }),
})

const exampleTeam = {
  team_id: 1,
  name: 'Produce',
  members: [{ id: 4, name: 'Sam Reyes' }],
  customers: ['Harvest Table Foods'],
}

const admin = { kind: 'dashboard', role: 'admin' } as const
const answer = Type.Object({ teams: Type.Array(Team) })
const examples = { answer: { teams: [exampleTeam] } }
const name = label('Name of the team, unique in the brokerage')
const members = Type.Array(recordId, {
  maxItems: teamMembersMax,
  description: 'The ids of its members. The list replaces the saved one',
  'x-expected': `a list of at most ${teamMembersMax} user ids`,
})
const customers = Type.Array(text('The name of a customer, in any spelling'), {
  maxItems: teamCustomersMax,
  description: 'The customers that only the team sees. The list replaces the saved one',
  'x-expected': `a list of at most ${teamCustomersMax} names of customers`,
})
const rule =
  'A customer in one or more teams is seen and edited only by their members, and by admins and owners. A customer in no team is seen by everybody. Service tokens see all'

export const listTeams = endpoint({
  name: 'list-teams',
  method: 'GET',
  path: '/api/teams',
  summary: 'List the teams',
  description: `${rule}.`,
  tag: 'Customers',
  who: admin,
  status: 200,
  answer,
  examples,
})

export const addTeam = endpoint({
  name: 'add-team',
  method: 'POST',
  path: '/api/teams',
  summary: 'Add a team',
  description: `At most ${teamsMax} teams. ${rule}.`,
  tag: 'Customers',
  who: admin,
  body: Type.Object({ name, members: Type.Optional(members), customers: Type.Optional(customers) }),
  status: 201,
  answer,
  examples: {
    ...examples,
    body: { name: 'Produce', members: [4], customers: ['Harvest Table Foods'] },
  },
})

const params = Type.Object({ id: recordId })

export const changeTeam = endpoint({
  name: 'change-team',
  method: 'PATCH',
  path: '/api/teams/{id}',
  summary: 'Change a team',
  description: 'Absent members do not change. An empty list removes all.',
  tag: 'Customers',
  who: admin,
  params,
  body: changeOf({
    name: Type.Optional(name),
    members: Type.Optional(members),
    customers: Type.Optional(customers),
  }),
  status: 200,
  answer,
  problems: ['not-found'],
  examples: { ...examples, body: { customers: ['Harvest Table Foods'] } },
})

export const removeTeam = endpoint({
  name: 'remove-team',
  method: 'DELETE',
  path: '/api/teams/{id}',
  summary: 'Remove a team',
  description:
    'Its customers are seen by everybody again, unless they are in another team. A team that pricing rules name is not removed: change or remove the rules first.',
  tag: 'Customers',
  who: admin,
  params,
  status: 200,
  answer,
  problems: ['not-found', 'state-conflict'],
  examples,
})

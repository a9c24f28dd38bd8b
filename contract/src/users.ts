import Type from 'typebox'
import { endpoint, roles } from './endpoint.ts'
import { changeOf, email, label, nullable, oneOf, recordId } from './fields.ts'
import { invitationsPerDayMax } from './limits.ts'

export const User = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  email: Type.String(),
  phone: nullable(Type.String({ description: 'Stands under the text for the customer' })),
  role: Type.Enum([...roles]),
  status: Type.Enum(['active', 'invited', 'removed']),
  created_at: Type.String({ format: 'date-time' }),
})

export const exampleUser = {
  id: 1,
  name: 'Ana Ortiz',
  email: 'ana@example.com',
  phone: '(312) 555-0142',
  role: 'owner',
  status: 'active',
  created_at: '2026-03-01T14:00:00.000Z',
}
export const exampleMember = {
  ...exampleUser,
  id: 4,
  name: 'Sam Reyes',
  email: 'sam@example.com',
  role: 'member',
}

export const listUsers = endpoint({
  name: 'list-users',
  method: 'GET',
  path: '/api/users',
  summary: 'List the people of the brokerage',
  description: 'All active and invited people, oldest first.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Object({ users: Type.Array(User) }),
  examples: { answer: { users: [exampleUser, exampleMember] } },
})

export const inviteUser = endpoint({
  name: 'invite-user',
  method: 'POST',
  path: '/api/users',
  summary: 'Invite a person',
  description: `Returns an invitation to give to the person. It can be used once, within 7 days. Inviting an invited person again replaces the invitation. Only an owner can invite an owner. The answer does not depend on whether another brokerage uses the e-mail address. At most ${invitationsPerDayMax} invitations per brokerage and day of UTC.`,
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  body: Type.Object({
    name: label('Their name'),
    email: email('Their e-mail address'),
    role: oneOf('Their role', roles),
  }),
  status: 201,
  answer: Type.Object({
    user: User,
    invitation: Type.String({
      description: 'Shown once. Give it to the person, who uses it to set a password.',
    }),
    expires_at: Type.String({ format: 'date-time' }),
  }),
  problems: ['email-taken', 'too-many-attempts'],
  examples: {
    body: { name: 'Sam Reyes', email: 'sam@example.com', role: 'member' },
    answer: {
      user: { ...exampleMember, status: 'invited' },
      invitation: 'lwinv_1204877211_4_...',
      expires_at: '2026-03-08T14:00:00.000Z',
    },
  },
})

export const updateUser = endpoint({
  name: 'update-user',
  method: 'PATCH',
  path: '/api/users/{id}',
  summary: 'Change a person',
  description:
    'Changes the name or the role, at least one, and returns the updated person. The change takes effect with their next request. The role of the last owner cannot be changed.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  params: Type.Object({ id: recordId }),
  body: changeOf({
    name: Type.Optional(label('Their name')),
    role: Type.Optional(oneOf('Their role', roles)),
  }),
  status: 200,
  answer: User,
  problems: ['not-found', 'last-owner'],
  examples: { body: { role: 'admin' }, answer: { ...exampleMember, role: 'admin' } },
})

export const removeUser = endpoint({
  name: 'remove-user',
  method: 'DELETE',
  path: '/api/users/{id}',
  summary: 'Remove a person',
  description:
    'Ends their sessions at once. If they have live service tokens, choose what happens to the tokens: tokens=revoke, or tokens=hand-over to transfer them to you. The last owner cannot be removed.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  params: Type.Object({ id: recordId }),
  query: Type.Object({
    tokens: Type.Optional(oneOf('What happens to their live service tokens', ['revoke', 'hand-over'])),
  }),
  status: 200,
  answer: User,
  problems: ['not-found', 'last-owner', 'tokens-to-hand-over'],
  examples: { answer: { ...exampleMember, status: 'removed' } },
})

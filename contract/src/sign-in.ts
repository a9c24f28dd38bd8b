import Type from 'typebox'
import { endpoint, roles } from './endpoint.ts'
import {
  changeOf,
  dollars,
  email,
  label,
  nullable,
  oneOf,
  recordId,
  timeZone,
  wholeNumber,
} from './fields.ts'
import {
  invitationsPerDayMax,
  passwordLengthMax,
  passwordLengthMin,
  tokenExpiryNoticeDays,
} from './limits.ts'
import { winProbabilityMethods } from './markup.ts'
import { rateBases } from './rate-basis.ts'
import { pools, rateTypes } from './rate-types.ts'

/** A new password: length limits but no composition rules (NIST SP 800-63B). The server checks the blocklist. */
function newPassword(description: string) {
  return Type.Refine(
    Type.String({
      description,
      writeOnly: true,
      minLength: passwordLengthMin,
      maxLength: passwordLengthMax,
      'x-expected': `${passwordLengthMin} to ${passwordLengthMax} characters long`,
    }),
    (value) => value.isWellFormed(),
    () => 'password',
  )
}

/**
 * A password to verify. Only its length is limited, so that a wrong password fails as a sign-in and not as
 * validation.
 */
const givenPassword = Type.String({
  maxLength: 1024,
  writeOnly: true,
  'x-expected': 'text of at most 1,024 characters',
})

export const User = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  email: Type.String(),
  role: Type.Enum([...roles]),
  status: Type.Enum(['active', 'invited', 'removed']),
  created_at: Type.String({ format: 'date-time' }),
})

/** How statistics count an expired quote: undecided, like a pending one, or lost. */
export const expiredCounts = ['pending', 'lost'] as const

export const Tenant = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  test: Type.Boolean({ description: 'true for a test brokerage' }),
  win_probability_method: Type.Enum([...winProbabilityMethods]),
  floors: Type.Object(
    {
      margin_pct: nullable(Type.Number()),
      margin: nullable(Type.Number()),
      rate_per_mile: nullable(Type.Number()),
    },
    { description: 'No rate below these floors is recommended; null means no floor' },
  ),
  time_zone: Type.String({
    description: 'The IANA time zone in which days and months of the pages and of performance begin',
  }),
  quote_expiry: Type.Object(
    {
      valid_days: nullable(Type.Integer()),
      counts_as: Type.Enum([...expiredCounts]),
    },
    {
      description:
        'valid_days: a pending quote without valid_until expires this many days after it was made; null means never. counts_as: how statistics count an expired quote',
    },
  ),
  default_basis: {
    ...Type.Enum([...rateBases]),
    description:
      'What an amount includes if its basis was not said, and the basis on which statistics compare amounts',
  },
  default_rate_type: {
    ...Type.Enum([...rateTypes]),
    description: 'Whether a quote that does not say its rate type is spot or contract',
  },
  integration_pool: {
    ...Type.Enum([...pools]),
    description:
      'The quotes that markup and lane insight of the integration interface count if a call does not say a rate type',
  },
  created_at: Type.String({ format: 'date-time' }),
})

export const Session = Type.Object({
  token: Type.String({ description: 'The dashboard JWT, valid for 12 hours' }),
  expires_at: Type.String({ format: 'date-time' }),
  user: User,
  tenant: Tenant,
})

const exampleUser = {
  id: 1,
  name: 'Ana Ortiz',
  email: 'ana@example.com',
  role: 'owner',
  status: 'active',
  created_at: '2026-03-01T14:00:00.000Z',
}
const exampleMember = { ...exampleUser, id: 4, name: 'Sam Reyes', email: 'sam@example.com', role: 'member' }
const exampleTenant = {
  id: 1204877211,
  name: 'Blue Mesa Logistics',
  test: false,
  win_probability_method: 'at_or_below',
  floors: { margin_pct: 8, margin: null, rate_per_mile: null },
  time_zone: 'America/Chicago',
  quote_expiry: { valid_days: null, counts_as: 'pending' },
  default_basis: 'all_in',
  default_rate_type: 'spot',
  integration_pool: 'all',
  created_at: '2026-03-01T14:00:00.000Z',
}
export const exampleSession = {
  token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6ImRhc2gifQ...',
  expires_at: '2026-03-02T02:00:00.000Z',
  user: exampleUser,
  tenant: exampleTenant,
}

export const signUp = endpoint({
  name: 'sign-up',
  method: 'POST',
  path: '/api/auth/sign-up',
  summary: 'Create a brokerage and its owner',
  description:
    'Creates a tenant and signs its owner in. Operators can disable sign-up with ALLOW_SIGN_UP=false.',
  tag: 'Sign-in',
  who: { kind: 'anyone' },
  body: Type.Object({
    company: label('Name of the brokerage'),
    name: label('Your name'),
    email: email('Your e-mail address'),
    password: newPassword('Your password'),
    time_zone: Type.Optional(timeZone('Time zone of the brokerage; default UTC')),
  }),
  status: 201,
  answer: Session,
  setsSession: true,
  problems: ['email-taken', 'sign-up-disabled', 'too-many-attempts'],
  examples: {
    body: {
      company: 'Blue Mesa Logistics',
      name: 'Ana Ortiz',
      email: 'ana@example.com',
      password: 'correct horse battery staple',
    },
    answer: exampleSession,
  },
})

export const signIn = endpoint({
  name: 'sign-in',
  method: 'POST',
  path: '/api/auth/sign-in',
  summary: 'Sign in',
  description: 'Returns the dashboard JWT, and sets a cookie with the same session for the browser.',
  tag: 'Sign-in',
  who: { kind: 'anyone' },
  body: Type.Object({ email: email('Your e-mail address'), password: givenPassword }),
  status: 200,
  answer: Session,
  setsSession: true,
  problems: ['sign-in-failed', 'too-many-attempts'],
  examples: {
    body: { email: 'ana@example.com', password: 'correct horse battery staple' },
    answer: exampleSession,
  },
})

const invitation = Type.String({
  maxLength: 4096,
  writeOnly: true,
  'x-expected': 'the invitation exactly as received',
})
const exampleInvitation = 'lwinv_1204877211_2_q3Zt0hWcV9Jx7sLd2mKfYbRn8uAe5gPo'

export const readInvitation = endpoint({
  name: 'read-invitation',
  method: 'POST',
  path: '/api/auth/invitation',
  summary: 'Read an invitation',
  description:
    'Returns who invites whom to which brokerage, before the invitation is accepted. Changes nothing.',
  tag: 'Sign-in',
  who: { kind: 'anyone' },
  body: Type.Object({ invitation }),
  status: 200,
  answer: Type.Object({
    brokerage: Type.String(),
    invited_by: nullable(Type.String({ description: 'The name of the person who invites' })),
    name: Type.String({ description: 'The name of the invited person' }),
    email: Type.String({ description: 'The e-mail address that the invited person signs in with' }),
    role: Type.Enum([...roles]),
    expires_at: Type.String({ format: 'date-time' }),
  }),
  problems: ['token-invalid', 'token-expired', 'too-many-attempts'],
  examples: {
    body: { invitation: exampleInvitation },
    answer: {
      brokerage: 'Blue Mesa Logistics',
      invited_by: 'Ana Ortiz',
      name: 'Sam Reyes',
      email: 'sam@example.com',
      role: 'member',
      expires_at: '2026-03-08T14:00:00.000Z',
    },
  },
})

export const acceptInvitation = endpoint({
  name: 'accept-invitation',
  method: 'POST',
  path: '/api/auth/accept-invitation',
  summary: 'Accept an invitation',
  description:
    'Sets the password of an invited person and signs them in. An invitation can be used once, within 7 days. The e-mail address is claimed now: if it signs in to another brokerage, the answer is 409 `email-taken`, and the invitation stays valid.',
  tag: 'Sign-in',
  who: { kind: 'anyone' },
  body: Type.Object({
    invitation,
    password: newPassword('Your password'),
  }),
  status: 200,
  answer: Session,
  setsSession: true,
  problems: ['token-invalid', 'token-expired', 'email-taken', 'too-many-attempts'],
  examples: {
    body: {
      invitation: exampleInvitation,
      password: 'seven quiet trucks at dawn',
    },
    answer: { ...exampleSession, user: exampleMember },
  },
})

export const signOut = endpoint({
  name: 'sign-out',
  method: 'POST',
  path: '/api/auth/sign-out',
  summary: 'Sign out',
  description:
    'Ends this session, or with everywhere=true all sessions of the person. Service tokens remain valid, unless tokens=revoke is also sent.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  body: Type.Object({
    everywhere: Type.Optional(Type.Boolean({ 'x-expected': 'true or false' })),
    tokens: Type.Optional(
      oneOf('With everywhere=true: also revoke the live service tokens of the person', ['revoke']),
    ),
  }),
  status: 200,
  answer: Type.Object({ status: Type.Literal('ok') }),
  setsSession: true,
  examples: { body: { everywhere: true }, answer: { status: 'ok' } },
})

export const sessionToken = endpoint({
  name: 'session-token',
  method: 'POST',
  path: '/api/auth/session-token',
  summary: 'A short-lived token for this session',
  description:
    'A dashboard JWT of the current session, for addresses that do not accept the cookie. It is valid for 5 minutes, but not longer than the credential of this request, and ends with the session.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  body: Type.Object({}),
  status: 200,
  answer: Type.Object({
    token: Type.String({ description: 'The dashboard JWT; keep it in memory only' }),
    expires_at: Type.String({ format: 'date-time' }),
  }),
  examples: { body: {}, answer: { token: exampleSession.token, expires_at: '2026-03-01T14:05:00.000Z' } },
})

export const me = endpoint({
  name: 'me',
  method: 'GET',
  path: '/api/me',
  summary: 'The signed-in person',
  description: 'The person that the token belongs to, their brokerage, and the end of the session.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Type.Object({
    user: User,
    tenant: Tenant,
    expires_at: Type.String({ format: 'date-time' }),
    expiring_tokens: Type.Array(
      Type.Object({
        id: recordId,
        name: Type.String(),
        expires_at: Type.String({ format: 'date-time' }),
      }),
      {
        description: `Service tokens that expire within ${tokenExpiryNoticeDays} days, soonest first. Only for admins and owners; empty for other roles`,
      },
    ),
  }),
  examples: {
    answer: {
      user: exampleUser,
      tenant: exampleTenant,
      expires_at: exampleSession.expires_at,
      expiring_tokens: [{ id: 12, name: 'TMS', expires_at: '2026-12-05T09:30:00.000Z' }],
    },
  },
})

export const changePassword = endpoint({
  name: 'change-password',
  method: 'POST',
  path: '/api/auth/password',
  summary: 'Change your password',
  description: 'Requires the current password. All other sessions of the person end.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  body: Type.Object({ current_password: givenPassword, new_password: newPassword('The new password') }),
  status: 200,
  answer: Type.Object({ status: Type.Literal('ok') }),
  problems: ['sign-in-failed', 'too-many-attempts'],
  examples: {
    body: {
      current_password: 'correct horse battery staple',
      new_password: 'seven quiet trucks at dawn',
    },
    answer: { status: 'ok' },
  },
})

export const updateTenant = endpoint({
  name: 'update-tenant',
  method: 'PATCH',
  path: '/api/tenant',
  summary: 'Change the settings of the brokerage',
  description:
    'Changes the given members, at least one: the name, how win_probability is computed, the floors for recommended rates, when quotes expire, the default basis of rates and costs, whether quotes are spot or contract if they do not say so, which quotes the integration interface counts, and the time zone. Returns the updated brokerage.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  body: changeOf({
    name: Type.Optional(label('Name of the brokerage')),
    win_probability_method: Type.Optional(oneOf('How win_probability is computed', winProbabilityMethods)),
    floors: Type.Optional(
      Type.Object(
        {
          margin_pct: Type.Optional(
            Type.Number({
              description: 'Minimum margin as a percentage of the rate; 0 means no floor',
              minimum: 0,
              maximum: 90,
              'x-expected': 'a number of percent from 0 to 90',
            }),
          ),
          margin: Type.Optional(dollars('Minimum margin per load in dollars; 0 means no floor')),
          rate_per_mile: Type.Optional(dollars('Minimum rate per loaded mile in dollars; 0 means no floor')),
        },
        { description: 'Floors for recommended rates. An absent floor does not change' },
      ),
    ),
    time_zone: Type.Optional(timeZone('Time zone in which days and months begin')),
    quote_expiry: Type.Optional(
      Type.Object(
        {
          valid_days: Type.Optional(
            wholeNumber(
              'Days after which a pending quote without valid_until expires; 0 means never',
              0,
              365,
            ),
          ),
          counts_as: Type.Optional(oneOf('How statistics count an expired quote', expiredCounts)),
        },
        { description: 'When quotes expire, and what that means. An absent member does not change' },
      ),
    ),
    default_basis: Type.Optional(
      oneOf(
        'What an amount includes if its basis was not said, and the basis on which statistics compare amounts. A change does not change stored amounts; an amount whose basis was said is converted to the new default',
        rateBases,
      ),
    ),
    default_rate_type: Type.Optional(
      oneOf(
        'Whether a quote that does not say its rate type is spot or contract. A change applies to stored quotes, too',
        rateTypes,
      ),
    ),
    integration_pool: Type.Optional(
      oneOf(
        'The quotes that markup and lane insight of the integration interface count if a call does not say a rate type',
        pools,
      ),
    ),
  }),
  status: 200,
  answer: Tenant,
  examples: {
    body: { win_probability_method: 'at_or_below', floors: { margin_pct: 8 } },
    answer: exampleTenant,
  },
})

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

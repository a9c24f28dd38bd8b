import Type from 'typebox'
import { exampleTenant, Tenant } from './brokerage-settings.ts'
import { endpoint, roles } from './endpoint.ts'
import { email, label, nullable, oneOf, phone, recordId, timeZone } from './fields.ts'
import { passwordLengthMax, passwordLengthMin, tokenExpiryNoticeDays } from './limits.ts'
import { exampleMember, exampleUser, User } from './users.ts'

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

export const Session = Type.Object({
  token: Type.String({ description: 'The dashboard JWT, valid for 12 hours' }),
  expires_at: Type.String({ format: 'date-time' }),
  user: User,
  tenant: Tenant,
})

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
    token: Type.String({ description: 'The dashboard JWT; hold it in memory only' }),
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

export const changeMe = endpoint({
  name: 'change-me',
  method: 'PATCH',
  path: '/api/me',
  summary: 'Change your profile',
  description:
    'Changes the phone number that stands under your texts for customers, and returns the updated person. Empty text removes it.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  body: Type.Object({ phone: phone('Your phone number, or empty text') }),
  status: 200,
  answer: User,
  examples: { body: { phone: exampleUser.phone }, answer: exampleUser },
})

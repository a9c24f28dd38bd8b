import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, recordId } from './fields.ts'
import { knownNetworkDays } from './limits.ts'

const sessionId = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  'x-expected': 'the id of a session, as it stands in the list of sessions',
})

/** A session as its person and the admins see it. Nobody can sign in with its id. */
export const SignedInSession = Type.Object({
  id: Type.String(),
  device: nullable(
    Type.String({
      description: 'The browser and the system, as they named themselves. null: from an earlier version',
    }),
  ),
  network: nullable(
    Type.String({ description: 'The network of the last use: an IPv4 address or an IPv6 /64' }),
  ),
  new_device: Type.Boolean({
    description: `The person had not signed in from such a device within ${knownNetworkDays} days`,
  }),
  new_network: Type.Boolean({
    description: `The person had not signed in from this network within ${knownNetworkDays} days`,
  }),
  created_at: Type.String({ format: 'date-time' }),
  last_used_at: nullable(Type.String({ format: 'date-time', description: 'To the minute' })),
  expires_at: Type.String({
    format: 'date-time',
    description: 'The latest end. Without use, it may end sooner: see session_limits of the brokerage',
  }),
  assistant: nullable(
    Type.String({
      description: 'What an assistant that acts as the person calls itself. null: a browser or a program',
    }),
  ),
  current: Type.Boolean({ description: 'true for the session of this request' }),
})

const exampleSignedIn = {
  id: '6f1d0c0e-3c2b-4d1a-9a57-0d8c1f3b2e44',
  device: 'Chrome on Windows',
  network: '203.0.113.9',
  new_device: false,
  new_network: true,
  created_at: '2026-03-01T14:00:00.000Z',
  last_used_at: '2026-03-01T15:10:00.000Z',
  expires_at: '2026-03-02T02:00:00.000Z',
  assistant: null,
  current: true,
}

const Sessions = Type.Object({ sessions: Type.Array(SignedInSession) })
const exampleSessions = { sessions: [exampleSignedIn] }
const Ended = Type.Object({ ended: Type.Integer({ description: 'The sessions that ended' }) })

export const listSessions = endpoint({
  name: 'list-sessions',
  method: 'GET',
  path: '/api/sessions',
  summary: 'List your sessions',
  description: 'The sessions in which you are signed in, newest first.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  status: 200,
  answer: Sessions,
  examples: { answer: exampleSessions },
})

export const endSession = endpoint({
  name: 'end-session',
  method: 'DELETE',
  path: '/api/sessions/{id}',
  summary: 'End one of your sessions',
  description: 'The next request of that session is refused, on every instance.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  params: Type.Object({ id: sessionId }),
  status: 200,
  answer: Ended,
  problems: ['not-found'],
  examples: { answer: { ended: 1 } },
})

export const endOtherSessions = endpoint({
  name: 'end-other-sessions',
  method: 'POST',
  path: '/api/auth/end-other-sessions',
  summary: 'End all your other sessions',
  description:
    'Ends every session of yours except the one of this request, also those in the test brokerage. Service tokens remain valid.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  body: Type.Object({}),
  status: 200,
  answer: Ended,
  examples: { body: {}, answer: { ended: 2 } },
})

export const confirmSession = endpoint({
  name: 'confirm-session',
  method: 'POST',
  path: '/api/sessions/{id}/confirm',
  summary: 'Say that a sign-in was yours',
  description:
    'Removes a sign-in from a new device or network from new_sign_ins of /api/me. A session cannot confirm itself, so that an intruder cannot hide it.',
  tag: 'Sign-in',
  who: { kind: 'dashboard', role: 'viewer' },
  params: Type.Object({ id: sessionId }),
  body: Type.Object({}),
  status: 200,
  answer: Type.Object({ status: Type.Literal('ok') }),
  problems: ['not-found', 'state-conflict'],
  examples: { body: {}, answer: { status: 'ok' } },
})

export const listSessionsOf = endpoint({
  name: 'list-user-sessions',
  method: 'GET',
  path: '/api/users/{id}/sessions',
  summary: "List a person's sessions",
  description: 'The sessions in which a person of the brokerage is signed in, newest first.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  params: Type.Object({ id: recordId }),
  status: 200,
  answer: Type.Object({
    sessions: Type.Array(SignedInSession),
    second_factor: Type.Boolean({ description: 'The person has a second factor' }),
  }),
  problems: ['not-found'],
  examples: { answer: { ...exampleSessions, second_factor: true } },
})

export const endSessionsOf = endpoint({
  name: 'end-user-sessions',
  method: 'DELETE',
  path: '/api/users/{id}/sessions',
  summary: "End a person's sessions",
  description:
    'Ends all sessions of a person, except the one of this request. Their next request is refused, on every instance. They can sign in again. Only an owner can end the sessions of an owner.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  params: Type.Object({ id: recordId }),
  status: 200,
  answer: Ended,
  problems: ['not-found'],
  examples: { answer: { ended: 1 } },
})

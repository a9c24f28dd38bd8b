import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable } from './fields.ts'
import { exampleSession, Session } from './sign-in.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const
const tag = 'Test brokerage'

export const Sandbox = Type.Object({
  id: Type.Integer({ description: 'The tenant id in its tokens' }),
  name: Type.String(),
  test: Type.Literal(true),
  created_at: Type.String({ format: 'date-time' }),
})

const exampleSandbox = {
  id: 1_730_224_118,
  name: 'Blue Mesa Logistics (test)',
  test: true,
  created_at: '2026-03-01T14:00:00.000Z',
} as const

export const getSandbox = endpoint({
  name: 'get-sandbox',
  method: 'GET',
  path: '/api/sandbox',
  summary: 'The test brokerage',
  description: 'The test brokerage of the brokerage, or null. In the test brokerage: itself.',
  tag,
  who: admin,
  status: 200,
  answer: Type.Object({ sandbox: nullable(Sandbox) }),
  examples: { answer: { sandbox: exampleSandbox } },
})

export const createSandbox = endpoint({
  name: 'create-sandbox',
  method: 'POST',
  path: '/api/sandbox',
  summary: 'Create the test brokerage',
  description:
    'Creates a brokerage for tests, with its own data, tokens, secrets and rate limit. It runs the same code, and nothing in it is real. A brokerage has at most one: if it exists already, it is returned unchanged.',
  tag,
  who: admin,
  status: 201,
  answer: Sandbox,
  problems: ['state-conflict'],
  examples: { answer: exampleSandbox },
})

export const enterSandbox = endpoint({
  name: 'enter-sandbox',
  method: 'POST',
  path: '/api/sandbox/session',
  summary: 'Sign in to the test brokerage',
  description:
    'Starts a session of the caller in the test brokerage, which lasts an hour. With its token, an admin creates test tokens and secrets there, and uses every other operation. In a browser it replaces the session; sign in again to return.',
  tag,
  who: admin,
  status: 201,
  answer: Session,
  setsSession: true,
  problems: ['not-found', 'state-conflict'],
  examples: {
    answer: {
      ...exampleSession,
      tenant: { ...exampleSession.tenant, id: exampleSandbox.id, name: exampleSandbox.name, test: true },
    },
  },
})

export const resetSandbox = endpoint({
  name: 'reset-sandbox',
  method: 'POST',
  path: '/api/sandbox/reset',
  summary: 'Reset the test brokerage',
  description:
    'Erases all quotes, bookings, imports, events and logged calls of the test brokerage. Its tokens, secrets, event addresses, settings and audit log are kept, so that a connected system can start again at once. Sending it again is safe.',
  tag,
  who: admin,
  status: 200,
  answer: Type.Object({ ...Sandbox.properties, rows_erased: Type.Integer() }),
  problems: ['not-found', 'state-conflict'],
  examples: { answer: { ...exampleSandbox, rows_erased: 12_254 } },
})

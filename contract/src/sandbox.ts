import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { exampleSession, Session } from './sign-in.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const
const tag = 'Test brokerage'

export const enterSandbox = endpoint({
  name: 'enter-sandbox',
  method: 'POST',
  path: '/api/sandbox/session',
  summary: 'Sign in to the test brokerage',
  description:
    'Starts a session of the caller in the test brokerage, which lasts an hour. The first call creates the test brokerage: a brokerage like any other, with its own data, tokens, secrets and rate limit, in which nothing is real. With the token of the session, an admin uses every other operation there. In a browser it replaces the session; sign in again to return.',
  tag,
  who: admin,
  status: 201,
  answer: Session,
  setsSession: true,
  problems: ['state-conflict'],
  examples: {
    answer: {
      ...exampleSession,
      tenant: {
        ...exampleSession.tenant,
        id: 1_730_224_118,
        name: `${exampleSession.tenant.name} (test)`,
        test: true,
      },
    },
  },
})

export const resetSandbox = endpoint({
  name: 'reset-sandbox',
  method: 'POST',
  path: '/api/sandbox/reset',
  summary: 'Reset the test brokerage',
  description:
    'In the test brokerage only: erases all quotes, bookings, imports, events and logged calls. Its tokens, secrets, event addresses, settings and audit log are kept, so that a connected system can start again at once. Sending it again is safe.',
  tag,
  who: admin,
  status: 200,
  answer: Type.Object({ rows_erased: Type.Integer() }),
  problems: ['state-conflict'],
  examples: { answer: { rows_erased: 12_254 } },
})

import Type from 'typebox'
import { auditGroups, auditKinds } from './audit-kinds.ts'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, recordId, time, wholeNumber } from './fields.ts'
import { pageSizeDefault, pageSizeMax } from './limits.ts'

/** A person as a row names them: by the name they have now. */
export const Person = Type.Object({ id: Type.Integer(), name: nullable(Type.String()) })

export const AuditEvent = Type.Object({
  event_id: Type.Integer({ description: 'Counts up by one in the order in which rows were written' }),
  at: Type.String({ format: 'date-time' }),
  kind: Type.String({ description: 'What happened; the kinds are those of the parameter kind' }),
  done_by: {
    ...nullable(Person),
    description:
      'Who did it; null for the operator of the service, and where nobody proved who they were, as at a failed sign-in',
  },
  done_to: { ...nullable(Person), description: 'The person it was done to' },
  token: {
    ...nullable(Type.Object({ id: Type.Integer(), name: nullable(Type.String()) })),
    description: 'The service token it was done with',
  },
  about: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What else is known of it, such as the name of a new token or the old and the new role',
  }),
  count: Type.Integer({
    description:
      'How many times it happened: more than 1 only for refusals, of which one row stands for all of a kind within a minute or more; the rest of the row is then of the first of them',
  }),
  network: nullable(Type.String({ description: 'Where it came from: an IPv4 address or an IPv6 /64' })),
  request_id: nullable(Type.String()),
  hash: Type.String({
    description:
      'SHA-256 over the hash of the row before it and this row, in hex: npm run verify-audit checks it',
  }),
})

const auditFilters = {
  kind: Type.Optional(oneOf('Only rows of this kind', [...auditKinds])),
  group: Type.Optional(
    oneOf('Only rows of this subject; refusals are requests that were turned away', [...auditGroups]),
  ),
  user_id: Type.Optional({
    ...recordId,
    description: 'Only rows that this person did or that were done to them',
  }),
  from: Type.Optional(time('Only rows of this time or after')),
  to: Type.Optional(time('Only rows before this time')),
}

export const listAuditEvents = endpoint({
  name: 'list-audit-events',
  method: 'GET',
  path: '/api/audit',
  summary: 'The audit log of the brokerage',
  description:
    'Sign-ins, people, tokens, secrets, settings, rollbacks and refusals, newest first. Rows are never changed or deleted, and each carries the hash of the one before it. What is done to a lane is in the changes of the lane. Of refused requests the first of a kind is listed at once; further ones are counted, and are one row after a minute, and after twice the time before for as long as they go on, an hour at most.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  query: Type.Object({
    ...auditFilters,
    cursor: Type.Optional(
      Type.String({
        description: 'next_cursor of the page before',
        maxLength: 200,
        'x-expected': 'the next_cursor of the page before',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Rows a page; ${pageSizeDefault} when absent`, 1, pageSizeMax)),
  }),
  status: 200,
  answer: Type.Object({
    events: Type.Array(AuditEvent),
    next_cursor: nullable(Type.String()),
    newest: {
      ...nullable(
        Type.Object({
          event_id: Type.Integer(),
          at: Type.String({ format: 'date-time' }),
          hash: Type.String(),
        }),
      ),
      description:
        'The newest row of the whole log, whatever was asked for. Noted down elsewhere it shows later whether rows up to it were changed or cut off; event_id is how many rows there are',
    },
  }),
  examples: {
    query: { kind: 'role-changed' },
    answer: {
      events: [
        {
          event_id: 418,
          at: '2026-03-01T14:00:00.250Z',
          kind: 'role-changed',
          done_by: { id: 1, name: 'Ana Ortiz' },
          done_to: { id: 4, name: 'Sam Reyes' },
          token: null,
          about: { from: 'member', to: 'admin' },
          count: 1,
          network: '192.0.2.7',
          request_id: '5f0c1c7e-8f0f-4c39-9a2e-6f3d1b1f8c11',
          hash: '9d2f6c0f0c8f4a2cbb5e53a0a3a86f6d2f2dfd1a3a1dc1fb3c3f0b0f35e7a1c4',
        },
      ],
      next_cursor: null,
      newest: {
        event_id: 420,
        at: '2026-03-01T15:10:00.000Z',
        hash: '4b1f0f8f2f0f2c8a7d6e5b4c3a29181706f5e4d3c2b1a09f8e7d6c5b4a392817',
      },
    },
  },
})

export const exportAuditEvents = endpoint({
  name: 'export-audit-events',
  method: 'GET',
  path: '/api/audit/export',
  summary: 'The audit log as a CSV file',
  description:
    'All rows of the selection, newest first, however many. A cell that a spreadsheet would read as a formula begins with an apostrophe.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  query: Type.Object(auditFilters),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({ description: 'A header line, then a line an event; UTF-8 with its mark' }),
  examples: {
    answer:
      '\uFEFFEvent,At,Kind,Done by,"Done by, id"\r\n418,2026-03-01T14:00:00.250Z,role-changed,Ana Ortiz,1\r\n',
  },
})

import Type from 'typebox'
import { auditGroups, auditKinds } from './audit-kinds.ts'
import { endpoint } from './endpoint.ts'
import { nullable, oneOf, recordId, time, wholeNumber } from './fields.ts'
import { pageSizeDefault, pageSizeMax } from './limits.ts'

/** A person in an audit row, with their current name. */
export const Person = Type.Object({ id: Type.Integer(), name: nullable(Type.String()) })

export const AuditEvent = Type.Object({
  event_id: Type.Integer({ description: 'Sequence number: increases by one with each row' }),
  at: Type.String({ format: 'date-time' }),
  kind: Type.String({
    description: 'What happened. The possible values are those of the query parameter kind',
  }),
  done_by: {
    ...nullable(Person),
    description:
      'The person who did it; null for the operator of the service, and if no person was authenticated, as in a failed sign-in',
  },
  done_to: { ...nullable(Person), description: 'The affected person' },
  token: {
    ...nullable(Type.Object({ id: Type.Integer(), name: nullable(Type.String()) })),
    description: 'The service token that was used',
  },
  about: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Further details, such as the name of a new token or the old and the new role',
  }),
  count: Type.Integer({
    description:
      'The number of occurrences: more than 1 only for refusals, where one row covers all refusals of a kind within a minute or more. The other fields then describe the first occurrence',
  }),
  network: nullable(
    Type.String({ description: 'Source network of the request: an IPv4 address or an IPv6 /64' }),
  ),
  request_id: nullable(Type.String()),
  hash: Type.String({
    description:
      'SHA-256 in hex over the hash of the previous row and this row. npm run verify-audit checks the chain',
  }),
})

const auditFilters = {
  kind: Type.Optional(oneOf('Only rows of this kind', [...auditKinds])),
  group: Type.Optional(oneOf('Only rows of this subject; refusals are rejected requests', [...auditGroups])),
  user_id: Type.Optional({
    ...recordId,
    description: 'Only rows in which this person acted or was affected',
  }),
  from: Type.Optional(time('Only rows at or after this time')),
  to: Type.Optional(time('Only rows before this time')),
}

export const listAuditEvents = endpoint({
  name: 'list-audit-events',
  method: 'GET',
  path: '/api/audit',
  summary: 'The audit log of the brokerage',
  description:
    'Sign-ins, people, tokens, secrets, settings, rollbacks, exports, imports and refusals, newest first. Rows are never changed or deleted, and each row includes the hash of the previous row. Changes of a quote are in its history. The first refused request of a kind is listed at once. Further ones are counted in a row that is written after one minute, then after intervals that double up to one hour while the refusals continue.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  query: Type.Object({
    ...auditFilters,
    cursor: Type.Optional(
      Type.String({
        description: 'next_cursor of the previous page',
        maxLength: 200,
        'x-expected': 'the next_cursor of the previous page',
      }),
    ),
    limit: Type.Optional(wholeNumber(`Rows per page; default ${pageSizeDefault}`, 1, pageSizeMax)),
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
        'The newest row of the whole log, independent of the filters. Save it elsewhere to detect later whether earlier rows were changed or removed. Its event_id is the number of rows',
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
    'All matching rows, newest first, without a limit. A cell that a spreadsheet would interpret as a formula starts with an apostrophe.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  query: Type.Object(auditFilters),
  status: 200,
  answerKind: 'csv',
  answer: Type.String({
    description: 'A header line, then one line per event; UTF-8 with a byte order mark',
  }),
  examples: {
    answer:
      '\uFEFFEvent,At,Kind,Done by,"Done by, id"\r\n418,2026-03-01T14:00:00.250Z,role-changed,Ana Ortiz,1\r\n',
  },
})

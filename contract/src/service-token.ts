import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { label, nullable, recordId } from './fields.ts'
import { defaultScope, tokenScopeNames, tokenScopes } from './token-scopes.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const

const grantedScope = Type.String({ description: 'The scopes of the token, separated by spaces' })

const anyScope = `(${tokenScopeNames.join('|')})`

/** A list of scopes as in OAuth 2.0: separated by spaces, in any order. */
const askedScope = Type.String({
  description: `The scopes of the token, separated by spaces; default ${defaultScope}. ${tokenScopeNames
    .map((name) => `${name}: ${tokenScopes[name].permits}`)
    .join(' ')}`,
  minLength: 1,
  maxLength: 200,
  pattern: `^ *${anyScope}( +${anyScope})* *$`,
  'x-expected': `one or more of ${tokenScopeNames.join(', ')}, separated by spaces`,
})

export const ServiceToken = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  scope: grantedScope,
  created_at: Type.String({ format: 'date-time' }),
  expires_at: Type.String({ format: 'date-time' }),
  last_used_at: nullable(Type.String({ format: 'date-time' })),
  last_used_from: nullable(
    Type.String({ description: 'Network of the last caller: an IPv4 address or an IPv6 /64' }),
  ),
  revoked_at: nullable(Type.String({ format: 'date-time' })),
})

const exampleToken = {
  id: 3,
  name: 'McLeod production',
  scope: defaultScope,
  created_at: '2026-03-01T14:00:00.000Z',
  expires_at: '2027-03-01T14:00:00.000Z',
  last_used_at: '2026-03-01T14:05:00.000Z',
  last_used_from: '192.0.2.7',
  revoked_at: null,
}

export const createServiceToken = endpoint({
  name: 'create-service-token',
  method: 'POST',
  path: '/api/integrations/tokens',
  summary: 'Create a service token',
  description:
    'Creates a service token for another system. Its scopes limit what it permits: choose only those that the system needs. The plaintext is only in this response and cannot be retrieved later.',
  tag: 'Credentials',
  who: admin,
  body: Type.Object({
    name: label('The purpose of this token; kept for audit'),
    scope: Type.Optional(askedScope),
  }),
  status: 201,
  answer: Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    scope: grantedScope,
    expires_at: Type.String({ format: 'date-time' }),
    token: Type.String(),
    warning: Type.String(),
  }),
  examples: {
    body: { name: 'McLeod production', scope: defaultScope },
    answer: {
      id: 3,
      name: 'McLeod production',
      scope: defaultScope,
      expires_at: '2027-03-01T14:00:00.000Z',
      token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6InN2Yytqd3QifQ...',
      warning: 'This token is shown once. Store it now; it cannot be shown again.',
    },
  },
})

export const listServiceTokens = endpoint({
  name: 'list-service-tokens',
  method: 'GET',
  path: '/api/integrations/tokens',
  summary: 'List service tokens',
  description: 'Every service token of the brokerage, newest first, without its plaintext.',
  tag: 'Credentials',
  who: admin,
  status: 200,
  answer: Type.Object({ tokens: Type.Array(ServiceToken) }),
  examples: { answer: { tokens: [exampleToken] } },
})

export const revokeServiceToken = endpoint({
  name: 'revoke-service-token',
  method: 'DELETE',
  path: '/api/integrations/tokens/{id}',
  summary: 'Revoke a service token',
  description: 'The token stops working with the next request. Revoking it again changes nothing.',
  tag: 'Credentials',
  who: admin,
  params: Type.Object({ id: recordId }),
  status: 200,
  answer: ServiceToken,
  problems: ['not-found'],
  examples: { answer: { ...exampleToken, revoked_at: '2026-03-02T09:00:00.000Z' } },
})

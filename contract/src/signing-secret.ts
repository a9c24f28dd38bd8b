import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { label, nullable, recordId, wholeNumber } from './fields.ts'
import { secretOverlapHoursDefault, secretOverlapHoursMax } from './limits.ts'

const admin = { kind: 'dashboard', role: 'admin' } as const

export const SigningSecret = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  expires_at: {
    ...nullable(Type.String({ format: 'date-time' })),
    description: 'Set by rotation: the end of the overlap',
  },
  last_used_at: nullable(Type.String({ format: 'date-time' })),
  revoked_at: nullable(Type.String({ format: 'date-time' })),
})

export const CreatedSecret = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  secret: Type.String(),
  warning: Type.String(),
})

const exampleSecret = {
  id: 1,
  name: 'tms',
  created_at: '2026-03-01T14:00:00.000Z',
  expires_at: null,
  last_used_at: '2026-03-01T14:05:00.000Z',
  revoked_at: null,
}

const exampleCreated = {
  id: 1,
  name: 'tms',
  secret: 'lwsec_...',
  warning: 'This secret is shown once. Store it now; it cannot be shown again.',
}

export const createSigningSecret = endpoint({
  name: 'create-signing-secret',
  method: 'POST',
  path: '/api/integrations/secrets',
  summary: 'Create a signing secret',
  description:
    'Creates the HMAC secret that signs writes. The plaintext is only in this response. A second live secret with the same name is allowed, for example after the plaintext was lost; a third is rejected with 409.',
  tag: 'Credentials',
  who: admin,
  body: Type.Object({ name: label('The purpose of this secret; the TMS integration uses tms') }),
  status: 201,
  answer: CreatedSecret,
  problems: ['too-many-live-secrets'],
  examples: { body: { name: 'tms' }, answer: exampleCreated },
})

export const listSigningSecrets = endpoint({
  name: 'list-signing-secrets',
  method: 'GET',
  path: '/api/integrations/secrets',
  summary: 'List signing secrets',
  description: 'Every signing secret of the brokerage, newest first, without its plaintext.',
  tag: 'Credentials',
  who: admin,
  status: 200,
  answer: Type.Object({ secrets: Type.Array(SigningSecret) }),
  examples: { answer: { secrets: [exampleSecret] } },
})

export const rotateSigningSecret = endpoint({
  name: 'rotate-signing-secret',
  method: 'POST',
  path: '/api/integrations/secrets/{id}/rotate',
  summary: 'Rotate a signing secret',
  description: 'Creates a new secret with the same name. The old secret is accepted until the overlap ends.',
  tag: 'Credentials',
  who: admin,
  params: Type.Object({ id: recordId }),
  body: Type.Object({
    overlap_hours: Type.Optional(
      wholeNumber(
        `Hours for which both secrets are accepted; default ${secretOverlapHoursDefault}`,
        0,
        secretOverlapHoursMax,
      ),
    ),
  }),
  status: 201,
  answer: CreatedSecret,
  problems: ['not-found', 'too-many-live-secrets', 'state-conflict'],
  examples: { body: { overlap_hours: 24 }, answer: { ...exampleCreated, id: 2 } },
})

export const revokeSigningSecret = endpoint({
  name: 'revoke-signing-secret',
  method: 'DELETE',
  path: '/api/integrations/secrets/{id}',
  summary: 'Revoke a signing secret',
  description: 'The secret stops working with the next request. Revoking it again changes nothing.',
  tag: 'Credentials',
  who: admin,
  params: Type.Object({ id: recordId }),
  status: 200,
  answer: SigningSecret,
  problems: ['not-found'],
  examples: { answer: { ...exampleSecret, revoked_at: '2026-03-02T09:00:00.000Z' } },
})

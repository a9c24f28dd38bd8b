import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { nullable, recordId } from './fields.ts'
import { recoveryCodesMax, secondFactorMinutes } from './limits.ts'
import { givenPasskey } from './passkeys.ts'

/** A code of an authenticator app, or a recovery code. Only its length is limited, so that a wrong code fails as one. */
export const givenCode = Type.String({
  maxLength: 64,
  writeOnly: true,
  description: 'The six digits that the authenticator app shows, or a recovery code',
  'x-expected': 'text of at most 64 characters',
})
const givenPassword = Type.String({
  maxLength: 1024,
  writeOnly: true,
  'x-expected': 'text of at most 1,024 characters',
})
const person = { kind: 'dashboard', role: 'viewer' } as const
const ok = Type.Object({ status: Type.Literal('ok') })
const RecoveryCodes = Type.Object({
  recovery_codes: Type.Array(Type.String(), {
    description: `${recoveryCodesMax} codes that replace a lost app, each once. Shown once`,
  }),
})
const exampleCodes = { recovery_codes: ['k3wq-7hdm-z9tc-4vxn'] }

export const getSecondFactor = endpoint({
  name: 'get-second-factor',
  method: 'GET',
  path: '/api/auth/second-factor',
  summary: 'Your second factor',
  description: 'Whether you have a second factor, and whether it counts as given now.',
  tag: 'Sign-in',
  who: person,
  beforeSecondFactor: true,
  status: 200,
  answer: Type.Object({
    set_at: nullable(Type.String({ format: 'date-time', description: 'null: you have none' })),
    app: Type.Boolean({ description: 'You have an authenticator app' }),
    passkeys: Type.Integer({ description: 'Your passkeys' }),
    recovery_codes_left: Type.Integer(),
    required: Type.Boolean({ description: 'The brokerage requires one for your role' }),
    recent: Type.Boolean({
      description: `It was given in this session within ${secondFactorMinutes} minutes, or you have none`,
    }),
  }),
  examples: {
    answer: {
      set_at: '2026-03-01T14:00:00.000Z',
      app: true,
      passkeys: 0,
      recovery_codes_left: 10,
      required: true,
      recent: true,
    },
  },
})

export const offerSecondFactor = endpoint({
  name: 'offer-second-factor',
  method: 'POST',
  path: '/api/auth/second-factor',
  summary: 'Begin to add an authenticator app',
  description:
    'Requires your password, and your passkey if you have one. Without a password, because you sign in through your company, this session must have begun through it within the last minutes. Returns a secret for an authenticator app. It is asked for once you confirm it with its first code. Beginning again replaces a secret that was not confirmed.',
  tag: 'Sign-in',
  who: person,
  beforeSecondFactor: true,
  confirms: true,
  body: Type.Object({ password: Type.Optional(givenPassword) }),
  status: 200,
  answer: Type.Object({
    secret: Type.String({ description: 'For apps that cannot read the address. Shown once' }),
    address: Type.String({ description: 'The otpauth address of the QR code. Shown once' }),
  }),
  problems: ['sign-in-failed', 'second-factor-again', 'too-many-attempts', 'state-conflict'],
  examples: {
    body: { password: 'correct horse battery staple' },
    answer: { secret: 'GEZDGNBVGY3TQOJQ...', address: 'otpauth://totp/...' },
  },
})

export const confirmSecondFactor = endpoint({
  name: 'confirm-second-factor',
  method: 'POST',
  path: '/api/auth/second-factor/confirm',
  summary: 'Finish adding an authenticator app',
  description:
    'Confirms the secret with a code of the app. From now on, sign-in asks for a second factor. All your other sessions end. Returns new recovery codes, which are shown once; earlier ones are no longer accepted.',
  tag: 'Sign-in',
  who: person,
  beforeSecondFactor: true,
  confirms: true,
  body: Type.Object({ code: givenCode }),
  status: 200,
  answer: RecoveryCodes,
  problems: ['second-factor-wrong', 'too-many-attempts', 'state-conflict'],
  examples: { body: { code: '287082' }, answer: exampleCodes },
})

export const giveSecondFactor = endpoint({
  name: 'give-second-factor',
  method: 'POST',
  path: '/api/auth/second-factor/give',
  summary: 'Give your second factor again',
  description: `Operations that create credentials, take data away, erase, or change the rules of sign-in are permitted for ${secondFactorMinutes} minutes. Send a code, which is used once, or a passkey.`,
  tag: 'Sign-in',
  who: person,
  body: Type.Object({ code: Type.Optional(givenCode), passkey: Type.Optional(givenPasskey) }),
  status: 200,
  answer: ok,
  problems: ['second-factor-wrong', 'too-many-attempts', 'state-conflict'],
  examples: { body: { code: '287082' }, answer: { status: 'ok' } },
})

export const replaceRecoveryCodes = endpoint({
  name: 'replace-recovery-codes',
  method: 'POST',
  path: '/api/auth/second-factor/recovery-codes',
  summary: 'Make new recovery codes',
  description: 'The earlier ones are no longer accepted.',
  tag: 'Sign-in',
  who: person,
  confirms: true,
  body: Type.Object({}),
  status: 200,
  answer: RecoveryCodes,
  problems: ['state-conflict'],
  examples: { body: {}, answer: exampleCodes },
})

export const removeSecondFactor = endpoint({
  name: 'remove-second-factor',
  method: 'DELETE',
  path: '/api/auth/second-factor',
  summary: 'Remove your authenticator app',
  description:
    'Your passkeys stay. Without one, sign-in asks for the password only, and recovery codes are erased. The last second factor stays if the brokerage requires one for your role.',
  tag: 'Sign-in',
  who: person,
  confirms: true,
  status: 200,
  answer: ok,
  problems: ['state-conflict'],
  examples: { answer: { status: 'ok' } },
})

export const removeSecondFactorOf = endpoint({
  name: 'remove-user-second-factor',
  method: 'DELETE',
  path: '/api/users/{id}/second-factor',
  summary: "Remove a person's second factor",
  description:
    'Removes the app, the passkeys and the recovery codes of somebody who has lost them. Their sessions end. If their role requires a second factor, they add one after the next sign-in. Only an owner can do it for an owner.',
  tag: 'People',
  who: { kind: 'dashboard', role: 'admin' },
  confirms: true,
  params: Type.Object({ id: recordId }),
  status: 200,
  answer: ok,
  problems: ['not-found', 'state-conflict'],
  examples: { answer: { status: 'ok' } },
})

import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { label, nullable, recordId } from './fields.ts'
import { passkeyChallengeMinutes, passkeysMax, recoveryCodesMax } from './limits.ts'

const base64url = (description: string, maxLength: number) =>
  Type.String({
    description,
    maxLength,
    pattern: '^[A-Za-z0-9_-]+$',
    writeOnly: true,
    'x-expected': `base64url of at most ${maxLength.toLocaleString('en-US')} characters`,
  })

const attempt = Type.String({
  maxLength: 200,
  description: 'Say it again with what the browser made',
})
const sentAttempt = Type.String({
  maxLength: 200,
  writeOnly: true,
  description: 'The attempt that began it. It is accepted once',
  'x-expected': 'the attempt exactly as received',
})
const credentialId = base64url('The id of the passkey', 1_400)
const clientDataJSON = base64url('What the browser signed: challenge and origin', 8_192)
/** Where a site asks for a passkey, and which. The members are those of WebAuthn. */
export const CredentialDescriptor = Type.Object({
  type: Type.Literal('public-key'),
  id: Type.String(),
  transports: Type.Array(Type.String()),
})

/** The site of a passkey, as WebAuthn calls it. */
export const RelyingParty = Type.Object({ id: Type.String(), name: Type.String() })
export const UsedCredential = Type.Object(
  {
    id: credentialId,
    response: Type.Object({
      clientDataJSON,
      authenticatorData: base64url('What the authenticator says', 8_192),
      signature: base64url('The signature of both', 8_192),
      userHandle: Type.Optional(base64url('Whose passkey it is', 128)),
    }),
  },
  { description: 'The AuthenticationResponseJSON of WebAuthn. Its other members are not needed' },
)
export const NewCredential = Type.Object(
  {
    id: credentialId,
    response: Type.Object({
      clientDataJSON,
      attestationObject: base64url('The new public key', 32_768),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 })),
    }),
  },
  { description: 'The RegistrationResponseJSON of WebAuthn. Its other members are not needed' },
)
/** Which of the brokerages that an address and a password fit. */
export const chosenBrokerage = Type.Integer({
  ...recordId,
  description: 'One of the brokerages that brokerage-required names',
})
/** A used passkey, as the browser returns it. */
export const givenPasskey = Type.Object({ attempt: sentAttempt, credential: UsedCredential })
/** How a browser is asked for a passkey: the PublicKeyCredentialRequestOptionsJSON of WebAuthn. */
export const PasskeyRequest = Type.Object({
  attempt,
  options: Type.Object({
    challenge: Type.String(),
    rpId: Type.String(),
    timeout: Type.Integer(),
    userVerification: Type.Literal('required'),
    allowCredentials: Type.Array(CredentialDescriptor, {
      description: 'Empty: each passkey for this site is accepted',
    }),
  }),
})

export const Passkey = Type.Object({
  id: recordId,
  name: Type.String(),
  site: Type.String({ description: 'The host that it was made for. It works there only' }),
  synced: Type.Boolean({ description: 'Its maker keeps a copy, so that a lost device does not lose it' }),
  added_at: Type.String({ format: 'date-time' }),
  last_used_at: nullable(Type.String({ format: 'date-time' })),
})

const person = { kind: 'dashboard', role: 'viewer' } as const
const ok = Type.Object({ status: Type.Literal('ok') })
const params = Type.Object({ id: recordId })
const givenPassword = Type.String({
  maxLength: 1024,
  writeOnly: true,
  'x-expected': 'text of at most 1,024 characters',
})

const examplePasskey = {
  id: 1,
  name: 'Laptop',
  site: 'lanewise.example.com',
  synced: true,
  added_at: '2026-03-01T14:00:00.000Z',
  last_used_at: null,
}
const exampleRequest = {
  attempt: 'AZ1lnxvA...',
  options: {
    challenge: 'k2m...',
    rpId: 'lanewise.example.com',
    timeout: passkeyChallengeMinutes * 60_000,
    userVerification: 'required',
    allowCredentials: [{ type: 'public-key', id: 'pQx...', transports: ['internal'] }],
  },
}
const exampleGiven = {
  attempt: 'AZ1lnxvA',
  credential: {
    id: 'pQx0',
    response: { clientDataJSON: 'eyJ0', authenticatorData: 'SZYN', signature: 'MEUC' },
  },
}

export const listPasskeys = endpoint({
  name: 'list-passkeys',
  method: 'GET',
  path: '/api/auth/passkeys',
  summary: 'Your passkeys',
  description: 'In the order in which you added them.',
  tag: 'Sign-in',
  who: person,
  beforeSecondFactor: true,
  status: 200,
  answer: Type.Object({ passkeys: Type.Array(Passkey) }),
  examples: { answer: { passkeys: [examplePasskey] } },
})

export const offerPasskey = endpoint({
  name: 'offer-passkey',
  method: 'POST',
  path: '/api/auth/passkey-offers',
  summary: 'Begin to add a passkey',
  description: `Requires your password, and your second factor if you have one. Returns what the browser makes a passkey with (WebAuthn), within ${passkeyChallengeMinutes} minutes. Passkeys need a host name and https: 409 if there is none.`,
  tag: 'Sign-in',
  who: person,
  beforeSecondFactor: true,
  confirms: true,
  body: Type.Object({ password: givenPassword }),
  status: 200,
  answer: Type.Object({
    attempt,
    options: Type.Object(
      {
        challenge: Type.String(),
        rp: RelyingParty,
        user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
        pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
        timeout: Type.Integer(),
        attestation: Type.Literal('none'),
        authenticatorSelection: Type.Object({
          residentKey: Type.Literal('required'),
          requireResidentKey: Type.Literal(true),
          userVerification: Type.Literal('required'),
        }),
        excludeCredentials: Type.Array(CredentialDescriptor),
      },
      { description: 'The PublicKeyCredentialCreationOptionsJSON of WebAuthn' },
    ),
  }),
  problems: ['sign-in-failed', 'too-many-attempts', 'state-conflict'],
  examples: {
    body: { password: 'correct horse battery staple' },
    answer: {
      attempt: 'AZ1lnxvA...',
      options: {
        challenge: 'k2m...',
        rp: { id: 'lanewise.example.com', name: 'Lanewise' },
        user: { id: 'R9Hs...', name: 'ana@example.com', displayName: 'Ana Ortiz' },
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        timeout: passkeyChallengeMinutes * 60_000,
        attestation: 'none',
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        excludeCredentials: [],
      },
    },
  },
})

export const addPasskey = endpoint({
  name: 'add-passkey',
  method: 'POST',
  path: '/api/auth/passkeys',
  summary: 'Finish adding a passkey',
  description: `Stores the passkey that the browser made. From now on, sign-in asks for a second factor. If it is your first one, all your other sessions end, and the answer has recovery codes, which are shown once. At most ${passkeysMax} per person.`,
  tag: 'Sign-in',
  who: person,
  beforeSecondFactor: true,
  confirms: true,
  body: Type.Object({
    name: label('Your name of the passkey, such as Laptop'),
    attempt: sentAttempt,
    credential: NewCredential,
  }),
  status: 201,
  answer: Type.Object({
    passkey: Passkey,
    recovery_codes: Type.Array(Type.String(), {
      description: `${recoveryCodesMax} codes, each of which replaces the second factor once. Empty if you had a second factor`,
    }),
  }),
  problems: ['second-factor-wrong', 'too-many-attempts', 'state-conflict'],
  examples: {
    body: {
      name: 'Laptop',
      attempt: 'AZ1lnxvA',
      credential: { id: 'pQx0', response: { clientDataJSON: 'eyJ0', attestationObject: 'o2Nm' } },
    },
    answer: { passkey: examplePasskey, recovery_codes: ['k3wq-7hdm-z9tc-4vxn'] },
  },
})

export const renamePasskey = endpoint({
  name: 'rename-passkey',
  method: 'PATCH',
  path: '/api/auth/passkeys/{id}',
  summary: 'Rename a passkey of yours',
  description: 'The name is for you only.',
  tag: 'Sign-in',
  who: person,
  params,
  body: Type.Object({ name: label('Your name of the passkey, such as Laptop') }),
  status: 200,
  answer: Passkey,
  problems: ['not-found'],
  examples: { body: { name: 'Laptop' }, answer: examplePasskey },
})

export const removePasskey = endpoint({
  name: 'remove-passkey',
  method: 'DELETE',
  path: '/api/auth/passkeys/{id}',
  summary: 'Remove a passkey of yours',
  description:
    'It is no longer accepted. The last second factor stays if the brokerage requires one for your role.',
  tag: 'Sign-in',
  who: person,
  confirms: true,
  params,
  status: 200,
  answer: ok,
  problems: ['not-found', 'state-conflict'],
  examples: { answer: { status: 'ok' } },
})

export const askPasskey = endpoint({
  name: 'ask-passkey',
  method: 'POST',
  path: '/api/auth/second-factor/passkey',
  summary: 'Ask for a passkey, to give your second factor again',
  description: `Returns what the browser asks for, within ${passkeyChallengeMinutes} minutes. Send its answer to POST /api/auth/second-factor/give.`,
  tag: 'Sign-in',
  who: person,
  body: Type.Object({}),
  status: 200,
  answer: PasskeyRequest,
  problems: ['state-conflict'],
  examples: { body: {}, answer: exampleRequest },
})

export const beginPasskeySignIn = endpoint({
  name: 'begin-passkey-sign-in',
  method: 'POST',
  path: '/api/auth/passkey-sign-in/begin',
  summary: 'Ask for a passkey at sign-in',
  description: `With email and password: asks for a passkey of that person as the second factor; send the answer of the browser with both to POST /api/auth/sign-in. Without: asks for any passkey for this site, which signs in alone; send the answer to POST /api/auth/passkey-sign-in. Within ${passkeyChallengeMinutes} minutes.`,
  tag: 'Sign-in',
  who: { kind: 'anyone' },
  body: Type.Object({
    email: Type.Optional(Type.String({ maxLength: 320, 'x-expected': 'your e-mail address' })),
    password: Type.Optional(givenPassword),
    brokerage_id: Type.Optional(chosenBrokerage),
  }),
  status: 200,
  answer: PasskeyRequest,
  problems: ['sign-in-failed', 'brokerage-required', 'too-many-attempts', 'state-conflict'],
  examples: { body: {}, answer: exampleRequest },
})

export const exampleGivenPasskey = exampleGiven

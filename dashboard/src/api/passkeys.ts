import {
  browserSupportsWebAuthn,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser'
import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { type Answer, type Body, CallFailed, call } from './call.ts'

/** Whether this browser can use passkeys here. */
export const passkeysWork = typeof window !== 'undefined' && browserSupportsWebAuthn()

type GivenPasskey = Body<'passkey-sign-in'>['passkey']

/** Asks the browser for a passkey. @throws CallFailed if the person gives none */
async function givePasskey({ attempt, options }: Answer<'ask-passkey'>): Promise<GivenPasskey> {
  const { id, response } = await fromBrowser(() =>
    startAuthentication({ optionsJSON: options as Parameters<typeof startAuthentication>[0]['optionsJSON'] }),
  )
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  return {
    attempt,
    credential: {
      id,
      response: {
        ...{ clientDataJSON, authenticatorData, signature },
        ...(userHandle === undefined ? {} : { userHandle }),
      },
    },
  }
}

/** Has the browser make a passkey, and stores it. */
export function useAddPasskey(): UseMutationResult<
  Answer<'add-passkey'>,
  CallFailed,
  { readonly name: string; readonly password: string }
> {
  return useMutation({
    mutationFn: async ({ name, password }) => {
      const { attempt, options } = await call('offer-passkey', { body: { password } })
      const { id, response } = await fromBrowser(() =>
        startRegistration({ optionsJSON: options as Parameters<typeof startRegistration>[0]['optionsJSON'] }),
      )
      const { clientDataJSON, attestationObject, transports = [] } = response
      const credential = { id, response: { clientDataJSON, attestationObject, transports } }
      return call('add-passkey', { body: { name, attempt, credential } })
    },
  })
}

/** Asks for a passkey at sign-in: as the second factor of an address and a password, or one that signs in alone. */
export function usePasskeyAtSignIn(): UseMutationResult<
  GivenPasskey,
  CallFailed,
  Body<'begin-passkey-sign-in'>
> {
  return useMutation({
    mutationFn: async (body) => givePasskey(await call('begin-passkey-sign-in', { body })),
  })
}

/** Gives a passkey as the second factor again. */
export function useGivePasskey(): UseMutationResult<Answer<'give-second-factor'>, CallFailed, void> {
  return useMutation({
    mutationFn: async () => {
      const passkey = await givePasskey(await call('ask-passkey', { body: {} }))
      return call('give-second-factor', { body: { passkey } })
    },
  })
}

async function fromBrowser<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isThere =
      error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED'
    throw new CallFailed(
      'no-passkey',
      isThere
        ? 'This device has a passkey for your account already.'
        : 'The browser gave no passkey: nobody confirmed it in time, or this device has none for this site. Try again.',
    )
  }
}

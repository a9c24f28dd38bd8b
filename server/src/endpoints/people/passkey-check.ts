import type { Static } from 'typebox'
import type { AnswerOf } from '#contract/endpoint.ts'
import { problem } from '#contract/errors.ts'
import { passkeyChallengeMinutes } from '#contract/limits.ts'
import type { askPasskey, givenPasskey } from '#contract/passkeys.ts'
import type { PersonCaller } from '../../access/index.ts'
import { passkeys } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import {
  newPasskeyAttempt,
  type PasskeySite,
  passkeySite,
  readPasskeyAttempt,
  verifyPasskey,
} from '../../security/index.ts'
import type { Parts } from '../parts.ts'

/** What a challenge is for, and for whom. A challenge of one purpose is not accepted for another. */
export const purposes = {
  add: ({ tenant, userId, sessionId }: PersonCaller) => `add ${tenant} ${userId} ${sessionId}`,
  give: ({ tenant, userId, sessionId }: PersonCaller) => `give ${tenant} ${userId} ${sessionId}`,
  signIn: ({ tenant, userId }: { tenant: TenantId; userId: number }) => `sign in ${tenant} ${userId}`,
  signInAlone: 'sign in alone',
} as const

/**
 * Where passkeys work: at PUBLIC_URL, or without it where the page is. A host that a request says is harmless: a browser uses a
 * passkey only for the host that it was made for, and signs the origin of the page.
 *
 * @throws Problem state-conflict with what is missing
 */
export function siteOf(origin: string | null, { config }: Pick<Parts, 'config'>): PasskeySite {
  const { publicUrl } = config.mail
  const own = publicUrl === null ? origin : (URL.parse(publicUrl)?.origin ?? null)
  if (own === null) {
    throw problem(
      'state-conflict',
      'Passkeys need to know the address of the pages: the operator sets PUBLIC_URL, or a proxy passes the header Host on unchanged.',
    )
  }
  if (origin !== null && origin !== own) {
    throw problem('state-conflict', `Passkeys work at ${own} only, and this page is at ${origin}.`)
  }
  const site = passkeySite(own)
  if (site === null) {
    throw problem(
      'state-conflict',
      `Browsers make passkeys for a host name over https, and this is ${own}. Open Lanewise by its name over https.`,
    )
  }
  return site
}

/** Asks a browser for one of the given passkeys, or for any of the site. */
export function passkeyRequest(
  { secretKeys }: Pick<Parts, 'secretKeys'>,
  {
    purpose,
    site,
    rows,
    now,
  }: {
    readonly purpose: string
    readonly site: PasskeySite
    readonly rows: readonly passkeys.PasskeyRow[]
    readonly now: number
  },
): AnswerOf<typeof askPasskey> {
  const { attempt, challenge } = newPasskeyAttempt(secretKeys[0], purpose, now)
  return {
    attempt,
    options: {
      challenge,
      rpId: site.rpId,
      timeout: passkeyChallengeMinutes * 60_000,
      userVerification: 'required',
      allowCredentials: rows.map(descriptorOf),
    },
  }
}

/** A passkey as browsers name it. */
export function descriptorOf({ credential_id, transports }: passkeys.PasskeyRow) {
  return {
    type: 'public-key' as const,
    id: credential_id.toString('base64url'),
    transports: transports.split(' ').filter((name) => name !== ''),
  }
}

/** The passkeys of a person for a site. @throws Problem state-conflict without one */
export async function passkeysAt(
  transaction: TenantTransaction,
  { tenant, userId }: { readonly tenant: TenantId; readonly userId: number },
  site: PasskeySite,
): Promise<passkeys.PasskeyRow[]> {
  const rows = await passkeys.listPasskeys(transaction, tenant, userId)
  const usable = rows.filter(({ rp_id }) => rp_id === site.rpId)
  if (usable.length === 0) {
    const others = [...new Set(rows.map(({ rp_id }) => rp_id))]
    throw problem(
      'state-conflict',
      others.length === 0
        ? 'You have no passkey.'
        : `You have no passkey for ${site.rpId}: yours were made for ${others.join(', ')}.`,
    )
  }
  return usable
}

/**
 * Uses a passkey of a person, and uses up its challenge, also if it is refused.
 *
 * @returns its name, or why it is refused
 */
export async function takePasskey(
  transaction: TenantTransaction,
  { tenant, userId }: { readonly tenant: TenantId; readonly userId: number },
  given: Static<typeof givenPasskey>,
  { purpose, site }: { readonly purpose: string; readonly site: PasskeySite },
  { secretKeys }: Pick<Parts, 'secretKeys'>,
  now: number,
): Promise<{ readonly name: string } | { readonly refused: string }> {
  const begun = readPasskeyAttempt(secretKeys, purpose, given.attempt, now)
  if (begun === null) return { refused: 'the attempt has ended, or was begun for something else' }
  const credentialId = Buffer.from(given.credential.id, 'base64url')
  const passkey = await passkeys.lockPasskey(transaction, tenant, { userId, credentialId })
  if (passkey === null) return { refused: 'it is none of yours' }
  const { challenge, expiresAt } = begun
  const at = new Date(now)
  if (!(await passkeys.useChallenge(transaction, tenant, { challenge, expiresAt, now: at }))) {
    return { refused: 'its challenge was answered before' }
  }
  const verified = await verifyPasskey(given.credential, { challenge, site, passkey })
  if ('refused' in verified) return verified
  await passkeys.notePasskeyUse(transaction, tenant, {
    ...{ passkeyId: passkey.passkey_id, signCount: verified.signCount, synced: verified.synced },
    now: at,
  })
  return { name: passkey.name }
}

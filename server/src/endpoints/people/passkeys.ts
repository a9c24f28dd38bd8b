import type { Static } from 'typebox'
import { problem } from '#contract/errors.ts'
import { passkeyChallengeMinutes, passkeysMax } from '#contract/limits.ts'
import {
  addPasskey,
  askPasskey,
  beginPasskeySignIn,
  listPasskeys,
  offerPasskey,
  type Passkey,
  removePasskey,
  renamePasskey,
} from '#contract/passkeys.ts'
import { signInWithPasskey } from '#contract/sign-in.ts'
import { recordEvent } from '../../audit/index.ts'
import { passkeys, people, secondFactors, sessions } from '../../database/queries/index.ts'
import { tenantId } from '../../database/session/index.ts'
import {
  isPassword,
  loadPasskeys,
  newPasskeyAttempt,
  passkeyAlgorithms,
  readPasskeyAttempt,
  readUserHandle,
  userHandle,
  verifyNewPasskey,
} from '../../security/index.ts'
import { type Call, type ServedEndpoint, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { attempt, noteNetwork, passwordHolder } from './accounts.ts'
import { descriptorOf, passkeyRequest, passkeysAt, purposes, siteOf, takePasskey } from './passkey-check.ts'
import { companyRequired, passwordRule } from './password-rule.ts'
import { guarded, isRequired, makeCodes, ownRow, wrongFactor } from './second-factor.ts'
import { hasFactor, passkeyRefused } from './second-factor-codes.ts'
import { startSession } from './sign-in.ts'

function passkeyAnswer(row: passkeys.PasskeyRow): Static<typeof Passkey> {
  return {
    id: row.passkey_id,
    name: row.name,
    site: row.rp_id,
    synced: row.synced,
    added_at: row.added_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }
}

function noSuchPasskey(id: number) {
  return problem('not-found', `You have no passkey ${id}.`)
}

function tooManyPasskeys() {
  return problem('state-conflict', `You have ${passkeysMax} passkeys, which is the most. Remove one first.`)
}

/** Verifies a new passkey and stores it. @returns why it is refused, or the answer */
async function storePasskey(
  call: Call<typeof addPasskey>,
  parts: Parts,
): Promise<{ readonly refused: string } | { passkey: Static<typeof Passkey>; recovery_codes: string[] }> {
  const { caller, body, now } = call
  const { tenant, userId, sessionId } = caller
  const site = siteOf(call.origin, parts)
  const begun = readPasskeyAttempt(parts.secretKeys, purposes.add(caller), body.attempt, now)
  if (begun === null) return { refused: 'the attempt has ended, or was begun for something else' }
  const { challenge, expiresAt } = begun
  const made = await verifyNewPasskey(body.credential, { challenge, site })
  const at = new Date(now)
  return parts.database.inTenant(tenant, async (transaction) => {
    if (!(await passkeys.useChallenge(transaction, tenant, { challenge, expiresAt, now: at }))) {
      return { refused: 'its challenge was answered before' }
    }
    if ('refused' in made) return made
    // Two passkeys that are added at once are added one after the other, so that one of them makes the recovery codes.
    await people.lockUser(transaction, tenant, userId)
    const isFirst = !(await hasFactor(transaction, tenant, userId))
    const others = await passkeys.listPasskeys(transaction, tenant, userId)
    if (others.length >= passkeysMax) throw tooManyPasskeys()
    const row = await passkeys.insertPasskey(transaction, tenant, {
      passkey_id: await people.nextTenantNumber(transaction, tenant, 'passkey'),
      ...{ user_id: userId, credential_id: made.credentialId, rp_id: site.rpId, public_key: made.publicKey },
      ...{ sign_count: made.signCount, transports: made.transports, synced: made.synced },
      ...{ name: body.name, added_at: at },
    })
    if (row === null) throw problem('state-conflict', 'This passkey was added already.')
    await secondFactors.noteFactorGiven(transaction, tenant, sessionId, at)
    // Whoever is signed in elsewhere has not given it.
    if (isFirst) await sessions.endSessions(transaction, tenant, userId, at, { except: sessionId })
    const codes = isFirst ? (await makeCodes(transaction, tenant, userId)).recovery_codes : []
    await recordEvent(transaction, call, 'passkey-added', { about: { id: row.passkey_id, name: row.name } })
    return { passkey: passkeyAnswer(row), recovery_codes: codes }
  })
}

const ownPasskeyEndpoints: ServedEndpoint[] = [
  serve(listPasskeys, ({ caller: { tenant, userId } }, { database }) =>
    database.inTenant(tenant, async (transaction) => ({
      passkeys: (await passkeys.listPasskeys(transaction, tenant, userId)).map(passkeyAnswer),
    })),
  ),

  serve(offerPasskey, async (call, parts) => {
    const { caller, body, now } = call
    const { tenant, userId } = caller
    const site = siteOf(call.origin, parts)
    const { user, brokerage, rows } = await parts.database.inTenant(tenant, async (transaction) => ({
      user: await ownRow(transaction, caller),
      brokerage: (await people.tenantOfSession(transaction, tenant)).name,
      rows: await passkeys.listPasskeys(transaction, tenant, userId),
    }))
    if (rows.length >= passkeysMax) throw tooManyPasskeys()
    await guarded(
      call,
      parts,
      async () => ((await isPassword(user.password_hash, body.password)) ? true : null),
      () => problem('sign-in-failed', 'The password is wrong.'),
    )
    const begun = newPasskeyAttempt(parts.secretKeys[0], purposes.add(caller), now)
    return {
      attempt: begun.attempt,
      options: {
        challenge: begun.challenge,
        rp: { id: site.rpId, name: 'Lanewise' },
        // Whoever signs in to several brokerages has a passkey for each: the browser shows which is which.
        user: {
          id: userHandle(tenant, userId),
          name: `${user.email} (${brokerage})`,
          displayName: user.name,
        },
        pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key' as const, alg })),
        timeout: passkeyChallengeMinutes * 60_000,
        attestation: 'none' as const,
        authenticatorSelection: {
          residentKey: 'required' as const,
          requireResidentKey: true as const,
          userVerification: 'required' as const,
        },
        excludeCredentials: rows.filter(({ rp_id }) => rp_id === site.rpId).map(descriptorOf),
      },
    }
  }),

  serve(addPasskey, (call, parts) => {
    let refused = ''
    return guarded(
      call,
      parts,
      async () => {
        const stored = await storePasskey(call, parts)
        if (!('refused' in stored)) return stored
        refused = stored.refused
        return null
      },
      () => wrongFactor(passkeyRefused(refused)),
    )
  }),

  serve(renamePasskey, ({ caller, params, body, ...call }, { database }) =>
    database.inTenant(caller.tenant, async (transaction) => {
      const { tenant, userId } = caller
      const renamed = { userId, passkeyId: params.id, name: body.name }
      const row = await passkeys.renamePasskey(transaction, tenant, renamed)
      if (row === null) throw noSuchPasskey(params.id)
      await recordEvent(transaction, { ...call, caller }, 'passkey-renamed', {
        about: { id: row.passkey_id, name: row.name },
      })
      return passkeyAnswer(row)
    }),
  ),

  serve(removePasskey, (call, { database }) => {
    const { caller, params } = call
    const { tenant, userId } = caller
    return database.inTenant(tenant, async (transaction) => {
      // Two factors that are removed at once are removed one after the other, so that the last one stays.
      await people.lockUser(transaction, tenant, userId)
      const [removed] = await passkeys.deletePasskeys(transaction, tenant, userId, params.id)
      if (removed === undefined) throw noSuchPasskey(params.id)
      if (!(await hasFactor(transaction, tenant, userId))) {
        if (await isRequired(transaction, caller)) {
          throw problem('state-conflict', 'Your brokerage requires a second factor for your role.')
        }
        await secondFactors.removeRecoveryCodes(transaction, tenant, userId)
      }
      await recordEvent(transaction, call, 'passkey-removed', {
        about: { id: removed.passkey_id, name: removed.name },
      })
      return { status: 'ok' as const }
    })
  }),

  serve(askPasskey, ({ caller, now, origin }, parts) => {
    const site = siteOf(origin, parts)
    return parts.database.inTenant(caller.tenant, async (transaction) => {
      const rows = await passkeysAt(transaction, caller, site)
      return passkeyRequest(parts, { purpose: purposes.give(caller), site, rows, now })
    })
  }),
]

/** Wrong passkeys of nobody in particular count per network. */
const passkeyAccount = (network: string) => `passkey from ${network}`

const signInWithPasskeyEndpoints: ServedEndpoint[] = [
  serve(beginPasskeySignIn, async (call, parts) => {
    const { body, now, network, requestId } = call
    const site = siteOf(call.origin, parts)
    const { email, password } = body
    if (email === undefined || password === undefined) {
      return passkeyRequest(parts, { purpose: purposes.signInAlone, site, rows: [], now })
    }
    const account = people.foldedEmail(email)
    return attempt(parts, { account, network, requestId, now, isSignIn: true }, async (begun) => {
      const { known } = await passwordHolder(
        call,
        { email, password, brokerage_id: body.brokerage_id },
        parts,
        begun,
      )
      return parts.database.inTenant(known.tenant, async (transaction) => {
        const rows = await passkeysAt(transaction, known, site)
        return passkeyRequest(parts, { purpose: purposes.signIn(known), site, rows, now })
      })
    })
  }),

  serve(signInWithPasskey, (call, parts) => {
    const { body, now, network, requestId } = call
    const site = siteOf(call.origin, parts)
    const account = passkeyAccount(network)
    return attempt(parts, { account, network, requestId, now }, async (begun) => {
      const handle = readUserHandle(body.passkey.credential.response.userHandle ?? '')
      const refuse = (reason: string) => {
        begun.failed()
        return problem('sign-in-failed', passkeyRefused(reason))
      }
      if (handle === null) throw refuse('it is not known here')
      const known = { tenant: tenantId(handle.tenant), userId: handle.userId }
      await loadPasskeys()
      const signedIn = await parts.database.inTenant(known.tenant, async (transaction) => {
        const tenant = await people.findTenant(transaction, known.tenant)
        const user = await people.lockUser(transaction, known.tenant, known.userId)
        const at = { purpose: purposes.signInAlone, site }
        const taken = await takePasskey(transaction, known, body.passkey, at, parts, now)
        if ('refused' in taken) return taken
        if (tenant?.status !== 'active' || user?.status !== 'active')
          return { refused: 'it is not known here' }
        const rule = await passwordRule(transaction, known.tenant, user, parts)
        if (rule === 'refused') return 'company required'
        const from = { ...call, factorGiven: true }
        const { reply, about } = await startSession(transaction, known.tenant, user, parts, from)
        await noteNetwork(transaction, known, call, parts)
        const kind = rule === 'break-glass' ? 'break-glass-used' : 'signed-in'
        await recordEvent(transaction, { ...call, caller: known }, kind, {
          about: { ...about, second_factor: 'passkey', without: 'password' },
        })
        return reply
      })
      if (signedIn === 'company required') {
        parts.refusals.companyRefused(known.tenant, { userId: known.userId, reason: 'passkey' }, call)
        throw companyRequired()
      }
      if ('refused' in signedIn) throw refuse(signedIn.refused)
      begun.succeeded()
      return signedIn
    })
  }),
]

export const passkeyEndpoints: ServedEndpoint[] = [...ownPasskeyEndpoints, ...signInWithPasskeyEndpoints]

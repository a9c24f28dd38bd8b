import { bodyKeysMaxOf } from '#contract/body-keys.ts'
import { signsOf } from '#contract/endpoint.ts'
import { invalid, problem } from '#contract/errors.ts'
import { signatureChecksPerMinuteMax } from '#contract/limits.ts'
import { shipmentUpdate } from '#contract/shipment-update.ts'
import { checkSignature } from '#contract/signature-check.ts'
import { signedEndpoints } from '#contract/signed-endpoints.ts'
import { secretPlace } from '../../access/index.ts'
import { listSigningSecrets, type SigningSecretRow } from '../../database/queries/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { unsealWithAny } from '../../security/index.ts'
import {
  addressText,
  atTheService,
  explainInSteps,
  type KnownSecret,
  type SignedOperation,
  type SignedTarget,
  signedTarget,
} from '../../signing/index.ts'
import { type BeforeBody, type Call, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'

const operations: readonly SignedOperation[] = signedEndpoints.map((endpoint) => ({
  method: endpoint.method,
  path: endpoint.path,
  signs: signsOf(endpoint) ?? 'address and body',
  isJson: endpoint.bodyKind !== 'csv',
  keysMax: bodyKeysMaxOf(endpoint),
}))

/** The target at an address. @throws Problem validation-failed if no endpoint there is signed */
function targetAt(address: string): SignedTarget {
  const target = signedTarget(address, operations)
  if (target !== null) return target
  const known = operations.map(addressText)
  throw invalid([
    {
      pointer: '/address',
      code: 'invalid',
      detail: `address must be the method and path of a signed request: ${known.join(', ')}.`,
      suggestions: known,
    },
  ])
}

/** When a secret was revoked or expired; null while it is live. */
function endOf(secret: SigningSecretRow, now: number): KnownSecret['ended'] {
  if (secret.revoked_at !== null) return { how: 'revoked', at: secret.revoked_at.getTime() }
  const expiresAt = secret.expires_at?.getTime()
  return expiresAt === undefined || expiresAt > now ? null : { how: 'expired', at: expiresAt }
}

/** Counts a check before its body arrives, because reading it is most of the work. */
const admitCheck: BeforeBody<typeof checkSignature> = async ({ caller }, parts) => {
  const { admitted, retryAfterMs } = parts.signatureCheckLimit.admit(caller.tenant, parts.monotonic())
  if (!admitted) {
    throw problem(
      'too-many-attempts',
      `Your brokerage has checked ${signatureChecksPerMinuteMax} signatures within a minute; wait and check this one again.`,
      { headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) } },
    )
  }
  return () => {}
}

async function check(
  { caller, body, now }: Call<typeof checkSignature>,
  { database, secretKeys }: Pick<Parts, 'database' | 'secretKeys'>,
) {
  const target = targetAt(body.address ?? addressText(shipmentUpdate))
  const rows = await database.inTenant(caller.tenant, (transaction) =>
    listSigningSecrets(transaction, caller.tenant),
  )
  const secrets = rows
    .filter(({ name }) => body.secret_name === undefined || name === body.secret_name)
    .flatMap((row) => {
      const plaintext = unsealWithAny(secretKeys, secretPlace(caller.tenant, row.secret_id), row.sealed)
      return plaintext === null
        ? []
        : [{ id: row.secret_id, name: row.name, plaintext, ended: endOf(row, now) }]
    })
  const {
    ok,
    parts: explained,
    matched,
  } = await yieldBetweenSteps(explainInSteps({ ...body, target }, secrets, now, atTheService))
  return {
    ok,
    parts: explained.map((one) => ({ ...one })),
    matched_secret: matched === null ? null : { id: matched.id, name: matched.name },
  }
}

export const signatureCheckEndpoint = serve(checkSignature, check, { beforeBody: admitCheck })

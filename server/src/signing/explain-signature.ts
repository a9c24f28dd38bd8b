import { createHmac, timingSafeEqual } from 'node:crypto'
import { Problem } from '#contract/errors.ts'
import { jsonDepthMax, signatureToleranceSeconds } from '#contract/limits.ts'
import { textBeforeBody } from '#contract/signature.ts'
import { finished, type Steps } from '#engine/steps.ts'
import { frequentMistakes, type Mistake, type SignedPart, type Write } from './frequent-mistakes.ts'
import { type Finding, readAnySignature, wrongTimestamp } from './signature-form.ts'
import type { SignedOperation, SignedTarget } from './signed-operation.ts'
import { readJsonObject } from './strict-json.ts'

export type { SignedPart } from './frequent-mistakes.ts'

/** The headers and the body of a signed write, as pasted by a person. */
export interface PastedWrite {
  readonly timestamp: string
  readonly signature: string
  readonly target: SignedTarget
  readonly body: string
}

/** A signing secret, live or ended. `ended.at` is when it was revoked or expired, in epoch milliseconds. */
export interface KnownSecret {
  readonly id: number
  readonly name: string
  readonly plaintext: string
  readonly ended: { readonly how: 'revoked' | 'expired'; readonly at: number } | null
}

export interface ExplainedPart {
  readonly part: SignedPart
  /** Null when unknown, because the signature matches neither the request nor a frequent mistake. */
  readonly ok: boolean | null
  readonly detail: string
  readonly remedy: string | null
}

export interface Explanation {
  readonly ok: boolean
  readonly parts: readonly ExplainedPart[]
  readonly matched: KnownSecret | null
}

/** The wording for one place where the check runs: the service, or the command line without a network. */
export interface Setting {
  /** The name of the clock that the timestamp is compared with. */
  readonly clock: string
  readonly nameOf: (secret: KnownSecret) => string
  /** The finding when the signature matches neither the request nor a frequent mistake. */
  readonly unmatched: Finding
  readonly unknownSecret: string
  /** The remedy for a timestamp that is too old. */
  readonly behind: string
  /** The remedy for a timestamp that is too far ahead. */
  readonly ahead: string
}

export const atTheService: Setting = {
  clock: 'the server clock',
  nameOf: ({ name, id }) => `the secret "${name}" (id ${id})`,
  unmatched: {
    detail:
      'It has the right form, but matches neither these bytes nor a frequent mistake with the secrets of this brokerage.',
    remedy:
      'Check that the timestamp, body and signature come from the same request, that the body is complete, and which secret the signer has. Test your signer with the known answers in the documentation.',
  },
  unknownSecret: 'Whether the signer has a secret of this brokerage is unknown.',
  behind:
    'Sign again with the current time. An old request is rejected for its age alone. If it was just signed, the clock of your machine is slow: set it.',
  ahead: 'Set the clock of your machine, which is fast, and sign again with the current time.',
}

/** Mistakes are tried with the newest live secrets, at most this many. The exact bytes are tried with all live secrets. */
const mistakenSecretsMax = 4
/** Revoked and expired secrets are tried too, the newest first, at most this many. */
const endedSecretsMax = 20

/**
 * Reports which part of a signed write is wrong, by trying the five most frequent mistakes. The report never contains a secret or
 * the correct signature: each computed digest is only compared with the pasted one.
 *
 * @param secrets all secrets of the brokerage, newest first
 * @param now epoch milliseconds
 * @returns `ok`: whether the service would accept this signature at `now`
 *
 * @example explainSignature({ timestamp: '1772373600', signature: '', body: '{}', target }, [], 0, setting).ok // false
 */
export function explainSignature(...asked: Parameters<typeof explainInSteps>): Explanation {
  return finished(explainInSteps(...asked))
}

/** Like `explainSignature`, in steps: for a body of 64 KiB, a step takes some milliseconds. */
export function* explainInSteps(
  pasted: PastedWrite,
  secrets: readonly KnownSecret[],
  now: number,
  setting: Setting,
): Steps<Explanation> {
  const timestamp = headerValue(pasted.timestamp, 'x-service-timestamp')
  const signature = readAnySignature(headerValue(pasted.signature, 'x-service-signature'))
  const body = Buffer.from(pasted.body)
  const live = secrets.filter(({ ended }) => ended === null)
  const ended = secrets.filter((secret) => secret.ended !== null).slice(0, endedSecretsMax)
  const { digest } = signature
  const { address } = pasted.target

  const matches = (made: Buffer) =>
    digest !== null && made.length === digest.length && timingSafeEqual(made, digest)
  const isExact = (secret: KnownSecret) =>
    matches(
      createHmac('sha256', secret.plaintext).update(textBeforeBody(timestamp, address)).update(body).digest(),
    )

  let matched: KnownSecret | undefined
  for (const secret of digest === null ? [] : [...live, ...ended]) {
    if (isExact(secret)) {
      matched = secret
      break
    }
    yield
  }
  const mistaken =
    matched === undefined && digest !== null
      ? yield* findMistake(
          { timestamp, target: pasted.target, body: pasted.body },
          live.slice(0, mistakenSecretsMax),
          matches,
        )
      : null
  const matching = matched ?? mistaken?.secret ?? null

  const parts = new Map<SignedPart, ExplainedPart>()
  const report: Report = (
    part: SignedPart,
    ok: boolean | null,
    detail: string,
    remedy: string | null = null,
  ) => parts.set(part, { part, ok, detail, remedy })
  const blame = (part: SignedPart, { detail, remedy }: Finding) => report(part, false, detail, remedy)

  explainTimestamp(timestamp, now, setting, report)
  if (signature.wrong !== null) blame('signature', signature.wrong)
  else if (matched !== undefined || mistaken !== null) report('signature', true, 'It has the right form.')
  else blame('signature', setting.unmatched)
  explainBody(pasted, matched !== undefined || mistaken !== null, report)
  explainSecret(matching, live, secrets.length > 0, setting, report)
  if (mistaken !== null) {
    const { part, detail, remedy } = mistaken.mistake
    const form = part === 'signature' && signature.wrong !== null ? `${signature.wrong.detail} ` : ''
    report(part, false, `${form}${detail}`, remedy)
  }

  const inOrder = (['timestamp', 'signature', 'body', 'secret'] as const).flatMap(
    (part) => parts.get(part) ?? [],
  )
  return { ok: inOrder.every(({ ok }) => ok === true), parts: inOrder, matched: matching }
}

type Report = (part: SignedPart, ok: boolean | null, detail: string, remedy?: string | null) => void

/** The value of a pasted header: without surrounding whitespace, and without the name when the whole line was pasted. */
function headerValue(pasted: string, name: string): string {
  const text = pasted.trim()
  return text.toLowerCase().startsWith(`${name}:`) ? text.slice(name.length + 1).trim() : text
}

function explainTimestamp(timestamp: string, now: number, setting: Setting, report: Report): void {
  const wrong = wrongTimestamp(timestamp)
  if (wrong !== null) {
    report('timestamp', false, wrong.detail, wrong.remedy)
    return
  }
  const skewSeconds = Number(timestamp) - Math.floor(now / 1000)
  const distance = `${Math.abs(skewSeconds).toLocaleString('en-US')} ${Math.abs(skewSeconds) === 1 ? 'second' : 'seconds'} ${skewSeconds < 0 ? 'behind' : 'ahead of'} ${setting.clock}`
  if (Math.abs(skewSeconds) <= signatureToleranceSeconds) {
    report('timestamp', true, `It is ${skewSeconds === 0 ? 'the current second' : distance}.`)
    return
  }
  report(
    'timestamp',
    false,
    `The timestamp is ${distance}; at most ${signatureToleranceSeconds} are allowed.`,
    skewSeconds < 0 ? setting.behind : setting.ahead,
  )
}

function explainBody({ body, target }: PastedWrite, isSigned: boolean, report: Report): void {
  const refusal = refusedAs(target.operation, body)
  if (isSigned && refusal === null) {
    report('body', true, 'The signature matches exactly these bytes.')
  } else if (isSigned) {
    report(
      'body',
      true,
      `The signature matches exactly these bytes, but the write would still be rejected: ${refusal}`,
      target.operation.isJson ? 'Send one JSON object.' : 'Send the CSV file.',
    )
  } else if (refusal === null) {
    report(
      'body',
      null,
      `${target.operation.isJson ? 'It is one JSON object. ' : ''}Whether it is the signed body is unknown.`,
    )
  } else {
    report(
      'body',
      false,
      refusal,
      `Paste the whole body exactly as it was sent: ${target.operation.isJson ? 'one JSON object' : 'the CSV file'}.`,
    )
  }
}

/** Why the service would reject the body after verifying its signature; null when it would parse. */
function refusedAs({ isJson, keysMax }: SignedOperation, body: string): string | null {
  if (body === '') return 'The body is empty.'
  if (!isJson) return null
  try {
    readJsonObject(Buffer.from(body), { depthMax: jsonDepthMax, keysMax })
    return null
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

function explainSecret(
  matching: KnownSecret | null,
  live: readonly KnownSecret[],
  any: boolean,
  setting: Setting,
  report: Report,
): void {
  if (matching === null) {
    if (live.length > 0) {
      report('secret', null, setting.unknownSecret)
    } else {
      report(
        'secret',
        false,
        any ? 'None of these secrets is accepted any more.' : 'There is no such signing secret.',
        'Create a signing secret and give it to the signer.',
      )
    }
    return
  }
  const named = setting.nameOf(matching)
  if (matching.ended === null) {
    report('secret', true, `It was signed with ${named}.`)
    return
  }
  const { how, at } = matching.ended
  report(
    'secret',
    false,
    how === 'revoked'
      ? `It was signed with ${named}, which was revoked at ${new Date(at).toISOString()}.`
      : `It was signed with ${named}, whose overlap ended at ${new Date(at).toISOString()} after it was rotated.`,
    'Give the signer a secret that is live.',
  )
}

function* findMistake(
  write: Write,
  secrets: readonly KnownSecret[],
  matches: (digest: Buffer) => boolean,
): Steps<{ mistake: Mistake; secret: KnownSecret } | null> {
  if (secrets.length === 0) return null
  for (const mistake of frequentMistakes(write)) {
    const { key = (secret) => secret, texts } = mistake
    for (const secret of secrets) {
      for (const text of texts) {
        if (matches(createHmac('sha256', key(secret.plaintext)).update(text).digest())) {
          return { mistake, secret }
        }
      }
      yield
    }
  }
  return null
}

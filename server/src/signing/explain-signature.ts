import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Problem } from '#contract/errors.ts'
import { jsonDepthMax, jsonKeysMax, signatureToleranceSeconds } from '#contract/limits.ts'
import { rewrittenBodies } from './rewritten-bodies.ts'
import { type Finding, readAnySignature, wrongTimestamp } from './signature-form.ts'
import { readJsonObject } from './strict-json.ts'

/** The headers and the body of a signed write as somebody pastes them. */
export interface PastedWrite {
  readonly timestamp: string
  readonly signature: string
  readonly body: string
}

/** A secret that was ever made: `ended` says since when it is not accepted any more, in epoch milliseconds. */
export interface KnownSecret {
  readonly id: number
  readonly name: string
  readonly plaintext: string
  readonly ended: { readonly how: 'revoked' | 'expired'; readonly at: number } | null
}

export type SignedPart = 'timestamp' | 'signature' | 'body' | 'secret'

export interface ExplainedPart {
  readonly part: SignedPart
  /** Null when it cannot be told, for the signature fits nothing that was tried. */
  readonly ok: boolean | null
  readonly detail: string
  readonly remedy: string | null
}

export interface Explanation {
  readonly ok: boolean
  readonly parts: readonly ExplainedPart[]
  readonly matched: KnownSecret | null
}

/** The words for what differs between the service and a machine without a network. */
export interface Setting {
  /** The clock that the timestamp is compared with. */
  readonly clock: string
  readonly nameOf: (secret: KnownSecret) => string
  /** The signature fits nothing that was tried. */
  readonly unmatched: Finding
  readonly unknownSecret: string
  /** What to do about a timestamp that is too old, and about one that is ahead. */
  readonly behind: string
  readonly ahead: string
}

export const atTheService: Setting = {
  clock: 'the server clock',
  nameOf: ({ name, id }) => `the secret "${name}" (id ${id})`,
  unmatched: {
    detail:
      'It has the right form, but fits neither these bytes nor any of the usual mistakes with the secrets of this brokerage.',
    remedy:
      'Check that timestamp, body and signature are from the same request, that the body is complete, and which secret the signer holds. Test your signer with the known answers of the documentation.',
  },
  unknownSecret: 'Whether the signer holds a secret of this brokerage is unknown.',
  behind:
    'Sign again with the present time. An old request is refused for its age alone. If it was just signed, the clock of your machine is slow: set it.',
  ahead: 'Set the clock of your machine, which is fast, and sign again with the present time.',
}

/** One usual mistake: the part it is made in, what was found, and the digest that it would give. */
interface Mistake extends Finding {
  readonly part: SignedPart
  readonly digest: (secret: string) => Buffer
  /** No secret is in such a digest, so it tells of none. */
  readonly withoutSecret?: boolean
}

/** Mistakes are tried with so many live secrets, the newest; exact bytes with every one of them. */
const mistakenSecretsMax = 4
/** Secrets that are not accepted any more are tried, too: so many, the newest. */
const endedSecretsMax = 20

/**
 * Says which part of a signed write is wrong, by trying the usual mistakes. It shows neither a secret nor the signature
 * that would be right: each digest is compared with the one that was pasted, and forgotten.
 *
 * `secrets` are all of the brokerage, newest first; `now` is epoch milliseconds. `ok` is what the service would say of
 * the same write at that moment, as far as its signature goes.
 *
 * @example explainSignature({ timestamp: '1772373600', signature: 'sha256=00', body: '{}' }, [], 1772373600000).ok // false
 */
export function explainSignature(
  pasted: PastedWrite,
  secrets: readonly KnownSecret[],
  now: number,
  setting: Setting = atTheService,
): Explanation {
  const timestamp = headerValue(pasted.timestamp, 'x-service-timestamp')
  const signature = readAnySignature(headerValue(pasted.signature, 'x-service-signature'))
  const body = Buffer.from(pasted.body)
  const live = secrets.filter(({ ended }) => ended === null)
  const ended = secrets.filter((secret) => secret.ended !== null).slice(0, endedSecretsMax)
  const { digest, hash } = signature

  const fits = (made: Buffer) =>
    digest !== null && made.length === digest.length && timingSafeEqual(made, digest)
  const exact = (secret: KnownSecret) =>
    fits(createHmac(hash, secret.plaintext).update(`${timestamp}.`).update(body).digest())

  const matched = digest === null ? undefined : (live.find(exact) ?? ended.find(exact))
  const mistaken =
    matched === undefined && digest !== null && hash === 'sha256'
      ? findMistake(timestamp, pasted.body, live.slice(0, mistakenSecretsMax), fits)
      : null
  const matching = matched ?? mistaken?.secret ?? null

  const parts = new Map<SignedPart, ExplainedPart>()
  const say = (part: SignedPart, ok: boolean | null, detail: string, remedy: string | null = null) =>
    parts.set(part, { part, ok, detail, remedy })
  const blame = (part: SignedPart, { detail, remedy }: Finding) => say(part, false, detail, remedy)

  explainTimestamp(timestamp, now, setting, say)
  if (signature.wrong !== null) blame('signature', signature.wrong)
  else if (matched !== undefined || mistaken !== null) say('signature', true, 'It has the right form.')
  else {
    blame('signature', setting.unmatched)
  }
  explainBody(pasted.body, matched !== undefined || mistaken !== null, say)
  explainSecret(matching, live, secrets.length > 0, setting, say)
  if (mistaken !== null) {
    const { part, detail, remedy } = mistaken.mistake
    const form = part === 'signature' && signature.wrong !== null ? `${signature.wrong.detail} ` : ''
    say(part, false, `${form}${detail}`, remedy)
  }

  const inOrder = (['timestamp', 'signature', 'body', 'secret'] as const).flatMap(
    (part) => parts.get(part) ?? [],
  )
  return { ok: inOrder.every(({ ok }) => ok === true), parts: inOrder, matched: matching }
}

type Say = (part: SignedPart, ok: boolean | null, detail: string, remedy?: string | null) => void

/** White space around a header's value is not part of it; a whole header line is read by its value. */
function headerValue(pasted: string, name: string): string {
  const text = pasted.trim()
  return text.toLowerCase().startsWith(`${name}:`) ? text.slice(name.length + 1).trim() : text
}

function explainTimestamp(timestamp: string, now: number, setting: Setting, say: Say): void {
  const wrong = wrongTimestamp(timestamp)
  if (wrong !== null) {
    say('timestamp', false, wrong.detail, wrong.remedy)
    return
  }
  const skewSeconds = Number(timestamp) - Math.floor(now / 1000)
  const distance = `${Math.abs(skewSeconds).toLocaleString('en-US')} ${Math.abs(skewSeconds) === 1 ? 'second' : 'seconds'} ${skewSeconds < 0 ? 'behind' : 'ahead of'} ${setting.clock}`
  if (Math.abs(skewSeconds) <= signatureToleranceSeconds) {
    say('timestamp', true, `It is ${skewSeconds === 0 ? 'the present second' : distance}.`)
    return
  }
  say(
    'timestamp',
    false,
    `The timestamp is ${distance}; at most ${signatureToleranceSeconds} are allowed.`,
    skewSeconds < 0 ? setting.behind : setting.ahead,
  )
}

function explainBody(body: string, fits: boolean, say: Say): void {
  const refusal = refusedAsJson(body)
  if (fits && refusal === null) {
    say('body', true, 'The signature fits exactly these bytes.')
  } else if (fits) {
    say(
      'body',
      true,
      `The signature fits exactly these bytes, but the write would be refused afterwards: ${refusal}`,
      'Send one JSON object.',
    )
  } else if (refusal === null) {
    say('body', null, 'It is one JSON object. Whether it is what was signed cannot be told.')
  } else {
    say('body', false, refusal, 'Give the body exactly as it was sent: one JSON object, all of it.')
  }
}

/** What the service would say of the body once its signature holds; null when it could be read. */
function refusedAsJson(body: string): string | null {
  if (body === '') return 'The body is empty.'
  try {
    readJsonObject(Buffer.from(body), { depthMax: jsonDepthMax, keysMax: jsonKeysMax })
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
  say: Say,
): void {
  if (matching === null) {
    if (live.length > 0) {
      say('secret', null, setting.unknownSecret)
    } else {
      say(
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
    say('secret', true, `It was signed with ${named}.`)
    return
  }
  const { how, at } = matching.ended
  say(
    'secret',
    false,
    how === 'revoked'
      ? `It was signed with ${named}, which was revoked at ${new Date(at).toISOString()}.`
      : `It was signed with ${named}, whose overlap ended at ${new Date(at).toISOString()} after it was rotated.`,
    'Give the signer a secret that is live.',
  )
}

function findMistake(
  timestamp: string,
  body: string,
  secrets: readonly KnownSecret[],
  fits: (digest: Buffer) => boolean,
): { mistake: Mistake; secret: KnownSecret | null } | null {
  if (secrets.length === 0) return null
  for (const mistake of mistakes(timestamp, body)) {
    for (const secret of secrets) {
      if (!fits(mistake.digest(secret.plaintext))) continue
      return { mistake, secret: mistake.withoutSecret === true ? null : secret }
    }
  }
  return null
}

const hmac = (key: string | Buffer, text: string | Buffer) => createHmac('sha256', key).update(text).digest()
const useHmac = 'Use HMAC-SHA256 with the secret for key and <timestamp>.<body> for message.'
const sha256 = (text: string) => createHash('sha256').update(text).digest()

function* mistakes(timestamp: string, body: string): Generator<Mistake> {
  const text = `${timestamp}.${body}`
  const over = (signed: string) => (secret: string) => hmac(secret, signed)

  for (const [signed, what] of otherTexts(timestamp, body)) {
    yield {
      part: 'signature',
      digest: over(signed),
      detail: what,
      remedy:
        'Sign the timestamp, a dot and the body, in this order and with nothing else: <timestamp>.<body>.',
    }
  }
  for (const [time, detail, remedy] of otherTimes(timestamp)) {
    yield { part: 'timestamp', digest: over(`${time}.${body}`), detail, remedy }
  }
  yield {
    part: 'secret',
    digest: () => hmac('', text),
    detail:
      'The signer had an empty secret: its setting or variable is not set, or was decoded as hex, which it is not.',
    remedy: 'See where the signer runs that it is given the whole secret, as text.',
    withoutSecret: true,
  }
  for (const [key, detail] of otherKeys) {
    yield {
      part: 'secret',
      digest: (secret) => hmac(key(secret), text),
      detail,
      remedy: 'Use the whole secret as it was shown, prefix included, as UTF-8 text for key.',
    }
  }
  yield {
    part: 'signature',
    digest: () => sha256(text),
    detail: 'It is a plain SHA-256 of the text, made without any secret.',
    remedy: useHmac,
    withoutSecret: true,
  }
  for (const [digest, detail] of otherFunctions) {
    yield {
      part: 'signature',
      digest: (secret) => digest(secret, text),
      detail,
      remedy: useHmac,
    }
  }
  for (const rewritten of rewrittenBodies(body)) {
    yield {
      part: 'body',
      digest: over(`${timestamp}.${rewritten.text}`),
      detail: rewritten.detail,
      remedy: rewritten.remedy,
    }
  }
}

function otherTexts(timestamp: string, body: string): [string, string][] {
  return [
    [body, 'It was made of the body alone, without the timestamp and the dot.'],
    [`${timestamp}${body}`, 'It was made of timestamp and body without the dot between them.'],
    [`${timestamp}:${body}`, 'It was made with a colon between timestamp and body instead of a dot.'],
    [`${timestamp}\n${body}`, 'It was made with a line end between timestamp and body instead of a dot.'],
    [`${timestamp} ${body}`, 'It was made with a space between timestamp and body instead of a dot.'],
    [`${timestamp}. ${body}`, 'It was made with a space behind the dot.'],
    [`${timestamp}.${body}.`, 'It was made with a second dot, behind the body.'],
    [`v0:${timestamp}:${body}`, 'It was made as Slack signs: "v0:", the timestamp, a colon and the body.'],
    [`${body}.${timestamp}`, 'It was made of the body, a dot and the timestamp: in the wrong order.'],
    [
      `${body}${timestamp}`,
      'It was made of the body and the timestamp, in the wrong order and without the dot.',
    ],
    [timestamp, 'It was made of the timestamp alone.'],
  ]
}

function otherTimes(timestamp: string): [string, string, string][] {
  if (!/^\d{1,19}$/.test(timestamp)) return []
  return [
    [
      `${timestamp}000`,
      'The time was signed in milliseconds and sent in seconds.',
      'Take the time once, in seconds, and use the same text for signing and for the header.',
    ],
    [
      timestamp.slice(0, -3),
      'The time was signed in seconds and sent in milliseconds.',
      'Take the time once, in seconds, and use the same text for signing and for the header.',
    ],
  ]
}

const prefix = /^lwsec_/
const otherKeys: readonly (readonly [(secret: string) => string | Buffer, string])[] = [
  [(secret) => secret.replace(prefix, ''), 'The secret was used without its prefix lwsec_.'],
  [(secret) => `${secret}\n`, 'The secret was used with a line end behind it, as it is read from a file.'],
  [(secret) => `${secret}\r\n`, 'The secret was used with a line end behind it, as it is read from a file.'],
  [(secret) => `${secret} `, 'The secret was used with a space behind it.'],
  [(secret) => ` ${secret}`, 'The secret was used with a space in front of it.'],
  [(secret) => `"${secret}"`, 'The secret was used with the quotes around it.'],
  [(secret) => `'${secret}'`, 'The secret was used with the quotes around it.'],
  [
    (secret) => Buffer.from(secret.replace(prefix, ''), 'base64'),
    'The secret was decoded as base64, without its prefix; it is text, not base64.',
  ],
  [(secret) => Buffer.from(secret, 'base64'), 'The secret was decoded as base64; it is text, not base64.'],
  [
    (secret) => Buffer.from(secret.replace(prefix, ''), 'hex'),
    'The secret was decoded as hex, without its prefix; it is text, not hex.',
  ],
  [
    (secret) => Buffer.from(secret).toString('base64'),
    'The secret was used in base64, as Kubernetes shows it, and not decoded.',
  ],
  [(secret) => Buffer.from(secret).toString('hex'), 'The secret was used in hex; use its text.'],
  [(secret) => sha256(secret), 'The SHA-256 of the secret was used for key; use the secret itself.'],
  [
    (secret) => Buffer.from(secret, 'utf16le'),
    'The secret was turned into bytes as UTF-16 (Encoding.Unicode of .NET); use UTF-8.',
  ],
]

const otherFunctions: readonly (readonly [(secret: string, text: string) => Buffer, string])[] = [
  [(secret, text) => hmac(text, secret), 'Key and message of the HMAC are swapped.'],
  [
    (secret, text) => sha256(`${secret}${text}`),
    'It is a plain SHA-256 of the secret and the text, not an HMAC.',
  ],
  [
    (secret, text) => sha256(`${text}${secret}`),
    'It is a plain SHA-256 of the text and the secret, not an HMAC.',
  ],
  [
    (secret, text) => createHmac('sha512', secret).update(text).digest().subarray(0, 32),
    'It was made with SHA-512 and cut to 32 bytes.',
  ],
  [
    (secret, text) => createHmac('sha256', secret).update(Buffer.from(text, 'utf16le')).digest(),
    'The text was turned into bytes as UTF-16 (Encoding.Unicode of .NET) before signing; use UTF-8.',
  ],
  [
    (secret, text) => createHmac('sha256', secret).update(Buffer.from(text, 'latin1')).digest(),
    'The text was turned into bytes as Latin-1 before signing; use UTF-8.',
  ],
]

import { type SignedAddress, textBeforeBody } from '#contract/signature.ts'
import { reserializedBodies } from './rewritten-bodies.ts'
import type { Finding } from './signature-form.ts'
import { addressText, type SignedOperation } from './signed-operation.ts'

export type SignedPart = 'timestamp' | 'signature' | 'body' | 'secret'

/** A common mistake: the part it is made in, the finding, and the texts and the key of the HMAC that it produces. */
export interface Mistake extends Finding {
  readonly part: SignedPart
  readonly texts: readonly string[]
  /** The key that the signer made of the secret. Default: the secret itself. */
  readonly key?: (secret: string) => string
  /** True when no secret is in the HMAC, so that a match identifies none. */
  readonly isWithoutSecret?: boolean
}

/** A signed write as it should have been signed: `address` is null if the operation signs the body only. */
export interface Write {
  readonly timestamp: string
  readonly address: SignedAddress | null
  readonly body: string
  /** The maximum number of keys in the body. */
  readonly keysMax: number
}

const takeTimeOnce =
  'Take the time once, in seconds, and use the same text for the signature and for the header.'
const useWholeSecret = 'Use the whole secret as it was shown, prefix included, as UTF-8 text for the key.'
const sendSignedBytes =
  'Sign and send the same bytes. Read files as bytes, and do not let a tool change their line breaks (curl: --data-binary).'

function signTheText(address: SignedAddress | null): string {
  return address === null
    ? 'Sign the timestamp, a dot and the body, in this order and with nothing else: <timestamp>.<body>.'
    : `Sign the timestamp, a dot, "${addressText(address)}", a line feed and the body, in this order and with nothing else.`
}

/** The most common mistakes, the most common part first. */
export function commonMistakes(write: Write, operations: readonly SignedOperation[]): Mistake[] {
  return [
    ...mistakesInText(write),
    ...mistakesInAddress(write, operations),
    ...mistakesInSecret(write),
    ...mistakesInBody(write),
  ]
}

function mistakesInText({ timestamp, address, body }: Write): Mistake[] {
  const after = `${textBeforeBody('', address).slice(1)}${body}`
  const isNumber = /^\d{1,19}$/.test(timestamp)
  return [
    {
      part: 'signature',
      texts: [body],
      detail: 'The signature was computed over the body alone, without the timestamp and the dot.',
      remedy: signTheText(address),
    },
    {
      part: 'signature',
      texts: [`${timestamp}${after}`],
      detail: `The signature was computed without the dot between the timestamp and the ${address === null ? 'body' : 'address'}.`,
      remedy: signTheText(address),
    },
    {
      part: 'timestamp',
      texts: isNumber ? [`${timestamp}000.${after}`] : [],
      detail: 'The time was signed in milliseconds and sent in seconds.',
      remedy: takeTimeOnce,
    },
    {
      part: 'timestamp',
      texts: isNumber ? [`${timestamp.slice(0, -3)}.${after}`] : [],
      detail: 'The time was signed in seconds and sent in milliseconds.',
      remedy: takeTimeOnce,
    },
  ]
}

/** Signatures of the body alone, of another address, and of the right address in another form. */
function mistakesInAddress(
  { timestamp, address, body }: Write,
  operations: readonly SignedOperation[],
): Mistake[] {
  const signedFor = (other: SignedAddress) => textBeforeBody(timestamp, other) + body
  if (address === null) {
    return operations.map((other) => ({
      part: 'signature',
      texts: [signedFor(other)],
      detail: `The signature covers the address ${addressText(other)}, but shipment-update signs the timestamp and the body only.`,
      remedy: `${signTheText(null)} If the request was sent to ${addressText(other)}, give that address here.`,
    }))
  }
  const { method, path } = address
  const written = [
    `${method} ${path}`,
    `${method} ${path} `,
    `${method} ${path}\r\n`,
    `${method} ${path}.`,
    `${method} ${path}/\n`,
    `${method}${path}\n`,
    `${method}\n${path}\n`,
    `${method.toLowerCase()} ${path}\n`,
    `${path}\n`,
    path,
  ]
  return [
    {
      part: 'signature',
      texts: [`${timestamp}.${body}`],
      detail: 'The signature covers the body alone: the address is missing in the signed text.',
      remedy: signTheText(address),
    },
    ...operations
      .filter((other) => addressText(other) !== addressText(address))
      .map((other) => ({
        part: 'signature' as const,
        texts: [signedFor(other)],
        detail: `The signature covers another address: ${addressText(other)}.`,
        remedy: signTheText(address),
      })),
    {
      part: 'signature',
      texts: written.map((form) => `${timestamp}.${form}${body}`),
      detail: 'The address is in the signed text, but not in the right form.',
      remedy: signTheText(address),
    },
  ]
}

function mistakesInSecret({ timestamp, address, body }: Write): Mistake[] {
  const texts = [textBeforeBody(timestamp, address) + body]
  return [
    {
      part: 'secret',
      texts,
      key: () => '',
      isWithoutSecret: true,
      detail: 'The signer used an empty secret: its setting or environment variable is not set.',
      remedy: 'Check that the signer is given the whole secret, as text.',
    },
    {
      part: 'secret',
      texts,
      key: (secret) => secret.replace(/^lwsec_/, ''),
      detail: 'The secret was used without its prefix lwsec_.',
      remedy: useWholeSecret,
    },
    {
      part: 'secret',
      texts,
      key: (secret) => `${secret}\n`,
      detail: 'The secret was used with a line break at its end, as it is when read from a file.',
      remedy: useWholeSecret,
    },
  ]
}

function mistakesInBody({ timestamp, address, body, keysMax }: Write): Mistake[] {
  const before = textBeforeBody(timestamp, address)
  return [
    {
      part: 'body',
      texts: [`${before}${body}\n`, before + body.replace(/\r?\n$/, '')],
      detail:
        'A line break at the end of the body was added or removed after signing (echo adds one; printf does not).',
      remedy: sendSignedBytes,
    },
    {
      part: 'body',
      texts: [before],
      detail: 'The signature was computed over an empty body: the signer did not see the body that was sent.',
      remedy: 'Pass the signer the bytes that are sent. In a proxy or a hook, read the body first.',
    },
    {
      part: 'body',
      texts: reserializedBodies(body, keysMax).map((written) => before + written),
      detail:
        'The signature matches the same JSON written with other spaces, line breaks or escapes: the body was serialized a second time between signing and sending.',
      remedy: 'Serialize the body once, keep these bytes, sign them and send them unchanged.',
    },
  ]
}

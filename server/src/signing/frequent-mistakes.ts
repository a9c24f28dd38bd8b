import { type SignedAddress, textBeforeBody } from '#contract/signature.ts'
import { reserializedBodies } from './rewritten-bodies.ts'
import type { Finding } from './signature-form.ts'
import { addressText, type SignedTarget } from './signed-operation.ts'

export type SignedPart = 'timestamp' | 'signature' | 'body' | 'secret'

/** A frequent mistake: the wrong part, the finding, and the texts and the key with which a signer then computes the HMAC. */
export interface Mistake extends Finding {
  readonly part: SignedPart
  readonly texts: readonly string[]
  /** The HMAC key that the signer made of the secret. Default: the secret itself. */
  readonly key?: (secret: string) => string
}

/** A signed write as it was sent. */
export interface Write {
  readonly timestamp: string
  readonly target: SignedTarget
  readonly body: string
}

function signTheText(address: SignedAddress | null): string {
  return address === null
    ? 'Sign the timestamp, a dot and the body, in this order and with nothing else: <timestamp>.<body>.'
    : `Sign the timestamp, a dot, "${addressText(address)}", a line feed and the body, in this order and with nothing else.`
}

/** The five most frequent mistakes (docs/signing.md). */
export function frequentMistakes({ timestamp, target, body }: Write): Mistake[] {
  const { address, operation } = target
  const before = textBeforeBody(timestamp, address)
  return [
    {
      part: 'signature',
      texts: [body],
      detail: 'The signature was computed over the body alone, without the timestamp and the dot.',
      remedy: signTheText(address),
    },
    {
      part: 'signature',
      texts: [textBeforeBody(timestamp, address === null ? operation : null) + body],
      detail:
        address === null
          ? 'The signature covers the address, too, but this request signs the timestamp and the body only.'
          : 'The address is missing in the signed text.',
      remedy: signTheText(address),
    },
    {
      part: 'timestamp',
      texts: [textBeforeBody(`${timestamp}000`, address) + body],
      detail: 'The time was signed in milliseconds and sent in seconds.',
      remedy: 'Take the time once, in seconds, and use the same text for the signature and for the header.',
    },
    {
      part: 'secret',
      texts: [before + body],
      key: (secret) => secret.replace(/^lwsec_/, ''),
      detail: 'The secret was used without its prefix lwsec_.',
      remedy: 'Use the whole secret as it was shown, prefix included, as UTF-8 text for the key.',
    },
    {
      part: 'body',
      texts: [`${body}\n`, body.replace(/\r?\n$/, ''), ...reserializedBodies(body, operation.keysMax)].map(
        (written) => before + written,
      ),
      detail:
        'The body changed between signing and sending: a line break at its end was added or removed, or the JSON was serialized a second time.',
      remedy:
        'Serialize the body once, keep these bytes, sign them and send them unchanged (printf instead of echo; curl: --data-binary).',
    },
  ]
}

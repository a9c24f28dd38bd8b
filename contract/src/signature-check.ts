import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { label, nullable } from './fields.ts'
import { bodyBytesMax, signatureCheckBytesMax, signatureChecksPerMinuteMax } from './limits.ts'

/** What a signed write is made of, in the order in which the parts are looked at. */
export const signedParts = ['timestamp', 'signature', 'body', 'secret'] as const

const pasted = (description: string, max: number) =>
  Type.String({ description, maxLength: max, 'x-expected': `text of at most ${max} characters` })

const encoder = new TextEncoder()

export const checkSignature = endpoint({
  name: 'check-signature',
  method: 'POST',
  path: '/api/signature-check',
  summary: 'Find out what is wrong with a signature',
  description: `Takes the two headers and the body of a signed write as they were sent, and says which part is wrong and what to do about it. It tries the usual mistakes with the secrets of the brokerage. It never shows a secret or the signature that would be right. At most ${signatureChecksPerMinuteMax} checks a minute for each brokerage.`,
  tag: 'Credentials',
  who: { kind: 'dashboard', role: 'admin' },
  body: Type.Object({
    timestamp: pasted('The value of X-Service-Timestamp', 200),
    body: Type.Refine(
      Type.String({
        description: `The body exactly as sent, at most ${bodyBytesMax.toLocaleString('en-US')} bytes`,
        maxLength: bodyBytesMax,
        'x-expected': `text of at most ${bodyBytesMax.toLocaleString('en-US')} bytes`,
      }),
      (value) => value.length <= bodyBytesMax && encoder.encode(value).length <= bodyBytesMax,
      () => 'body',
    ),
    signature: pasted('The value of X-Service-Signature', 1000),
    secret_name: Type.Optional(label('Only try the secrets of this name; all when absent')),
  }),
  bodyBytesMax: signatureCheckBytesMax,
  status: 200,
  answer: Type.Object({
    ok: Type.Boolean({ description: 'True when this signature would be accepted now' }),
    parts: Type.Array(
      Type.Object({
        part: Type.Enum([...signedParts]),
        ok: {
          ...nullable(Type.Boolean()),
          description: 'null when it cannot be told, for the signature fits nothing that was tried',
        },
        detail: Type.String({ description: 'What was found, in a sentence' }),
        remedy: {
          ...nullable(Type.String()),
          description: 'What to do about it, in a sentence; null when there is nothing to do',
        },
      }),
      { description: 'Always the same four, in this order: timestamp, signature, body, secret' },
    ),
    matched_secret: {
      ...nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
      description: 'The secret it was signed with, also when it was revoked or used in a wrong way',
    },
  }),
  problems: ['too-many-attempts'],
  examples: {
    body: {
      timestamp: '1772373600',
      body: '{"lane_ref":"48211093754-1-1","customer_rate":2150}',
      signature: 'sha256=ecf09be4443dd83e3b10249a0ced1a5997097a2c0836d523395319ed27cf323b',
    },
    answer: {
      ok: false,
      parts: [
        {
          part: 'timestamp',
          ok: false,
          detail: 'The timestamp is 412 seconds behind the server clock; at most 300 are allowed.',
          remedy:
            'Sign again with the present time; if it was the present time, set the clock of your machine.',
        },
        { part: 'signature', ok: true, detail: 'It has the right form.', remedy: null },
        { part: 'body', ok: true, detail: 'The signature fits exactly these bytes.', remedy: null },
        { part: 'secret', ok: true, detail: 'It was signed with the secret "tms".', remedy: null },
      ],
      matched_secret: { id: 1, name: 'tms' },
    },
  },
})

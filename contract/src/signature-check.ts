import Type from 'typebox'
import { endpoint } from './endpoint.ts'
import { label, nullable } from './fields.ts'
import { bodyBytesMax, signatureCheckBytesMax, signatureChecksPerMinuteMax } from './limits.ts'

/** The parts of a signed write, in the order of the check. */
export const signedParts = ['timestamp', 'signature', 'body', 'secret'] as const

const pasted = (description: string, max: number) =>
  Type.String({ description, maxLength: max, 'x-expected': `text of at most ${max} characters` })

const encoder = new TextEncoder()

export const checkSignature = endpoint({
  name: 'check-signature',
  method: 'POST',
  path: '/api/signature-check',
  summary: 'Diagnose a signature',
  description: `Checks the two headers and the body of a signed write exactly as sent, and reports which part is wrong and how to fix it. It tries the five most frequent mistakes with the secrets of the brokerage, such as a signature without the address. It never returns a secret or a correct signature. At most ${signatureChecksPerMinuteMax} checks per minute and brokerage.`,
  tag: 'Credentials',
  who: { kind: 'dashboard', role: 'admin' },
  body: Type.Object({
    timestamp: pasted('The value of X-Service-Timestamp', 200),
    address: Type.Optional(
      pasted(
        'The method and URL or path of the request, such as POST /api/integrations/quotes; default: those of shipment-update, which signs the body only',
        2_000,
      ),
    ),
    body: Type.Refine(
      Type.String({
        description: `The body exactly as sent, at most ${bodyBytesMax.toLocaleString('en-US')} bytes. To check the signer of larger requests, sign a smaller one`,
        maxLength: bodyBytesMax,
        'x-expected': `text of at most ${bodyBytesMax.toLocaleString('en-US')} bytes; sign a smaller request to check your signer`,
      }),
      (value) => value.length <= bodyBytesMax && encoder.encode(value).length <= bodyBytesMax,
      () => 'body',
    ),
    signature: pasted('The value of X-Service-Signature', 1000),
    secret_name: Type.Optional(label('Only try the secrets with this name; default all')),
  }),
  bodyBytesMax: signatureCheckBytesMax,
  status: 200,
  answer: Type.Object({
    ok: Type.Boolean({ description: 'true if this signature would be accepted now' }),
    parts: Type.Array(
      Type.Object({
        part: Type.Enum([...signedParts]),
        ok: {
          ...nullable(Type.Boolean()),
          description: 'null if unknown, because the signature matches nothing that was tried',
        },
        detail: Type.String({ description: 'The finding, in one sentence' }),
        remedy: {
          ...nullable(Type.String()),
          description: 'The remedy, in one sentence; null if none is needed',
        },
      }),
      { description: 'Always four parts, in this order: timestamp, signature, body, secret' },
    ),
    matched_secret: {
      ...nullable(Type.Object({ id: Type.Integer(), name: Type.String() })),
      description:
        'The secret that the request was signed with, even if it is revoked or was used incorrectly',
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

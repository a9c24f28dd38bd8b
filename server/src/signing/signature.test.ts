import { createHmac, timingSafeEqual } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Problem } from '#contract/errors.ts'
import { type SignedAddress, textBeforeBody } from '#contract/signature.ts'
import { readSignatureHeaders, signatureOf, verifySignature } from './signature.ts'

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) }
})
afterEach(() => vi.mocked(timingSafeEqual).mockClear())

const nowSeconds = 1_772_373_600
const now = nowSeconds * 1000
const good = `sha256=${'0a'.repeat(32)}`

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
  return 'accepted'
}

const read = (timestamp: string | undefined, signature: string | undefined) =>
  codeOf(() => readSignatureHeaders({ timestamp, signature }))

describe('known answers', () => {
  test('the function computes GitHub’s published example, which has no timestamp', async () => {
    const digest = createHmac('sha256', "It's a Secret to Everybody").update('Hello, World!').digest('hex')
    expect(digest).toBe('757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17')
  })

  test('our own: the key is the whole secret including its prefix, and the text is <timestamp>.<body>', async () => {
    // Computed with Python's hmac module.
    const digest = signatureOf(`lwsec_${'0'.repeat(49)}`, {
      timestamp: '1772373600',
      address: null,
      bodyBytes: Buffer.from('{"lane_ref":"48211093754-1-1","customer_rate":2150}'),
    })
    expect(digest.toString('hex')).toBe('ecf09be4443dd83e3b10249a0ced1a5997097a2c0836d523395319ed27cf323b')
  })
})

describe('headers', () => {
  test('the documented form is accepted', async () => {
    expect(await read('1772373600', good)).toBe('accepted')
  })

  test('one missing header, or two, are reported as missing', async () => {
    expect(await read(undefined, good)).toBe('signature-missing')
    expect(await read('1772373600', undefined)).toBe('signature-missing')
    expect(await read(undefined, undefined)).toBe('signature-missing')
  })

  test.each([
    ['a space before', ' 1772373600'],
    ['a space behind', '1772373600 '],
    ['a plus sign', '+1772373600'],
    ['a minus sign', '-1772373600'],
    ['a leading zero', '01772373600'],
    ['an exponent', '1.7e9'],
    ['hexadecimal', '0x65a1b2c3'],
    ['a fraction', '1772373600.0'],
    ['a fraction that shifts the boundary to the body', '1772373600.5'],
    ['trailing letters', '1772373600abc'],
    ['Arabic digits', '١٧٧٢٣٧٣٦٠٠'],
    ['nothing', ''],
    ['zero', '0'],
    ['two headers, as Node joins them', '1772373600, 1772373600'],
    ['10^15, as milliseconds twice over', '1000000000000000'],
    ['a line feed behind', '1772373600\n'],
    ['NaN', 'NaN'],
  ])('a timestamp with %s is malformed', async (_what, timestamp) => {
    expect(await read(timestamp, good)).toBe('timestamp-malformed')
  })

  test.each([
    ['upper-case hex', `sha256=${'0A'.repeat(32)}`],
    ['63 digits', good.slice(0, -1)],
    ['65 digits', `${good}0`],
    ['an upper-case prefix', `SHA256=${'0a'.repeat(32)}`],
    ['another algorithm', `sha1=${'0a'.repeat(20)}`],
    ['no prefix', '0a'.repeat(32)],
    ['a space before', ` ${good}`],
    ['a space behind', `${good} `],
    ['a list', `${good},${good}`],
    ['two headers, as Node joins them', `${good}, ${good}`],
    ['base64', `sha256=${Buffer.alloc(32, 10).toString('base64')}`],
    ['letters that are no hex', `sha256=${'zz'.repeat(32)}`],
    ['Latin-1 bytes', `sha256=${'\u00e9\u00ff'.repeat(32)}`],
    ['nothing', ''],
    ['nothing behind the prefix', 'sha256='],
    ['a line feed behind', `${good}\n`],
  ])('a signature with %s is malformed', async (_what, signature) => {
    expect(await read('1772373600', signature)).toBe('signature-malformed')
  })
})

const sentNow = { timestamp: String(nowSeconds), address: null }
const secrets = [{ plaintext: 'lwsec_new' }, { plaintext: 'lwsec_old' }]
const bodyBytes = Buffer.from('{"lane_ref":"48211093754-1-1","customer_rate":2150}')

function verified(
  sent: {
    secret?: string
    timestamp?: string
    body?: Buffer
    signedAddress?: SignedAddress | null
    address?: SignedAddress | null
  },
  live: readonly { plaintext: string }[] = secrets,
) {
  const timestamp = sent.timestamp ?? String(nowSeconds)
  const { signedAddress = null, address = null } = sent
  const digest = signatureOf(sent.secret ?? 'lwsec_new', { timestamp, address: signedAddress, bodyBytes })
  return verifySignature({ timestamp, digest, address, bodyBytes: sent.body ?? bodyBytes }, live, now)
}

describe('the signature', () => {
  test('of each live secret is accepted, and the matching secret is returned', async () => {
    expect((await verified({ secret: 'lwsec_new' })).secret).toBe(secrets[0])
    expect((await verified({ secret: 'lwsec_old' })).secret).toBe(secrets[1])
  })

  test('of another secret does not match', async () => {
    expect(await codeOf(() => verified({ secret: 'lwsec_other' }))).toBe('signature-mismatch')
  })

  test('over a body in which any one bit is different does not match', async () => {
    const body = Buffer.from(JSON.stringify({ lane_ref: '48211093754-1-1', customer_name: 'x'.repeat(250) }))
    const digest = signatureOf('lwsec_new', { ...sentNow, bodyBytes: body })
    for (let bit = 0; bit < body.length * 8; bit++) {
      const flipped = Buffer.from(body)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const code = await codeOf(() =>
        verifySignature({ ...sentNow, digest, bodyBytes: flipped }, secrets, now),
      )
      expect(code, `bit ${bit}`).toBe('signature-mismatch')
    }
  })

  test.each([
    ['U+FFFD for a byte that is no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from('{\ufffd}')],
    [
      'decomposed letters',
      Buffer.from('{"a":"é"}'.normalize('NFC')),
      Buffer.from('{"a":"é"}'.normalize('NFD')),
    ],
    ['an escape for a letter', Buffer.from('{"a":"é"}'), Buffer.from('{"a":"\\u00e9"}')],
    ['pretty printing', Buffer.from('{"a":1}'), Buffer.from('{ "a": 1 }')],
    ['a line end behind', Buffer.from('{"a":1}'), Buffer.from('{"a":1}\r\n')],
    ['a byte-order mark', Buffer.from('{"a":1}'), Buffer.from('\ufeff{"a":1}')],
  ])('does not match a body re-serialised with %s', async (_what, signed, received) => {
    const digest = signatureOf('lwsec_new', { ...sentNow, bodyBytes: signed })
    const code = await codeOf(() =>
      verifySignature({ ...sentNow, digest, bodyBytes: received }, secrets, now),
    )
    expect(code).toBe('signature-mismatch')
  })

  test('is compared once with each live secret, whichever matches, if any', async () => {
    for (const secret of ['lwsec_new', 'lwsec_old', 'lwsec_other']) {
      vi.mocked(timingSafeEqual).mockClear()
      await codeOf(() => verified({ secret }))
      expect(timingSafeEqual).toHaveBeenCalledTimes(2)
    }
  })

  test('takes the same comparison for a tenant without a secret, and the error says how to create one', async () => {
    expect(await codeOf(() => verified({}, []))).toBe('signature-mismatch')
    expect(timingSafeEqual).toHaveBeenCalledTimes(1)
    await expect(verified({}, [])).rejects.toThrow('POST /api/integrations/secrets')
  })
})

describe('the address', () => {
  const quotes = { method: 'POST', path: '/api/integrations/quotes' }

  test('is signed between the timestamp and the body', async () => {
    expect(textBeforeBody('1772373600', quotes)).toBe('1772373600.POST /api/integrations/quotes\n')
    expect(await codeOf(() => verified({ signedAddress: quotes, address: quotes }))).toBe('accepted')
  })

  test.each([
    ['no address', null],
    ['another path', { ...quotes, path: '/api/integrations/outcomes' }],
    ['another method', { ...quotes, method: 'PUT' }],
    ['the path with a slash at its end', { ...quotes, path: '/api/integrations/quotes/' }],
  ])('a signature over %s does not match, in either direction', async (_what, other) => {
    expect(await codeOf(() => verified({ signedAddress: other, address: quotes }))).toBe('signature-mismatch')
    expect(await codeOf(() => verified({ signedAddress: quotes, address: other }))).toBe('signature-mismatch')
  })

  test('of the endpoint is in the message', async () => {
    await expect(verified({ address: quotes })).rejects.toThrow(
      'Sign the text "<timestamp>.POST /api/integrations/quotes", a line feed and the body',
    )
  })

  test('two addresses and JSON bodies never have the same signed text', async () => {
    const address = fc.oneof(
      fc.constant(null),
      fc.record({
        method: fc.constantFrom('POST', 'PATCH', 'DELETE'),
        path: fc.stringMatching(/^\/[!-~]{0,20}$/),
      }),
    )
    const body = fc.oneof(
      fc.jsonValue().map((value) => JSON.stringify({ value })),
      fc.string(),
    )
    const request = fc
      .tuple(fc.stringMatching(/^[1-9][0-9]{0,11}$/), address, body)
      // An endpoint whose signature has no address accepts only JSON objects.
      .map(([timestamp, at, text]) => ({ timestamp, at, text: at === null ? `{${text}` : text }))
    fc.assert(
      fc.property(request, request, (one, two) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(two))
        const textOf = ({ timestamp, at, text }: typeof one) => textBeforeBody(timestamp, at) + text
        expect(textOf(one)).not.toBe(textOf(two))
      }),
    )
  })
})

test('a file in pieces has the signature of its bytes, and other work runs between the pieces', async () => {
  const pieces = [Buffer.from('Origin,'), Buffer.from('Rate\n'), Buffer.from('Dallas TX,2150\n')]
  const whole = Buffer.concat(pieces)
  const digest = signatureOf('lwsec_new', { ...sentNow, bodyBytes: whole })
  expect(signatureOf('lwsec_new', { ...sentNow, bodyBytes: pieces })).toEqual(digest)
  const pause = vi.fn(async () => {})
  const verify = (bodyBytes: Buffer | readonly Buffer[]) =>
    verifySignature({ ...sentNow, digest, bodyBytes }, secrets, now, pause)
  const { requestDigest } = await verify(pieces)
  expect(pause).toHaveBeenCalledTimes(2)
  expect((await verify(whole)).requestDigest).toEqual(requestDigest)
  expect(pause).toHaveBeenCalledTimes(2)
})

describe('the window', () => {
  test.each([
    [-301, 'timestamp-out-of-window'],
    [-300, 'accepted'],
    [0, 'accepted'],
    [300, 'accepted'],
    [301, 'timestamp-out-of-window'],
  ])('%i seconds from the server clock is %s', async (skew, code) => {
    expect(await codeOf(() => verified({ timestamp: String(nowSeconds + skew) }))).toBe(code)
  })

  test('is reported only to a holder of the secret', async () => {
    expect(
      await codeOf(() => verified({ secret: 'lwsec_other', timestamp: String(nowSeconds - 9999) })),
    ).toBe('signature-mismatch')
  })
})

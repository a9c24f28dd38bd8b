import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textBeforeBody } from '#contract/signature.ts'
import { threadMs } from '#testing/thread-time.ts'
import { newSigningSecret } from '../security/index.ts'
import { atTheService, explainSignature, type KnownSecret, type SignedPart } from './explain-signature.ts'
import { addressText, type SignedOperation, signedTarget } from './signed-operation.ts'

const nowSeconds = 1_772_373_600
const now = nowSeconds * 1000
const timestamp = String(nowSeconds)
const plaintext = newSigningSecret()
const secret: KnownSecret = { id: 1, name: 'tms', plaintext, ended: null }
const body = '{"lane_ref":"48211093754-1-1","customer_name":"Café & Sons","customer_rate":2150.00}'

const json = { method: 'POST', isJson: true, keysMax: 64 } as const
const update: SignedOperation = { ...json, path: '/api/integrations/tms/shipment-update', signs: 'body' }
const quotes: SignedOperation = { ...json, path: '/api/integrations/quotes', signs: 'address and body' }
const imports: SignedOperation = { ...quotes, path: '/api/integrations/imports/{id}', isJson: false }
const operations = [update, quotes, imports]

const hex = (key: string | Buffer, text: string | Buffer) =>
  createHmac('sha256', key).update(text).digest('hex')
const signed = (text: string | Buffer, key: string | Buffer = plaintext) => `sha256=${hex(key, text)}`

function explain(
  pasted: { timestamp?: string; signature?: string; body?: string; sentTo?: string },
  secrets: readonly KnownSecret[] = [secret],
) {
  const { sentTo = addressText(update), ...whole } = { timestamp, body, ...pasted }
  const target = signedTarget(sentTo, operations)
  if (target === null) throw new Error(`No signed operation at ${sentTo}.`)
  const right = textBeforeBody(whole.timestamp, target.address) + whole.body
  return explainSignature({ signature: signed(right), target, ...whole }, secrets, now, atTheService)
}

/** The detail of each part that is wrong. */
function wrong(explanation: ReturnType<typeof explain>): Partial<Record<SignedPart, string>> {
  return Object.fromEntries(
    explanation.parts.flatMap(({ part, ok, detail }) => (ok === false ? [[part, detail]] : [])),
  )
}

describe('properties', () => {
  const bodies = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
    fc.jsonValue().map((value) => JSON.stringify({ value })),
  )

  test('a correctly signed write is ok, for any body and any secret', () => {
    fc.assert(
      fc.property(
        bodies,
        fc.string({ minLength: 1 }),
        fc.integer({ min: -300, max: 300 }),
        (text, key, skew) => {
          const time = String(nowSeconds + skew)
          const known = { ...secret, plaintext: key }
          const explanation = explain(
            { timestamp: time, body: text, signature: signed(`${time}.${text}`, key) },
            [secret, known],
          )
          expect([explanation.ok, explanation.matched]).toEqual([true, known])
          expect(explanation.parts.map(({ part }) => part)).toEqual([
            'timestamp',
            'signature',
            'body',
            'secret',
          ])
        },
      ),
    )
  })

  test('a body with one character changed, added or removed is never ok', () => {
    const change = fc.record({
      at: fc.nat(),
      put: fc.string({ minLength: 0, maxLength: 1 }),
      take: fc.integer({ min: 0, max: 1 }),
    })
    fc.assert(
      fc.property(bodies, change, (text, { at, put, take }) => {
        const place = at % (text.length + 1)
        const changed = `${text.slice(0, place)}${put}${text.slice(place + take)}`.toWellFormed()
        fc.pre(changed !== text)
        const explanation = explain({ body: changed, signature: signed(`${timestamp}.${text}`) })
        expect(explanation.ok).toBe(false)
      }),
    )
  })

  test('for any input, the report contains neither a secret nor the correct signature', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), fc.string(), (time, text, signature) => {
        const wellFormed = text.toWellFormed()
        const said = JSON.stringify(explain({ timestamp: time, body: wellFormed, signature }).parts)
        expect(said).not.toContain(plaintext.slice(6))
        expect(said).not.toContain(hex(plaintext, `${time}.${wellFormed}`))
      }),
    )
  })

  test('each part that is wrong has a remedy', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (time, text, signature) => {
        for (const { ok, remedy } of explain({ timestamp: time, body: text, signature }).parts) {
          if (ok === false) expect(remedy).toMatch(/^[A-Z].*\.$/s)
        }
      }),
    )
  })
})

describe('the address', () => {
  const sentTo = addressText(quotes)

  test('a write signed with its address is ok, also when the whole URL is pasted', () => {
    expect(explain({ sentTo }).ok).toBe(true)
    expect(explain({ sentTo: 'post https://host:8443/api/integrations/quotes' }).ok).toBe(true)
  })

  test('the query is signed, too', () => {
    const withQuery = `${sentTo}?dry_run=true`
    expect(explain({ sentTo: withQuery }).ok).toBe(true)
    const without = signed(`${timestamp}.${sentTo}\n${body}`)
    expect(explain({ sentTo: withQuery, signature: without }).ok).toBe(false)
  })

  test('a path with parameters is signed as sent, and a CSV body is not read as JSON', () => {
    const csv = 'Origin,Rate\r\nDallas TX,2150\r\n'
    expect(explain({ sentTo: 'POST /api/integrations/imports/7', body: csv }).ok).toBe(true)
  })

  test('a signature without the address is named, and so is an address that is not signed', () => {
    const explanation = explain({ sentTo, signature: signed(`${timestamp}.${body}`) })
    expect(wrong(explanation)).toEqual({ signature: 'The address is missing in the signed text.' })
    expect(explanation.matched).toBe(secret)
    expect(wrong(explain({ signature: signed(textBeforeBody(timestamp, update) + body) }))).toEqual({
      signature: expect.stringContaining('this request signs the timestamp and the body only'),
    })
  })
})

describe('timestamp', () => {
  test.each([
    ['', /missing/],
    [String(now), /milliseconds/],
    [`${timestamp}.25`, /not the Unix time in whole seconds/],
    ['2026-03-01T14:00:00Z', /not the Unix time in whole seconds/],
    ['0123', /not the Unix time in whole seconds/],
  ])('%s is explained, even when the signature matches', (time, words) => {
    const explanation = explain({ timestamp: time, signature: signed(`${time}.${body}`) })
    expect(wrong(explanation)).toEqual({ timestamp: expect.stringMatching(words) })
    expect(explanation.matched).toBe(secret)
  })

  test('a difference of 300 seconds is allowed, 301 is not, and the report gives the difference', () => {
    expect(explain({ timestamp: String(nowSeconds - 300) }).ok).toBe(true)
    expect(wrong(explain({ timestamp: String(nowSeconds - 301) }))).toEqual({
      timestamp: 'The timestamp is 301 seconds behind the server clock; at most 300 are allowed.',
    })
    expect(wrong(explain({ timestamp: String(nowSeconds + 3600) }))).toEqual({
      timestamp: 'The timestamp is 3,600 seconds ahead of the server clock; at most 300 are allowed.',
    })
  })

  test('a time signed in milliseconds and sent in seconds is named', () => {
    expect(wrong(explain({ signature: signed(`${now}.${body}`) }))).toEqual({
      timestamp: expect.stringContaining('signed in milliseconds and sent in seconds'),
    })
  })

  test('a whole header line, or a value with surrounding whitespace, is read as the value', () => {
    const explanation = explain({
      timestamp: `X-Service-Timestamp: ${timestamp}\n`,
      signature: ` x-service-signature:${signed(`${timestamp}.${body}`)} `,
    })
    expect(explanation.ok).toBe(true)
  })
})

describe('signature', () => {
  const right = hex(plaintext, `${timestamp}.${body}`)

  test.each([
    ['without its prefix', right, /lacks "sha256="/],
    ['in upper case', `sha256=${right.toUpperCase()}`, /upper case/],
    ['with its prefix in upper case', `SHA256=${right}`, /lacks "sha256="/],
    ['in base64', `sha256=${Buffer.from(right, 'hex').toString('base64')}`, /base64 instead of hex/],
    ['in base64 without its prefix', Buffer.from(right, 'hex').toString('base64'), /base64 instead of hex/],
    ['in base64url', `sha256=${Buffer.from(right, 'hex').toString('base64url')}`, /base64 instead of hex/],
  ])('a correct signature %s: only its form is wrong, and the secret is named', (_how, signature, words) => {
    const explanation = explain({ signature })
    expect(wrong(explanation)).toEqual({ signature: expect.stringMatching(words) })
    expect(explanation.matched).toBe(secret)
  })

  test.each([
    ['', /missing/],
    [`sha256=${right.slice(2)}`, /not sha256= followed by 64 hex digits/],
    [`sha256=${right}0`, /not sha256=/],
    ['sha256=', /not sha256=/],
    ['sha256=zz!', /not sha256=/],
    [`sha256=${right}, sha256=${right}`, /not sha256=/],
    [plaintext, /signing secret, not a signature/],
  ])('not a signature: %s', (signature, words) => {
    const { parts } = explain({ signature })
    expect(parts.map(({ ok }) => ok)).toEqual([true, false, null, null])
    expect(parts[1]?.detail).toMatch(words)
  })

  test('computed over the body alone is named, for each form of the signed text', () => {
    for (const sentTo of [addressText(update), addressText(quotes)]) {
      expect(wrong(explain({ sentTo, signature: signed(body) }))).toEqual({
        signature: expect.stringMatching(/body alone/),
      })
    }
  })

  test('two mistakes in the signature are both reported', () => {
    expect(wrong(explain({ signature: hex(plaintext, body) })).signature).toMatch(/sha256=.*body alone/)
  })

  test('a signature that matches nothing blames neither the body nor the secret', () => {
    const { ok, parts, matched } = explain({ signature: signed('something else') })
    expect([ok, matched, parts.map((part) => part.ok)]).toEqual([false, null, [true, false, null, null]])
  })
})

describe('body', () => {
  const compact = '{"lane_ref":"48211093754-1-1","customer_name":"Café & Sons","customer_rate":2150.00}'
  const python = '{"lane_ref": "48211093754-1-1", "customer_name": "Café & Sons", "customer_rate": 2150.00}'

  test.each([
    ['with a line break at its end', body, `${body}\n`, /line break at its end/],
    ['without the line break at its end', `${body}\n`, body, /line break at its end/],
    ['without its Windows line break', `${body}\r\n`, body, /line break at its end/],
    ['as JSON with the separators of Python', compact, python, /serialized a second time/],
    [
      'as JSON with the escapes of Python',
      compact,
      python.replace('é', '\\u00e9'),
      /serialized a second time/,
    ],
    ['as JSON with the numbers of JavaScript', compact, JSON.stringify(JSON.parse(compact)), /second time/],
    ['as indented JSON', compact, JSON.stringify(JSON.parse(compact), null, 2), /second time/],
    ['as compact JSON', python, compact, /second time/],
    ['as compact JSON without its indentation', '{\n\t"a": [1, {}]\n}', '{"a":[1,{}]}', /second time/],
  ])('signed %s', (_how, sent, text, words) => {
    const explanation = explain({ body: sent, signature: signed(`${timestamp}.${text}`) })
    expect(wrong(explanation)).toEqual({ body: expect.stringMatching(words) })
    expect(explanation.matched).toBe(secret)
  })

  test('a body that is not one JSON object is an error; with a matching signature it is a warning', () => {
    for (const odd of ['', '{', '[1]', '{"a":1,"a":2}', '\uFEFF{}', '{"__proto__":1}']) {
      expect(wrong(explain({ body: odd, signature: signed('x') })).body).toMatch(/\.$/)
      const right = explain({ body: odd })
      expect(right.ok).toBe(true)
      expect(right.parts.find(({ part }) => part === 'body')?.detail).toContain('would still be rejected')
    }
  })
})

describe('secret', () => {
  test('used without its prefix is named', () => {
    const signature = signed(`${timestamp}.${body}`, plaintext.slice('lwsec_'.length))
    expect(wrong(explain({ signature }))).toEqual({ secret: expect.stringMatching(/prefix/) })
  })

  test('a revoked or expired secret is named, with the time it ended', () => {
    const at = Date.parse('2026-02-01T10:00:00Z')
    const old = { id: 7, name: 'old', plaintext: newSigningSecret() }
    const signature = signed(`${timestamp}.${body}`, old.plaintext)
    const signedWithEnded = (how: 'revoked' | 'expired') =>
      explain({ signature }, [secret, { ...old, ended: { how, at } }])
    expect(wrong(signedWithEnded('revoked'))).toEqual({
      secret: 'It was signed with the secret "old" (id 7), which was revoked at 2026-02-01T10:00:00.000Z.',
    })
    expect(wrong(signedWithEnded('expired')).secret).toContain('overlap ended at 2026-02-01T10:00:00.000Z')
    expect([signedWithEnded('revoked').ok, signedWithEnded('revoked').matched?.id]).toEqual([false, 7])
  })

  test('no secret at all, or no live secret', () => {
    expect(wrong(explain({}, [])).secret).toBe('There is no such signing secret.')
    const signature = signed('x')
    const ended = { how: 'revoked', at: now } as const
    expect(wrong(explain({ signature }, [{ ...secret, ended }])).secret).toMatch(/None of these/)
  })
})

test('a body of 64 KiB that matches nothing is checked against four secrets within a second of CPU time', {
  tags: 'measure',
}, () => {
  const member = (index: number) => `"k${index}":"${'a/é'.repeat(250)}"`
  const large = `{${Array.from({ length: 60 }, (_, index) => member(index)).join(',')}}`
  const secrets = Array.from({ length: 30 }, (_, id) => ({ ...secret, id, plaintext: newSigningSecret() }))
  expect(Buffer.byteLength(large)).toBeGreaterThan(60_000)
  const started = threadMs()
  explain({ body: large, signature: signed('x') }, secrets)
  expect(threadMs() - started).toBeLessThan(1000)
})

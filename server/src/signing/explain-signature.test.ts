import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newSigningSecret } from '../security/index.ts'
import { explainSignature, type KnownSecret, type SignedPart } from './explain-signature.ts'

const nowSeconds = 1_772_373_600
const now = nowSeconds * 1000
const timestamp = String(nowSeconds)
const plaintext = newSigningSecret()
const secret: KnownSecret = { id: 1, name: 'tms', plaintext, ended: null }
const body = '{"lane_ref":"48211093754-1-1","customer_name":"Café & Sons","customer_rate":2150.00}'

const hex = (key: string | Buffer, text: string | Buffer, hash = 'sha256') =>
  createHmac(hash, key).update(text).digest('hex')
const signed = (text: string | Buffer, key: string | Buffer = plaintext) => `sha256=${hex(key, text)}`

function explain(
  pasted: { timestamp?: string; signature?: string; body?: string },
  secrets: readonly KnownSecret[] = [secret],
) {
  const whole = { timestamp, body, ...pasted }
  return explainSignature({ signature: signed(`${whole.timestamp}.${whole.body}`), ...whole }, secrets, now)
}

/** The parts that are wrong, with what is said of them. */
function wrong(explanation: ReturnType<typeof explain>): Partial<Record<SignedPart, string>> {
  return Object.fromEntries(
    explanation.parts.flatMap(({ part, ok, detail }) => (ok === false ? [[part, detail]] : [])),
  )
}

describe('laws', () => {
  const bodies = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
    fc.jsonValue().map((value) => JSON.stringify({ value })),
  )

  test('a correctly signed write is ok, whatever its body and its secret', () => {
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

  test('with any one character changed, added or taken out of the body it is never ok', () => {
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

  test('whatever is pasted, nothing that is said holds a secret or the right signature', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), fc.string(), (time, text, signature) => {
        const wellFormed = text.toWellFormed()
        const said = JSON.stringify(explain({ timestamp: time, body: wellFormed, signature }).parts)
        expect(said).not.toContain(plaintext.slice(6))
        expect(said).not.toContain(hex(plaintext, `${time}.${wellFormed}`))
      }),
    )
  })

  test('everything wrong has a remedy', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (time, text, signature) => {
        for (const { ok, remedy } of explain({ timestamp: time, body: text, signature }).parts) {
          if (ok === false) expect(remedy).toMatch(/^[A-Z].*\.$/s)
        }
      }),
    )
  })
})

describe('timestamp', () => {
  test.each([
    ['', /missing/],
    [String(now), /milliseconds/],
    [`${now}000`, /micro/],
    [`${timestamp}.25`, /fraction/],
    ['2026-03-01T14:00:00Z', /date/],
    ['0123', /zero/],
    ['now', /not a number/],
  ])('%s is explained, though the signature fits', (time, words) => {
    const explanation = explain({ timestamp: time, signature: signed(`${time}.${body}`) })
    expect(wrong(explanation)).toEqual({ timestamp: expect.stringMatching(words) })
    expect(explanation.matched).toBe(secret)
  })

  test('300 seconds off are allowed, 301 are not, and it is said by how much', () => {
    expect(explain({ timestamp: String(nowSeconds - 300) }).ok).toBe(true)
    expect(wrong(explain({ timestamp: String(nowSeconds - 301) }))).toEqual({
      timestamp: 'The timestamp is 301 seconds behind the server clock; at most 300 are allowed.',
    })
    expect(wrong(explain({ timestamp: String(nowSeconds + 3600) }))).toEqual({
      timestamp: 'The timestamp is 3,600 seconds ahead of the server clock; at most 300 are allowed.',
    })
  })

  test('a time signed in another unit than it was sent in', () => {
    expect(wrong(explain({ signature: signed(`${now}.${body}`) }))).toEqual({
      timestamp: expect.stringContaining('signed in milliseconds and sent in seconds'),
    })
    expect(wrong(explain({ timestamp: String(now), signature: signed(`${timestamp}.${body}`) }))).toEqual({
      timestamp: expect.stringContaining('signed in seconds and sent in milliseconds'),
    })
  })

  test('a whole header line, or white space around a value, is read by its value', () => {
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
    ['with its prefix in upper case', `SHA256=${right}`, /does not begin with "sha256="/],
    ['under the name of another scheme', `v1=${right}`, /does not begin with "sha256="/],
    ['in quotes', `"sha256=${right}"`, /quotes/],
    ['in base64', `sha256=${Buffer.from(right, 'hex').toString('base64')}`, /base64 instead of hex/],
    ['in base64 without its prefix', Buffer.from(right, 'hex').toString('base64'), /base64 instead of hex/],
    ['in base64url', `sha256=${Buffer.from(right, 'hex').toString('base64url')}`, /base64 instead of hex/],
    ['in base64 of hex', `sha256=${Buffer.from(right).toString('base64')}`, /once more, in base64/],
    ['with SHA-1', `sha1=${hex(plaintext, `${timestamp}.${body}`, 'sha1')}`, /SHA-1/],
    ['with SHA-512', `sha256=${hex(plaintext, `${timestamp}.${body}`, 'sha512')}`, /SHA-512/],
  ])('a right one %s: only its form is wrong, and the secret is named', (_how, signature, words) => {
    const explanation = explain({ signature })
    expect(wrong(explanation)).toEqual({ signature: expect.stringMatching(words) })
    expect(explanation.matched).toBe(secret)
  })

  test.each([
    ['', /missing/],
    [`sha256=${right.slice(2)}`, /62 hex digits; it must have 64/],
    [`sha256=${right}0`, /65 hex digits/],
    ['sha256=', /neither/],
    ['sha256=zz!', /neither/],
    [`sha256=${right}, sha256=${right}`, /several values/],
    [plaintext, /signing secret, not a signature/],
  ])('what cannot be one: %s', (signature, words) => {
    const { parts } = explain({ signature })
    expect(parts.map(({ ok }) => ok)).toEqual([true, false, null, null])
    expect(parts[1]?.detail).toMatch(words)
  })

  test.each([
    [body, /body alone/],
    [`${timestamp}${body}`, /without the dot/],
    [`${timestamp}:${body}`, /colon/],
    [`v0:${timestamp}:${body}`, /Slack/],
    [`${body}.${timestamp}`, /wrong order/],
  ])('over another text', (text, words) => {
    expect(wrong(explain({ signature: signed(text) }))).toEqual({ signature: expect.stringMatching(words) })
  })

  test('two mistakes in the signature are both said', () => {
    expect(wrong(explain({ signature: hex(plaintext, body) })).signature).toMatch(/sha256=.*body alone/)
  })

  const hash = (text: string) => `sha256=${createHash('sha256').update(text).digest('hex')}`
  test.each([
    [`sha256=${hex(`${timestamp}.${body}`, plaintext)}`, /swapped/],
    [hash(`${plaintext}${timestamp}.${body}`), /plain SHA-256/],
    [hash(`${timestamp}.${body}`), /without any secret/],
    [signed(Buffer.from(`${timestamp}.${body}`, 'latin1')), /Latin-1/],
  ])('by another function', (signature, words) => {
    expect(wrong(explain({ signature }))).toEqual({ signature: expect.stringMatching(words) })
  })

  test('one that fits nothing says so, and blames neither body nor secret', () => {
    const { ok, parts, matched } = explain({ signature: signed('something else') })
    expect([ok, matched, parts.map((part) => part.ok)]).toEqual([false, null, [true, false, null, null]])
  })
})

describe('body', () => {
  const shuffled = '{"customer_rate":2150.00,"lane_ref":"48211093754-1-1","customer_name":"Café"}'

  test.each([
    ['a line end behind it', `${body}\n`, /line end behind it/],
    [
      'Python’s separators',
      '{"lane_ref": "48211093754-1-1", "customer_name": "Café & Sons", "customer_rate": 2150.00}',
      /json\.dumps/,
    ],
    [
      'Python’s escapes',
      '{"lane_ref": "48211093754-1-1", "customer_name": "Caf\\u00e9 & Sons", "customer_rate": 2150.00}',
      /\\u codes/,
    ],
    ['JavaScript’s numbers', JSON.stringify(JSON.parse(body)), /JavaScript/],
    [
      'indentation',
      '{\n  "lane_ref": "48211093754-1-1",\n  "customer_name": "Café & Sons",\n  "customer_rate": 2150.00\n}',
      /two spaces/,
    ],
    ['a byte-order mark', `\uFEFF${body}`, /byte-order mark/],
    ['nothing', '', /empty body/],
    ['Python’s printed bytes', `b'${body}'`, /b'/],
    ['an object’s printed form', '[object Object]', /\[object Object\]/],
    [
      'a printed dict',
      "{'lane_ref': '48211093754-1-1', 'customer_name': 'Café & Sons', 'customer_rate': 2150.00}",
      /dict/,
    ],
  ])('signed with %s', (_what, text, words) => {
    const explanation = explain({ signature: signed(`${timestamp}.${text}`) })
    expect(wrong(explanation)).toEqual({ body: expect.stringMatching(words) })
    expect(explanation.matched).toBe(secret)
  })

  test.each([
    ['line ends', `${body}\n`, body, /line end behind it/],
    ['white space', `  ${body}  `, body, /white space/],
    ['Windows line ends', '{\r\n"a":1}', '{\n"a":1}', /CR LF/],
    ['Unix line ends', '{\n"a":1}', '{\r\n"a":1}', /CR LF/],
    ['no line ends', '{\n"a":1}', '{"a":1}', /line ends|without spaces/],
    ['a byte-order mark', `\uFEFF${body}`, body, /byte-order mark/],
    ['spaces', '{"a": [1, {}], "b": []}', '{"a":[1,{}],"b":[]}', /without spaces/],
    [
      'keys out of order',
      shuffled,
      '{"customer_name":"Café","customer_rate":2150.00,"lane_ref":"48211093754-1-1"}',
      /alphabetical/,
    ],
    ['slashes', '{"a":"1/2"}', '{"a":"1\\/2"}', /PHP/],
  ])('sent with %s, signed without', (_what, sent, text, words) => {
    const found = wrong(explain({ body: sent, signature: signed(`${timestamp}.${text}`) }))
    expect(found).toEqual({ body: expect.stringMatching(words) })
  })

  test('what is no JSON object is said where nothing fits; where the signature fits, as a warning', () => {
    for (const odd of ['', '{', '[1]', '{"a":1,"a":2}', '\uFEFF{}', '{"__proto__":1}']) {
      expect(wrong(explain({ body: odd, signature: signed('x') })).body).toMatch(/\.$/)
      const right = explain({ body: odd })
      expect(right.ok).toBe(true)
      expect(right.parts.find(({ part }) => part === 'body')?.detail).toContain('would be refused afterwards')
    }
  })
})

describe('secret', () => {
  const rest = plaintext.slice('lwsec_'.length)

  test.each([
    ['without its prefix', rest, /prefix/],
    ['with a line end', `${plaintext}\n`, /line end/],
    ['in quotes', `"${plaintext}"`, /quotes/],
    ['decoded as base64', Buffer.from(rest, 'base64'), /base64/],
    ['decoded as hex', Buffer.from(rest, 'hex'), /hex/],
    ['in base64', Buffer.from(plaintext).toString('base64'), /Kubernetes/],
    ['as UTF-16', Buffer.from(plaintext, 'utf16le'), /UTF-16/],
    ['empty', '', /empty secret/],
  ])('used %s', (_how, key, words) => {
    expect(wrong(explain({ signature: signed(`${timestamp}.${body}`, key) }))).toEqual({
      secret: expect.stringMatching(words),
    })
  })

  test('one that is not accepted any more is named, with since when', () => {
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

  test('no secret at all, or none that is live', () => {
    expect(wrong(explain({}, [])).secret).toBe('There is no such signing secret.')
    const signature = signed('x')
    const ended = { how: 'revoked', at: now } as const
    expect(wrong(explain({ signature }, [{ ...secret, ended }])).secret).toMatch(/None of these/)
  })

  test('an empty secret tells of none of ours', () => {
    expect(explain({ signature: signed(`${timestamp}.${body}`, '') }).matched).toBeNull()
  })
})

test('64 KiB with four secrets, fitting nothing, take a few tens of milliseconds', () => {
  const member = (index: number) => `"k${index}":"${'a/é'.repeat(250)}"`
  const large = `{${Array.from({ length: 60 }, (_, index) => member(index)).join(',')}}`
  const secrets = Array.from({ length: 30 }, (_, id) => ({ ...secret, id, plaintext: newSigningSecret() }))
  expect(Buffer.byteLength(large)).toBeGreaterThan(60_000)
  const started = performance.now()
  explain({ body: large, signature: signed('x') }, secrets)
  // Some 60 on a slow machine: 65 texts and keys, four secrets. Well under what anybody would notice.
  expect(performance.now() - started).toBeLessThan(1000)
})

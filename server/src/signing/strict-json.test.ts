import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Problem } from '#contract/errors.ts'
import { jsonItemsMax } from '#contract/limits.ts'
import { threadMs } from '#testing/thread-time.ts'
import { readJsonInSteps, readJsonObject } from './strict-json.ts'

const limits = { depthMax: 16, keysMax: 64 }
const read = (body: string | Buffer) => readJsonObject(Buffer.from(body as string), limits)

function codeOf(body: string | Buffer): string {
  try {
    read(body)
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
  return 'accepted'
}

function refusalOf(body: string) {
  try {
    read(body)
    return null
  } catch (error) {
    if (error instanceof Problem) return [error.status, error.message, error.errors]
    throw error
  }
}

const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`

describe('accepted bodies are parsed like JSON.parse', () => {
  test('for any JSON object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key)),
          fc.oneof(
            fc.string({ unit: 'grapheme' }),
            fc.double({ noNaN: true, noDefaultInfinity: true }),
            fc.boolean(),
            fc.constant(null),
          ),
          { maxKeys: 20 },
        ),
        (value) => {
          const text = JSON.stringify(value)
          expect(read(text)).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  test.each(['{}', ' {\t"a" : "}" , "b": "\\"," }\r\n', '{"":1}', '{"a":{"a":1},"b":[{"a":1},{"a":1}]}'])(
    '%j',
    (body) => {
      expect(read(body)).toEqual(JSON.parse(body))
    },
  )
})

describe('a key twice is refused anywhere', () => {
  test.each([
    '{"customer_rate":1,"customer_rate":2}',
    '{"customer_rate":1,"customer_rate":1}',
    '{"customer_rate":1,"customer\\u005frate":2}',
    '{"a":{"b":1,"c":2,"b":3}}',
    '{"a":[{"b":1,"b":2}]}',
    '{"a":[],"a":{}}',
    '{"":1,"":2}',
    '{"é":1,"\\u00e9":2}',
    '{"a":"x\\"","b":[{"c":"]}"}],"a":1}',
  ])('%s', (body) => {
    expect(codeOf(body)).toBe('duplicate-key')
  })
})

describe('a key that reaches a prototype is refused anywhere', () => {
  test.each([
    '{"__proto__":{"admin":true}}',
    '{"\\u005f_proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"admin":true}}}',
    '{"a":{"__proto__":1}}',
    '{"a":[{"prototype":1}]}',
  ])('%s', (body) => {
    expect(codeOf(body)).toBe('forbidden-key')
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })
})

describe('a body that is not one JSON object is malformed', () => {
  test.each([
    '',
    ' ',
    'null',
    'true',
    '1',
    '"text"',
    '[]',
    '[{"a":1}]',
    '{',
    '}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{"a":1}{"b":2}',
    '{"a":1} x',
    "{'a':1}",
    '{a:1}',
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":0x1}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":-Infinity}',
    '{"a":undefined}',
    '{"a":tru}',
    '{"a":"\n"}',
    '{"a":"\t"}',
    '{"a":"\\x41"}',
    '{"a":"\\u12"}',
    '{"a":1 /* c */}',
    '// c\n{}',
    '{"a":"unclosed',
    '{"a":[1,]}',
    '{"a":[1}',
    '\u00a0{}',
    '{"a":1}\u0000',
    '{"a":\u0000}',
  ])('%j', (body) => {
    expect(codeOf(body)).toBe('malformed-json')
  })

  test.each([
    ['a byte-order mark', Buffer.from('\ufeff{}')],
    ['UTF-16 little-endian', Buffer.from('{}', 'utf16le')],
    ['UTF-16 with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{}', 'utf16le')])],
    ['a byte 0xFF in a text', Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')])],
    [
      'an overlong slash',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    ],
    [
      'a surrogate as UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['a letter cut in two', Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3]), Buffer.from('"}')])],
    ['Latin-1', Buffer.from('{"a":"é"}', 'latin1')],
  ])('%s', (_what, body) => {
    expect(codeOf(body)).toBe('malformed-json')
  })
})

describe('bounds', () => {
  test('16 levels are read, 17 are rejected, and 100,000 are rejected quickly', () => {
    expect(codeOf(nested(16))).toBe('accepted')
    expect(codeOf(nested(17))).toBe('malformed-json')
    expect(codeOf(nested(100_000))).toBe('malformed-json')
    expect(codeOf('{"a":'.repeat(100_000))).toBe('malformed-json')
  })

  test('64 keys are accepted, 65 are rejected, counted over all levels', () => {
    expect(codeOf(keys(64))).toBe('accepted')
    expect(codeOf(keys(65))).toBe('body-too-large')
    expect(codeOf(`{"a":${keys(32)},"b":${keys(31)}}`)).toBe('body-too-large')
  })

  test('the error names the object with the first key too many, and the limit', () => {
    const sent = `{"a":[{"b":1},{"c/d":[[1,2],${keys(62)}]}]}`
    const detail =
      'The body must have at most 64 keys in all objects together; the first one too many is in /a/1/c~1d/1. Leave out unknown fields, or send several smaller bodies.'
    expect(refusalOf(sent)).toEqual([
      413,
      detail,
      [{ pointer: '/a/1/c~1d/1', code: 'too-many-keys', detail }],
    ])
    expect(refusalOf(keys(65))?.[1]).toBe(
      'The body must have at most 64 keys in all objects together. Leave out unknown fields, or send several smaller bodies.',
    )
    expect(refusalOf(`{"${'n'.repeat(1_000)}":${keys(64)}}`)?.[1]).toHaveLength(209)
  })

  const list = (items: number, item = '0') => `[${Array(items).fill(item).join(',')}]`
  const millions = Buffer.from(`{"a":${list(2_500_000, '{}')}}`)
  test('millions of items are rejected quickly', { tags: 'measure' }, () => {
    const begun = threadMs()
    codeOf(millions)
    expect(threadMs() - begun).toBeLessThan(150)
  })

  test('20,000 items more than keys are accepted, one more and millions are rejected', () => {
    const most = limits.keysMax + jsonItemsMax
    expect(codeOf(`{"a":${list(most)}}`)).toBe('accepted')
    expect(codeOf(`{"a":${list(most + 1)}}`)).toBe('body-too-large')
    expect(codeOf(`{"a":${list(most - 1, '{}')},"b":[1]}`)).toBe('accepted')
    expect(codeOf(`{"a":${list(most, '{}')},"b":[1]}`)).toBe('body-too-large')
    expect(codeOf(millions)).toBe('body-too-large')
    expect(() => read(`{"a":{"b":[[],${list(most)}]}}`)).toThrow(
      'The body must have at most 20,064 items in all lists together; the first one too many is in /a/b/1.',
    )
  })

  test.each([
    ['one text', `{"a":"${'a'.repeat(1_000_000)}"}`],
    ['one text of escapes', `{"a":"${'\\"'.repeat(500_000)}"}`],
    ['spaces', `{"a":1${' '.repeat(1_000_000)}}`],
    ['short texts', `{"a":["${'b","'.repeat(250_000)}"]}`],
  ])('a megabyte of %s is read in steps', (_, body) => {
    const reading = readJsonInSteps(Buffer.from(body), { ...limits, keysMax: 1_000_000 })
    expect([...reading].length).toBeGreaterThan(20)
  })

  test('a key of 1,000 characters is accepted, a longer one is rejected', () => {
    expect(codeOf(`{"${'k'.repeat(1_000)}":1}`)).toBe('accepted')
    expect(codeOf(`{"${'k'.repeat(1_001)}":1}`)).toBe('malformed-json')
  })
})

test('any invalid text throws a problem, never another error', () => {
  const jsonish = fc.string({
    unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'a', '1', ' ', 'u', '\u0000'),
  })
  fc.assert(
    fc.property(fc.oneof(jsonish, fc.string({ unit: 'binary' })), (text) => void codeOf(text)),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => void codeOf(Buffer.from(bytes))),
    { numRuns: 500 },
  )
})

describe('the detail names the invalid syntax', () => {
  const detailOf = (body: string): string => {
    try {
      read(body)
    } catch (error) {
      if (error instanceof Problem) return error.message
      throw error
    }
    return 'accepted'
  }

  test.each([
    ['', 'The body is empty: send a JSON object.'],
    [' \r\n', 'The body is empty: send a JSON object.'],
    ['{"truck_cost":NaN}', 'NaN is not JSON; leave the member out or send null.'],
    ['{"truck_cost":-Infinity}', '-Infinity is not JSON; leave the member out or send null.'],
    ['{"truck_cost":undefined}', 'undefined is not JSON; leave the member out or send null.'],
    ['{"truck_cost":None}', 'None is not JSON; send null.'],
    ['{"everywhere":True}', 'True is not JSON; send true.'],
    ['{"a":1,}', 'The comma before } is not JSON; leave it out.'],
    ['{"a":[1, ]}', 'The comma before ] is not JSON; leave it out.'],
    ["{'a':1}", 'Single quotes are not JSON; put texts and the names of members in double quotes.'],
    ['{"a":1} // done', 'Comments are not JSON; leave them out.'],
    ['{"a":1, rate: 2}', 'The name of a member has no quotes; put it in double quotes.'],
  ])('%j', (body, detail) => {
    expect(detailOf(body)).toContain(detail)
  })

  test('words inside strings are not reported', () => {
    expect(detailOf('{"name":"NaN, \\" Infinity\'s True,}","a":1 2}')).toBe('The body is not valid JSON.')
  })

  test('a long text of quotes takes linear time', { tags: 'measure' }, () => {
    const body = '{"a":"'.concat('\\"'.repeat(250_000))
    const began = threadMs()
    expect(detailOf(body)).toBe('The body is not valid JSON.')
    expect(threadMs() - began).toBeLessThan(2_000)
  })
})

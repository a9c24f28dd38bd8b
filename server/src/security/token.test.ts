import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Problem } from '#contract/errors.ts'
import { derivedKey, keyName, secretKey } from './sealed-secret.ts'
import { bearerToken, type TokenKind, tokens } from './token.ts'

const key = secretKey('ab'.repeat(32))
if (key === null) throw new Error('No key.')
const ours = tokens([key])
const nowSeconds = 1_772_373_600
const now = nowSeconds * 1000
const claims = {
  tenant_id: 7,
  user_id: 1,
  role: 'owner',
  scope: 'integrations:write',
  jti: '01890000-0000-7000-8000-000000000001',
  iat: nowSeconds,
  exp: nowSeconds + 3600,
}
const payload = { ...claims, nbf: nowSeconds, sub: '1', iss: 'lanewise', aud: 'lanewise:integrations' }
const header = { alg: 'HS256', typ: 'svc+jwt' }
const serviceKey = derivedKey(key, 'service tokens')

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token signed with the key of service tokens, which an attacker does not have. */
function signed(itsHeader: unknown, itsPayload: unknown, hash = 'sha256', signingKey = serviceKey): string {
  const text = `${part(itsHeader)}.${part(itsPayload)}`
  return `${text}.${createHmac(hash, signingKey).update(text).digest('base64url')}`
}

function codeOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
  return 'accepted'
}

const verify = (token: string, kind: TokenKind = 'service', at = now) =>
  codeOf(() => ours.verify(kind, token, at))

test('a hand-made token in our format is accepted, so the cases below fail because of what they change', () => {
  expect(verify(signed(header, payload))).toBe('accepted')
})

describe('the algorithm is fixed', () => {
  const text = `${part({ alg: 'none', typ: 'svc+jwt' })}.${part(payload)}`
  test.each([
    ['none, no signature', `${text}.`],
    ['none, some signature', `${text}.AAAA`],
    ['None', signed({ alg: 'None', typ: 'svc+jwt' }, payload)],
    ['nOnE', signed({ alg: 'nOnE', typ: 'svc+jwt' }, payload)],
    ['HS384 with our key', signed({ alg: 'HS384', typ: 'svc+jwt' }, payload, 'sha384')],
    ['HS512 with our key', signed({ alg: 'HS512', typ: 'svc+jwt' }, payload, 'sha512')],
    ['RS256 by name', signed({ alg: 'RS256', typ: 'svc+jwt' }, payload)],
    ['EdDSA by name', signed({ alg: 'EdDSA', typ: 'svc+jwt' }, payload)],
    ['no alg', signed({ typ: 'svc+jwt' }, payload)],
    ['alg null', signed({ alg: null, typ: 'svc+jwt' }, payload)],
    ['alg a list', signed({ alg: ['HS256'], typ: 'svc+jwt' }, payload)],
    ['alg a number', signed({ alg: 256, typ: 'svc+jwt' }, payload)],
    ['alg with a NUL', signed({ alg: 'HS256\u0000', typ: 'svc+jwt' }, payload)],
    ['lower case', signed({ alg: 'hs256', typ: 'svc+jwt' }, payload)],
  ])('%s is not valid', (_what, token) => {
    expect(verify(token)).toBe('token-invalid')
  })

  test.each([
    ['jku', { jku: 'https://evil.example/keys' }],
    ['x5u', { x5u: 'https://evil.example/cert' }],
    ['kid', { kid: '../../dev/null' }],
    ['jwk', { jwk: { kty: 'oct', k: Buffer.from('attacker').toString('base64url') } }],
  ])('%s cannot choose the key', (_what, more) => {
    expect(verify(signed({ ...header, ...more }, payload, 'sha256', Buffer.from('attacker')))).toBe(
      'token-invalid',
    )
  })

  test('a token with an unknown critical extension is rejected', () => {
    expect(verify(signed({ ...header, crit: ['exp2'], exp2: 1 }, payload))).toBe('token-invalid')
  })
})

describe('two keys during a rotation', () => {
  const older = secretKey('cd'.repeat(32))
  if (older === null) throw new Error('No key.')
  const [before, both, after] = [tokens([older]), tokens([key, older]), tokens([key])]
  const verifiedBy = (verifier: typeof both, token: string) =>
    codeOf(() => verifier.verify('service', token, now))

  test('tokens of both keys are accepted, and new tokens are signed with the first key and name it', () => {
    const [old, fresh] = [before.sign('service', claims), both.sign('service', claims)]
    expect([verifiedBy(both, old), verifiedBy(both, fresh)]).toEqual(['accepted', 'accepted'])
    expect([verifiedBy(after, old), verifiedBy(after, fresh)]).toEqual(['token-invalid', 'accepted'])
    const { kid } = JSON.parse(Buffer.from(fresh.split('.')[0] ?? '', 'base64url').toString())
    expect([kid, both.signsWith]).toEqual([keyName(key), keyName(key)])
    expect(key.toString('hex')).not.toContain(kid)
  })

  test('tokens of the old key end on the stated day or when they expire before, and tokens of the new key only expire', () => {
    const until = now + 86_400_000
    const ending = tokens([key, older], until)
    const [old, fresh] = [
      before.sign('service', { ...claims, exp: nowSeconds + 9_000_000 }),
      ours.sign('service', { ...claims, exp: nowSeconds + 9_000_000 }),
    ]
    const at = (token: string, time: number) => codeOf(() => ending.verify('service', token, time))
    expect([at(old, until - 1000), at(fresh, until - 1000)]).toEqual(['accepted', 'accepted'])
    expect([at(old, until + 30_000), at(fresh, until + 30_000)]).toEqual(['token-expired', 'accepted'])
    expect(ending.verify('service', old, now).exp).toBe(until / 1000)
    const short = before.sign('service', { ...claims, exp: nowSeconds + 60 })
    expect(ending.verify('service', short, now).exp).toBe(nowSeconds + 60)
    expect(() => ending.verify('service', old, until + 30_000)).toThrow(/signed with an old key/)
    expect(() => ending.verify('service', short, until)).toThrow('The token has expired.')
  })

  test('a token of the wrong kind is reported as such, whichever key signed it', () => {
    expect(verifiedBy(both, before.sign('dashboard', claims))).toBe('token-wrong-kind')
  })

  test('a key name selects one of our keys: other keys and key names of other types are not tried', () => {
    const named = (kid: unknown) => signed({ ...header, kid }, payload)
    expect(verifiedBy(both, named(keyName(key)))).toBe('accepted')
    for (const kid of [keyName(older), '', 'x', '../../dev/null', null, 0, [keyName(key)], { a: 1 }, true]) {
      expect([kid, verifiedBy(both, named(kid))]).toEqual([kid, 'token-invalid'])
    }
  })

  test('a token from before keys had names is tried with each', () => {
    expect(verifiedBy(both, signed(header, payload))).toBe('accepted')
    expect(verifiedBy(both, signed(header, payload, 'sha256', derivedKey(older, 'service tokens')))).toBe(
      'accepted',
    )
  })
})

describe('the form', () => {
  const token = ours.sign('service', claims)
  const [head = '', body = '', signature = ''] = token.split('.')
  test.each([
    ['an empty signature', `${head}.${body}.`],
    ['two parts', `${head}.${body}`],
    ['four parts', `${token}.${signature}`],
    ['an empty payload', `${head}..${signature}`],
    ['an empty header', `.${body}.${signature}`],
    ['a signature cut short', token.slice(0, -2)],
    ['a signature with more behind', `${token}AA`],
    [
      'a changed first letter of the signature',
      `${head}.${body}.${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`,
    ],
    ['another payload', `${head}.${part({ ...payload, tenant_id: 8 })}.${signature}`],
    ['a payload that is no JSON', signed(header, 'no json')],
    ['a payload that is a list', signed(header, '[1]')],
    ['a payload that is null', signed(header, 'null')],
    ['a payload that is text', signed(header, '"text"')],
    ['a header that is no JSON', signed('no json', payload)],
    ['a header that is null', signed('null', payload)],
    ['JSON serialisation', JSON.stringify({ protected: head, payload: body, signature })],
    [
      'flattened JSON serialisation in place of the header',
      `${part({ protected: head, payload: body, signature })}.${body}.${signature}`,
    ],
    ['alg twice, none last', signed('{"alg":"HS256","typ":"svc+jwt","alg":"none"}', payload)],
    [
      'alg twice, none first, signed with nothing',
      `${part('{"alg":"none","typ":"svc+jwt","alg":"HS256"}')}.${body}.`,
    ],
    [
      'tenant_id twice, signed for another',
      `${head}.${part(JSON.stringify(payload).replace('{', '{"tenant_id":8,'))}.${signature}`,
    ],
    ['a header with a NUL', signed('{"alg":"HS256","typ":"svc+jwt\\u0000"}', payload)],
    ['a signature of zeros', `${head}.${body}.${'A'.repeat(43)}`],
    ['a signature cut to half', `${head}.${body}.${signature.slice(0, 22)}`],
    [
      'the signature of the payload alone',
      `${head}.${body}.${createHmac('sha256', serviceKey).update(body).digest('base64url')}`,
    ],
    ['signed with an empty key', signed(header, payload, 'sha256', Buffer.alloc(0))],
    [
      'signed with the key as hex text',
      signed(header, payload, 'sha256', Buffer.from(serviceKey.toString('hex'))),
    ],
    ['signed with the key of the installation itself', signed(header, payload, 'sha256', key)],
    [
      'signed with the key of the other kind',
      signed(header, payload, 'sha256', derivedKey(key, 'dashboard tokens')),
    ],
    ['base64 with padding', `${token}=`],
    ['white space around a part', `${head}. ${body}.${signature}`],
    ['nothing', ''],
    ['dots', '..'],
  ])('%s is rejected', (_what, text) => {
    expect(verify(text)).toBe('token-invalid')
  })

  test('a token of another installation is not valid', () => {
    const theirKey = secretKey('cd'.repeat(32))
    if (theirKey === null) throw new Error('No key.')
    expect(verify(tokens([theirKey]).sign('service', claims))).toBe('token-invalid')
  })
})

describe('the two kinds are never taken for each other', () => {
  test('each kind is accepted where it belongs and reported as the wrong kind elsewhere', () => {
    const [service, dashboard] = [ours.sign('service', claims), ours.sign('dashboard', claims)]
    expect(verify(service, 'service')).toBe('accepted')
    expect(verify(dashboard, 'dashboard')).toBe('accepted')
    expect(verify(service, 'dashboard')).toBe('token-wrong-kind')
    expect(verify(dashboard, 'service')).toBe('token-wrong-kind')
  })

  test.each([
    ['the other typ', { ...header, typ: 'dash+jwt' }, payload],
    ['the plain typ', { ...header, typ: 'JWT' }, payload],
    ['no typ', { alg: 'HS256' }, payload],
    ['the other aud', header, { ...payload, aud: 'lanewise:dashboard' }],
    ['no aud', header, { ...payload, aud: undefined }],
    ['another issuer', header, { ...payload, iss: 'elsewhere' }],
    ['no issuer', header, { ...payload, iss: undefined }],
  ])('%s under the key of service tokens is not valid', (_what, itsHeader, itsPayload) => {
    expect(verify(signed(itsHeader, itsPayload))).toBe('token-invalid')
  })
})

describe('claims', () => {
  const wrongTimes = ['1772373600', 1772373600.5, -1, 0, null, [nowSeconds], {}, true, undefined]
  test.each(['iat', 'exp', 'nbf'])('%s must be whole seconds above 0', (name) => {
    for (const value of wrongTimes) {
      expect(verify(signed(header, { ...payload, [name]: value })), JSON.stringify(value)).toBe(
        'token-invalid',
      )
    }
    const infinite = JSON.stringify(payload).replace(new RegExp(`"${name}":\\d+`), `"${name}":1e400`)
    expect(verify(signed(header, infinite))).toBe('token-invalid')
  })

  test.each([
    ['tenant_id', ['7', 0, -7, 7.5, 2_147_483_648, null, undefined, [7]]],
    ['user_id', ['1', 0, -1, 1.5, 2_147_483_648, null, undefined, [1]]],
    ['role', [1, null, undefined, ['owner']]],
    ['scope', [1, null, undefined, ['integrations:write']]],
    ['jti', [1, null, undefined, '', 'x', "' or 1=1 --"]],
  ])('%s must be present and of its type', (name, values) => {
    for (const value of values) {
      expect(verify(signed(header, { ...payload, [name]: value })), JSON.stringify(value)).toBe(
        'token-invalid',
      )
    }
  })

  test('expiry is forgiven for 30 seconds of clock difference, and no longer', () => {
    const token = ours.sign('service', claims)
    const end = claims.exp * 1000
    expect(verify(token, 'service', end - 1)).toBe('accepted')
    expect(verify(token, 'service', end + 29_000)).toBe('accepted')
    expect(verify(token, 'service', end + 30_000)).toBe('token-expired')
    expect(verify(token, 'service', end + 31_000)).toBe('token-expired')
  })

  test('a token from the future is accepted for 30 seconds of clock difference, and no longer', () => {
    const token = ours.sign('service', claims)
    expect(verify(token, 'service', now - 30_000)).toBe('accepted')
    expect(verify(token, 'service', now - 31_000)).toBe('token-invalid')
  })
})

describe('the Authorization header', () => {
  test('the scheme name is case-insensitive', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) expect(bearerToken(`${scheme} a.b.c`)).toBe('a.b.c')
  })

  test('a request without the header has a missing token, without an error code in the challenge', () => {
    expect(codeOf(() => bearerToken(undefined))).toBe('token-missing')
  })

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearer a.b',
    'Bearer a.b.c.d',
    'Bearer a.b.c d',
    'Bearer a.b.c,',
    'Bearer "a.b.c"',
    'Basic dXNlcjpwYXNz',
    'a.b.c',
    'Bearera.b.c',
    'Bearer\ta.b.c',
    'Bearer a.b.c=',
    'Bearer é.b.c',
    'Bearer a.b.c\nX: y',
    'Bearer a.b.c, Bearer a.b.c',
  ])('%j is malformed', (text) => {
    expect(codeOf(() => bearerToken(text))).toBe('token-malformed')
  })

  test('a token is accepted only in the exact spelling that was issued', () => {
    const token = ours.sign('service', claims)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const accepted = [...alphabet].filter((last) => verify(token.slice(0, -1) + last) === 'accepted')
    expect(accepted).toEqual([token.at(-1)])
  })
})

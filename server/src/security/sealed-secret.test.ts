import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { secretForm } from '#contract/signature.ts'
import {
  derivedKey,
  keyName,
  type SecretKey,
  seal,
  secretKey,
  secretKeys,
  unseal,
  unsealWithAny,
  weakness,
} from './sealed-secret.ts'
import { newSigningSecret } from './signing-secret.ts'

function keyOf(text: string): SecretKey {
  const key = secretKey(text)
  if (key === null) throw new Error('No key.')
  return key
}
const key = keyOf('ab'.repeat(32))

describe('a sealed secret', () => {
  test('can be decrypted for the place that it was sealed for', () => {
    expect(unseal(key, 'signing secret 7/1', seal(key, 'signing secret 7/1', 'lwsec_é'))).toBe('lwsec_é')
  })

  test('cannot be decrypted in another row or for another tenant', () => {
    const sealed = seal(key, 'signing secret 7/1', 'lwsec_x')
    for (const place of ['signing secret 7/2', 'signing secret 8/1', 'signing secret 71/', '']) {
      expect(unseal(key, place, sealed)).toBeNull()
    }
  })

  test('cannot be decrypted with another key, with any bit flipped, or truncated', () => {
    const sealed = seal(key, 'place', 'lwsec_x')
    expect(unseal(keyOf('cd'.repeat(32)), 'place', sealed)).toBeNull()
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const flipped = Buffer.from(sealed)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(unseal(key, 'place', flipped), `bit ${bit}`).toBeNull()
    }
    for (let length = 0; length < sealed.length; length++) {
      expect(unseal(key, 'place', sealed.subarray(0, length))).toBeNull()
    }
  })

  test('is different every time and never contains its text', () => {
    const sealed = Array.from({ length: 100 }, () => seal(key, 'place', 'lwsec_plain'))
    expect(new Set(sealed.map((bytes) => bytes.toString('hex'))).size).toBe(100)
    for (const bytes of sealed) expect(bytes.includes('lwsec_plain')).toBe(false)
  })
})

describe('the secret key', () => {
  test.each([
    'ab'.repeat(32),
    Buffer.alloc(32, 7).toString('base64'),
    Buffer.alloc(48, 7).toString('base64url'),
  ])('may be %s', (text) => {
    expect(secretKey(text)?.length).toBeGreaterThanOrEqual(32)
  })

  test.each([
    '',
    'short',
    'ab'.repeat(31),
    Buffer.alloc(31, 7).toString('base64'),
    `${'ab'.repeat(31)}é`,
    ' '.repeat(64),
  ])('cannot be %j', (text) => {
    expect(secretKey(text)).toBeNull()
  })

  test('is weak if it was typed or filled in, and not if it was drawn', () => {
    const typed = [
      '00'.repeat(32),
      Buffer.from('passwordpassword'.repeat(4)).toString('base64'),
      'ab'.repeat(32),
    ]
    const filled = Buffer.from(Array.from({ length: 32 }, (_, at) => at % 15)).toString('base64')
    for (const text of [...typed, filled])
      expect(weakness(keyOf(text))).toMatch(/^has \d+ different bytes?, and/)
    for (let times = 0; times < 1_000; times += 1)
      expect(weakness(keyOf(randomBytes(32).toString('hex')))).toBeNull()
  })

  test('derives a different key for each purpose', () => {
    const purposes = ['service tokens', 'dashboard tokens', 'sealed secrets']
    expect(new Set(purposes.map((purpose) => derivedKey(key, purpose).toString('hex'))).size).toBe(3)
  })
})

test('a new signing secret has the documented format and is unique', () => {
  const made = Array.from({ length: 200 }, newSigningSecret)
  for (const secret of made) expect(secret).toMatch(secretForm)
  expect(new Set(made).size).toBe(200)
})

describe('a list of keys', () => {
  const [one, two] = ['ab'.repeat(32), Buffer.alloc(32, 7).toString('base64')]

  test('is separated by commas or lines, and keeps its order', () => {
    for (const text of [`${one},${two}`, ` ${one} , ${two} `, `${one}\n${two}\n`]) {
      expect(secretKeys(text)).toEqual([keyOf(one), keyOf(two)])
    }
    expect(secretKeys(one)).toEqual([keyOf(one)])
  })

  test('is rejected if it is empty or one entry is not a key', () => {
    for (const text of ['', ' , ', `${one},short`, `short,${one}`]) expect(secretKeys(text)).toBeNull()
  })

  test('decrypts with whichever key was used to encrypt', () => {
    const sealed = seal(keyOf(two), 'here', 'text')
    expect(unsealWithAny([keyOf(one), keyOf(two)], 'here', sealed)).toBe('text')
    expect(unsealWithAny([keyOf(one)], 'here', sealed)).toBeNull()
    expect(unsealWithAny([keyOf(one), keyOf(two)], 'elsewhere', sealed)).toBeNull()
  })

  test('each key has its own stable name', () => {
    expect(keyName(keyOf(one))).toMatch(/^[0-9a-f]{16}$/)
    expect(keyName(keyOf(one))).toBe(keyName(keyOf(one)))
    expect(keyName(keyOf(one))).not.toBe(keyName(keyOf(two)))
  })
})

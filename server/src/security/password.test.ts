import { describe, expect, test } from 'vitest'
import { hashPassword, isGuessable, isPassword } from './password.ts'

describe('a password', () => {
  test('matches its own hash only, and every hash of it is different', async () => {
    const [hash, again] = await Promise.all([
      hashPassword('otter saddle lamp pond'),
      hashPassword('otter saddle lamp pond'),
    ])
    expect(hash).not.toBe(again)
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await isPassword(hash, 'otter saddle lamp pond')).toBe(true)
    expect(await isPassword(hash, 'otter saddle lamp ponD')).toBe(false)
    expect(await isPassword(hash, 'otter saddle lamp pond ')).toBe(false)
    expect(await isPassword(hash, '')).toBe(false)
  })

  test('is compared to its last byte: it is not truncated at 72 bytes', async () => {
    const long = `${'otter saddle lamp '.repeat(4)}pond 12345678`
    const other = `${long.slice(0, 79)}X${long.slice(80)}`
    const hash = await hashPassword(long)
    expect(Buffer.byteLength(long)).toBeGreaterThan(80)
    expect(await isPassword(hash, long)).toBe(true)
    expect(await isPassword(hash, other)).toBe(false)
  })

  test('matches in any Unicode normalization of its accents', async () => {
    const hash = await hashPassword('crème brûlée étagère'.normalize('NFD'))
    expect(await isPassword(hash, 'crème brûlée étagère'.normalize('NFC'))).toBe(true)
  })

  test('never matches for a user without a password, not even the stand-in hash', async () => {
    expect(await isPassword(null, '')).toBe(false)
    expect(await isPassword(null, 'otter saddle lamp pond')).toBe(false)
  })

  test('is checked against a stand-in hash for an unknown user, which takes the same time', {
    tags: 'measure',
  }, async () => {
    const hash = await hashPassword('otter saddle lamp pond')
    await isPassword(null, 'warm up')
    const taken = async (against: string | null) => {
      const start = performance.now()
      await isPassword(against, 'wrong password here')
      return performance.now() - start
    }
    // A busy machine only adds time. So the shortest times approach the true ones, and the test ends when they are alike.
    let [known, unknown] = [Infinity, Infinity]
    const ratio = () => unknown / known
    for (let times = 0; times < 5 || (times < 200 && (ratio() < 1 / 3 || ratio() > 3)); times++) {
      known = Math.min(known, await taken(hash))
      unknown = Math.min(unknown, await taken(null))
    }
    expect(ratio()).toBeGreaterThan(1 / 3)
    expect(ratio()).toBeLessThan(3)
  })
})

describe('a guessable password', () => {
  test.each([
    ['aaaaaaaaaaaaaaaa', []],
    ['1234567890123456', []],
    ['abcabcabcabcabcabc', []],
    ['passwordpassword1', []],
    ['PasswordPassword12!', []],
    ['qwertyuiopasdfghjkl', []],
    ['bluemesalogistics2026', ['Blue Mesa Logistics']],
    ['ana.ortiz.ana.ortiz', ['Ana Ortiz', 'ana.ortiz@example.com']],
  ])('may be long: %s', (password, ownWords) => {
    expect(isGuessable(password, ownWords)).toBe(true)
  })

  test.each(['correct horse battery staple', 'Vt7#kQ9z!mR2pLx8w', 'el perro come manzanas'])(
    'does not include %s',
    (password) => {
      expect(isGuessable(password, ['Blue Mesa Logistics', 'Ana Ortiz'])).toBe(false)
    },
  )
})

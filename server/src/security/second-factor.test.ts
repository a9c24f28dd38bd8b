import { expect, test } from 'vitest'
import {
  factorAddress,
  newFactorSecret,
  newRecoveryCodes,
  recoveryCodeHash,
  stepOfCode,
} from './second-factor.ts'

/** The secret of RFC 6238, appendix B, in base 32. Its codes there have eight digits; ours are the last six. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test.each([
  [59, '287082', 1],
  [1111111109, '081804', 37037036],
  [2000000000, '279037', 66666666],
])('the code of second %i is that of RFC 6238', (seconds, code, step) => {
  expect(stepOfCode(secret, code, seconds * 1000)).toBe(step)
})

test('a code counts for the period before and after, and not longer', () => {
  const at = (seconds: number) => stepOfCode(secret, '081804', (1111111109 + seconds) * 1000)
  expect([at(-60), at(-59), at(30), at(31)]).toEqual([null, 37037036, 37037036, null])
})

test.each(['', '08180', '0818044', '081805', 'abcdef', ' 81804', '٠٨١٨٠٤'])('%j is no code', (code) => {
  expect(stepOfCode(secret, code, 1111111109_000)).toBeNull()
})

test('secrets and recovery codes differ; spaces, dashes and case do not count', () => {
  expect(newFactorSecret()).not.toBe(newFactorSecret())
  expect(newFactorSecret()).toMatch(/^[A-Z2-7]{32}$/)
  const codes = newRecoveryCodes()
  expect(new Set(codes).size).toBe(10)
  const [first = ''] = codes
  expect(first).toMatch(/^([a-z2-9]{4}-){3}[a-z2-9]{4}$/)
  expect(recoveryCodeHash(` ${first.toUpperCase().replaceAll('-', ' ')}`)).toEqual(recoveryCodeHash(first))
})

test('the address names the brokerage and the person', () => {
  const address = new URL(factorAddress(secret, { brokerage: 'Blue: Mesa', email: 'ana@example.com' }))
  expect(address.protocol).toBe('otpauth:')
  expect(address.searchParams.get('secret')).toBe(secret)
  expect(address.searchParams.get('issuer')).toBe('Lanewise Blue  Mesa')
})

import { expect, test } from 'vitest'
import { signUpNetworksPerHour } from '#contract/limits.ts'
import { callerNetwork } from './caller-network.ts'
import { signUpLimit } from './sign-up-limit.ts'

test('all networks together have a limit, and a network over its own limit takes no permits from it', () => {
  const limit = signUpLimit(2)
  const admitted = (network: string, now: number) => limit.admit(network, now).admitted
  for (let nth = 0; nth < 100; nth++) expect(admitted('192.0.2.1', 0)).toBe(nth < 2)
  let others = 0
  for (let nth = 0; nth < 100; nth++) if (admitted(`198.51.100.${nth}`, 1_000)) others++
  expect(others).toBe(2 * signUpNetworksPerHour - 2)
  expect(limit.admit('203.0.113.1', 1_000).retryAfterMs).toBe(3_599_000)
  // A network that was refused by the total limit keeps its own permits.
  expect(admitted('198.51.100.99', 3_600_000)).toBe(true)
  expect(admitted('198.51.100.99', 3_600_000)).toBe(true)
  expect(admitted('198.51.100.99', 3_600_000)).toBe(false)
})

test('all addresses of an IPv6 /64 are one network: a flood from it gets the sign-ups of one, and leaves those of others', () => {
  const limit = signUpLimit(5)
  const admitted = (address: string) => limit.admit(callerNetwork(address), 0).admitted
  let ofOne = 0
  for (let nth = 0; nth < 1_000; nth++) {
    if (admitted(`2001:db8:1:2:${nth.toString(16)}:${(7 * nth).toString(16)}::1`)) ofOne++
  }
  expect(ofOne).toBe(5)
  expect(admitted('2001:db8:1:3::1')).toBe(true)
  expect(admitted('192.0.2.7')).toBe(true)
})

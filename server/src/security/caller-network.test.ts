import { expect, test } from 'vitest'
import { callerNetwork } from './caller-network.ts'

test('each IPv4 address is its own network, also when written as IPv6', () => {
  expect(callerNetwork('192.0.2.7')).toBe('192.0.2.7')
  expect(callerNetwork('::ffff:192.0.2.7')).toBe('192.0.2.7')
  expect(callerNetwork('::FFFF:192.0.2.7')).toBe('192.0.2.7')
})

test('the addresses of one IPv6 /64 count as one, however they are written', () => {
  const one = callerNetwork('2001:db8:1:2:3::4')
  expect(one).toBe('2001:db8:1:2::/64')
  for (let host = 1; host <= 1000; host++) {
    expect(callerNetwork(`2001:db8:1:2::${host.toString(16)}`)).toBe(one)
  }
  expect(callerNetwork('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff')).toBe(one)
  expect(callerNetwork('2001:db8:1:3::4')).not.toBe(one)
})

test('zone ids and short forms are parsed', () => {
  expect(callerNetwork('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
  expect(callerNetwork('::1')).toBe('0:0:0:0::/64')
  expect(callerNetwork('2001:db8::')).toBe('2001:db8:0:0::/64')
})

test('the port that a proxy adds does not make each connection its own network', () => {
  expect(callerNetwork('192.0.2.7:50214')).toBe('192.0.2.7')
  expect(callerNetwork('[2001:db8:1:2:3::4]:50214')).toBe('2001:db8:1:2::/64')
  expect(callerNetwork('[::ffff:192.0.2.7]')).toBe('192.0.2.7')
})

test('text that is not an address is returned unchanged', () => {
  expect(callerNetwork('')).toBe('')
  expect(callerNetwork('unix:')).toBe('unix:')
})

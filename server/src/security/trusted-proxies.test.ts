import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../configuration/index.ts'
import { areTooMany, isNetwork, isTooWide, isWide, trustedProxies } from './trusted-proxies.ts'

test('an address matches a listed network in its IPv4 and IPv6 forms, and no other network', () => {
  const isProxy = trustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'loopback'])
  for (const address of [
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '192.0.2.7',
    '2001:db8:1::9',
    '127.0.0.1',
    '::1',
    '10.1.2.3:4567',
    '[2001:db8:1::9]:443',
  ]) {
    expect([address, isProxy(address)]).toEqual([address, true])
  }
  for (const address of ['11.0.0.1', '192.0.2.8', '2001:db9::1', '169.254.1.1', '', 'unix', '10.1.2']) {
    expect([address, isProxy(address)]).toEqual([address, false])
  }
})

test('no address is a proxy if none is listed', () => {
  expect(trustedProxies([])('127.0.0.1')).toBe(false)
})

test('an invalid network is reported as a configuration problem before anything starts', () => {
  for (const text of [
    '10.0.0.0/33',
    '300.1.1.1',
    '10.0.0',
    '::/129',
    '10.0.0.0/8/8',
    'constructor',
    '10.0.0.0/',
  ]) {
    expect([text, isNetwork(text)]).toEqual([text, false])
  }
  expect(() => readConfig({ TRUST_PROXY: 'loopback,10.0.0.0/33' })).toThrow(ConfigError)
  expect(() => readConfig({ TRUST_PROXY: ' ' })).toThrow(/TRUST_PROXY is empty: name the network/)
  expect([readConfig({}), readConfig({ TRUST_PROXY: 'none' })].map((one) => one.trustProxy)).toEqual([
    null,
    [],
  ])
  expect(readConfig({ TRUST_PROXY: 'loopback, fc00::/7' }).trustProxy).toEqual(['loopback', 'fc00::/7'])
})

test('a network that holds most callers is no network of proxies', () => {
  const wide = [
    '0.0.0.0/0',
    '::/0',
    '128.0.0.0/1',
    '10.0.0.0/7',
    '::ffff:0:0/96',
    '::ffff:8.0.0.0/103',
    '::/80',
    'fe00::/7',
  ]
  for (const network of wide) {
    expect([network, isTooWide(network)]).toEqual([network, true])
    expect(() => readConfig({ TRUST_PROXY: `loopback,${network}` })).toThrow(
      /TRUST_PROXY must name the proxies only/,
    )
    expect(() => readConfig({ EVENTS_ALLOW_PRIVATE: network })).toThrow(/must name private hosts only/)
  }
  const narrow = [
    '10.0.0.0/8',
    '10.1.2.3',
    '::1',
    'fc00::/7',
    'fd00::/8',
    '2000::/8',
    '::ffff:10.0.0.0/104',
    'uniquelocal',
  ]
  for (const network of narrow) expect([network, isTooWide(network)]).toEqual([network, false])
})

test('networks that hold most callers together are no networks of proxies', () => {
  const eighths = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `${from + at}.0.0.0/8`)
  for (const many of [
    eighths(1, 127),
    eighths(20, 24),
    ['uniquelocal', '1.0.0.0/8', '2.0.0.0/8'],
    ['1.0.0.0/8', '2.0.0.0/8', '3.0.0.0/8', '::ffff:4.0.0.0/104'],
    ['2000::/8', '2100::/8', '2200::/8', '2300::/8'],
  ]) {
    expect([many, areTooMany(many)]).toEqual([many, true])
    for (const name of ['TRUST_PROXY', 'EVENTS_ALLOW_PRIVATE'])
      expect(() => readConfig({ [name]: many.join() })).toThrow(`${name} names networks that together hold`)
  }
  for (const few of [
    ['10.0.0.0/8', 'loopback', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'],
    ['10.0.0.0/8', '10.0.0.0/8', '10.1.0.0/16', '::ffff:10.0.0.0/104', '10.2.0.0/8'],
    ['uniquelocal', 'loopback', 'linklocal', '104.16.0.0/13', '162.158.0.0/15', 'hooks.corp'],
    [],
  ])
    expect([few, areTooMany(few)]).toEqual([few, false])
})

test('a network of a cluster or a machine is not wide, and a whole private range is', () => {
  for (const network of ['10.0.0.0/8', '172.16.0.0/12', 'uniquelocal', 'fc00::/7', 'fd00::/32'])
    expect([network, isWide(network)]).toEqual([network, true])
  for (const network of ['10.244.0.0/16', '10.0.7.1', 'loopback', 'linklocal', 'fd00:1::/48', '::1'])
    expect([network, isWide(network)]).toEqual([network, false])
})

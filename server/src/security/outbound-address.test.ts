import { describe, expect, test } from 'vitest'
import {
  allowedPrivate,
  isNameOrNetwork,
  isPublicAddress,
  mayReach,
  outboundTarget,
} from './outbound-address.ts'

const none = allowedPrivate([])

describe('an address that events may not be sent to', () => {
  test.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://0.0.0.0/',
    'https://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
    'https://10.255.255.255/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://100.127.255.255/',
    'https://198.18.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://[::]/',
    'https://[fc00::1]/',
    'https://[fd12:3456::1]/',
    'https://[fe80::1]/',
    'https://[febf::1]/',
    'https://[ff02::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:1::1]/',
    'https://[2001:db8::1]/',
    // Other forms of 127.0.0.1.
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.1/',
    'https://0x7f000001/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    // Names that resolve to private addresses only.
    'https://localhost/',
    'https://localhost./',
    'https://LOCALHOST/',
    'https://api.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://database/',
    'https://hooks.corp/',
    'https://1.0.0.127.in-addr.arpa/',
    // Other kinds of URL.
    'https://user@hooks.example.com/',
    'https://user:secret@hooks.example.com/',
    'https://hooks.example.com@127.0.0.1/',
    'https://hooks.example.com/#fragment',
    'http://hooks.example.com/',
    'https://hooks.example.com:8443/',
    'https://hooks.example.com:22/',
    'https://hooks.example.com:0/',
    'https://93.184.216.34:80/',
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/',
    'javascript:alert(1)',
    'hooks.example.com',
    'https://',
    '',
  ])('%s', (url) => {
    expect(outboundTarget(url, none)).toMatch(/^must .+[^.]$/)
  })
})

test('an address on the public internet is accepted', () => {
  for (const url of [
    'https://hooks.example.com/lanewise?key=1',
    'https://hooks.example.com:443/',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
  ]) {
    expect(outboundTarget(url, none)).toMatchObject({ isAllowedByName: false })
  }
  expect(outboundTarget('https://hooks.example.com./', none)).toMatchObject({ host: 'hooks.example.com' })
})

test('the addresses next to a private network are public', () => {
  const publicOnes = [
    '9.255.255.255',
    '11.0.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '169.253.255.255',
    '2a00::1',
    '2606::1',
  ]
  expect(publicOnes.filter((address) => !isPublicAddress(address))).toEqual([])
  expect(isPublicAddress('no address')).toBe(false)
  expect(isPublicAddress('')).toBe(false)
})

describe('an entry of EVENTS_ALLOW_PRIVATE', () => {
  const allowed = allowedPrivate(['hooks.corp', '10.1.0.0/16', '::1', '127.0.0.1'])

  test('allows a private address, also over plain http', () => {
    for (const url of [
      'http://hooks.corp:9000/',
      'https://hooks.corp/',
      'http://10.1.2.3/',
      'http://[::1]:80/',
      'http://127.0.0.1:9/',
    ]) {
      expect(outboundTarget(url, allowed)).toBeTypeOf('object')
    }
    const byName = outboundTarget('http://hooks.corp/', allowed)
    expect(typeof byName === 'object' && mayReach(byName, '192.168.7.7', allowed)).toBe(true)
  })

  test('allows no other address', () => {
    for (const url of [
      'http://10.2.0.1/',
      'http://other.corp/',
      'http://127.0.0.2/',
      'http://hooks.example.com/',
      'http://sub.hooks.corp/',
    ]) {
      expect(outboundTarget(url, allowed)).toBeTypeOf('string')
    }
    const other = outboundTarget('https://hooks.example.com/', allowed)
    expect(typeof other === 'object' && mayReach(other, '10.2.0.1', allowed)).toBe(false)
    expect(typeof other === 'object' && mayReach(other, '10.1.0.1', allowed)).toBe(true)
    // Another port reaches the allowed networks only.
    const otherPort = outboundTarget('https://hooks.example.com:8443/', allowed)
    expect(typeof otherPort === 'object' && mayReach(otherPort, '10.1.0.1', allowed)).toBe(true)
    expect(typeof otherPort === 'object' && mayReach(otherPort, '93.184.216.34', allowed)).toBe(false)
    expect(outboundTarget('https://93.184.216.34:8443/', allowed)).toMatch(/^must use port 443/)
  })

  test('is a name, an address, or a network', () => {
    expect(['hooks.corp', '10.0.0.0/8', '::1', 'fd00::/8'].every(isNameOrNetwork)).toBe(true)
    expect(['https://hooks.corp', '10.0.0.0/33', '1.2.3', 'a b', '-x', ''].some(isNameOrNetwork)).toBe(false)
  })
})

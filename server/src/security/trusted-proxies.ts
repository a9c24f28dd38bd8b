import { BlockList, isIP } from 'node:net'
import { withoutPort } from './caller-network.ts'

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Whether a text is an address, a network such as `10.0.0.0/8`, or a named network such as `loopback`. */
export function isNetwork(text: string): boolean {
  if (Object.hasOwn(named, text)) return true
  const { address, prefix } = parts(text)
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : 0
  return bits > 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
}

/**
 * Whether a network has more addresses than a /8: so many addresses are no set of proxies or of private hosts, but most
 * callers. An IPv4 network in its IPv6 form counts as IPv4. `fc00::/7` holds all private IPv6 addresses, and is permitted.
 *
 * @param network for which `isNetwork` is true
 * @example isTooWide('0.0.0.0/0') // true
 * @example isTooWide('::ffff:0:0/96') // true, all IPv4 addresses
 */
export function isTooWide(network: string): boolean {
  const { address, prefix } = parts(network)
  if (prefix === undefined || network === 'fc00::/7') return false
  const bits = Number(prefix)
  if (isIP(address) === 4) return bits < 8
  const list = new BlockList()
  list.addSubnet(address, bits, 'ipv6')
  const holdsIpv4 = mappedAddresses.check(address, 'ipv6') || list.check('::ffff:0:0', 'ipv6')
  return bits < (holdsIpv4 ? 96 : 0) + 8
}

/**
 * Whether a network, although permitted, has more addresses than proxies need: an IPv4 network larger than a /16, or an IPv6
 * network larger than a /48.
 *
 * @param network for which `isNetwork` is true
 * @example isWide('10.0.0.0/8') // true
 */
export function isWide(network: string): boolean {
  if (Object.hasOwn(named, network)) return network === 'uniquelocal'
  const { address, prefix } = parts(network)
  return prefix !== undefined && Number(prefix) < (isIP(address) === 4 ? 16 : 48)
}

/** IPv4 addresses in their IPv6 form. */
const mappedAddresses = new BlockList()
mappedAddresses.addSubnet('::ffff:0:0', 96, 'ipv6')

function parts(network: string): { address: string; prefix: string | undefined } {
  const [address = '', prefix, ...rest] = network.split('/')
  return { address: rest.length > 0 ? '' : address, prefix }
}

/**
 * Returns a function that tells whether an address is a trusted proxy. An IPv4 address also matches in its IPv6 form,
 * and each with the port of a connection, which some proxies add.
 *
 * @param networks each of which `isNetwork`
 * @example trustedProxies(['10.0.0.0/8'])('::ffff:10.1.2.3') // true
 */
export function trustedProxies(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks.flatMap((text) => named[text] ?? [text])) {
    const { address, prefix } = parts(network)
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (sent) => {
    const address = withoutPort(sent)
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}

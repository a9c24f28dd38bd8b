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
 * Whether networks, each of which is permitted, hold more addresses together than three of /8, of IPv4 or of IPv6: more than
 * all private ranges with loopback and a large content network. `fc00::/7` is permitted beside others.
 *
 * @param texts networks; one that is not permitted does not count
 * @example areTooMany(['1.0.0.0/8', '2.0.0.0/8', '3.0.0.0/8', '4.0.0.0/16']) // true
 */
export function areTooMany(texts: readonly string[]): boolean {
  const networks = texts
    .filter((text) => isNetwork(text) && !isTooWide(text))
    .flatMap((text) => named[text] ?? [text])
    .filter((network) => network !== 'fc00::/7')
    .toSorted((one, other) => bitsOf(one) - bitsOf(other))
  const counted: string[] = []
  const sums = { ipv4: 0, ipv6: 0 }
  for (const network of networks) {
    const { address } = parts(network)
    // A network inside another one adds nothing.
    if (trustedProxies(counted)(address)) continue
    counted.push(network)
    sums[isIpv4(address) ? 'ipv4' : 'ipv6'] += 2 ** (8 - bitsOf(network))
  }
  return Math.max(sums.ipv4, sums.ipv6) > 3
}

/** Whether an address is of IPv4, also in its IPv6 form. */
const isIpv4 = (address: string) => isIP(address) === 4 || mappedAddresses.check(address, 'ipv6')

/** The length of a network's prefix; for IPv4 in its IPv6 form, that of the IPv4 network. */
function bitsOf(network: string): number {
  const { address, prefix } = parts(network)
  if (isIP(address) === 4) return Number(prefix ?? 32)
  return Number(prefix ?? 128) - (isIpv4(address) ? 96 : 0)
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

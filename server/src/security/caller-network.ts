import { isIPv6 } from 'node:net'

/**
 * The network that a caller is counted under: an IPv4 address, or the /64 of an IPv6 address (the usual size of a home network).
 *
 * @example callerNetwork('::ffff:192.0.2.7') // '192.0.2.7'
 * @example callerNetwork('2001:db8:1:2:3::4') // '2001:db8:1:2::/64'
 * @example callerNetwork('192.0.2.7:50214') // '192.0.2.7': some proxies add the port of each connection
 */
export function callerNetwork(address: string): string {
  const known = networks.get(address)
  if (known !== undefined) return known
  if (networks.size >= networksMax) networks.clear()
  const network = networkOf(address)
  networks.set(address, network)
  return network
}

/** A cache: every request needs this, and most requests come from few addresses. */
const networks = new Map<string, string>()
const networksMax = 10_000

/** @example withoutPort('[2001:db8::1]:443') // '2001:db8::1' */
export function withoutPort(address: string): string {
  return /^([\d.]+):\d+$/.exec(address)?.[1] ?? /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? address
}

function networkOf(sent: string): string {
  const address = withoutPort(sent)
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped?.[1] !== undefined) return mapped[1]
  const plain = address.split('%')[0] ?? address
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups =
    tail === undefined
      ? front
      : [...front, ...Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0'), ...back]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

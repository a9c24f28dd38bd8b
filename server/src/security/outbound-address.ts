import { isIP } from 'node:net'
import { trustedProxies as inNetworks, isNetwork } from './trusted-proxies.ts'

/**
 * Which addresses the service may send events to: the public internet, but not this machine or its private networks. An
 * address that is not known to be public is rejected.
 */

/** Networks that are not public unicast addresses (IANA special-purpose registries). */
const notPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Inside the global IPv6 range: tunnels to IPv4 addresses, protocol assignments, documentation.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]
const refused = inNetworks(notPublic)
const globalIpv6 = inNetworks(['2000::/3'])

/** Whether an address is a public unicast address. @example isPublicAddress('10.0.0.1') // false */
export function isPublicAddress(address: string): boolean {
  return (isIP(address) === 4 || globalIpv6(address)) && !refused(address)
}

/** Private names and networks that the operator allows, also over plain http. */
export interface AllowedPrivate {
  readonly names: ReadonlySet<string>
  readonly networks: (address: string) => boolean
  readonly hasNetworks: boolean
}

const nameForm = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/

/** Whether a text is a name, an address, or a network: the entries of EVENTS_ALLOW_PRIVATE. */
export function isNameOrNetwork(part: string): boolean {
  return isNetwork(part) || isName(part)
}

/** Whether a text is an IP address or the name of a host. */
export const isHost = (text: string): boolean => isIP(text) !== 0 || isName(text)

/** Clients parse a host that ends in digits as an address, never as a name. */
const isName = (text: string) => nameForm.test(text.toLowerCase()) && !/(^|\.)\d+$/.test(text)

/** Parses the entries of EVENTS_ALLOW_PRIVATE. Each must satisfy `isNameOrNetwork`. */
export function allowedPrivate(parts: readonly string[]): AllowedPrivate {
  return {
    names: new Set(parts.filter((part) => !isNetwork(part)).map((name) => name.toLowerCase())),
    networks: inNetworks(parts.filter(isNetwork)),
    hasNetworks: parts.some(isNetwork),
  }
}

/** A destination: a name, which is resolved for each request, or an address. */
export interface OutboundTarget {
  readonly url: URL
  /** The host without the brackets of an IPv6 address and without a trailing dot. */
  readonly host: string
  /** Whether the operator allows this host by name, whatever address it resolves to. */
  readonly isAllowedByName: boolean
}

/** Top-level and special domains outside the public DNS (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const localNames =
  /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|private|arpa|test|example|invalid|onion|alt)$/

/**
 * Parses the URL of an event endpoint. Returns a text that continues "The address ..." if events may not be sent to it. Hosts
 * are parsed in every form that clients accept: `https://2130706433` is 127.0.0.1.
 *
 * @example outboundTarget('https://user@hooks.example.com/', none) // 'must not contain a user name or a password'
 */
export function outboundTarget(text: string, allowed: AllowedPrivate): OutboundTarget | string {
  if (!URL.canParse(text)) return 'must be a URL such as https://hooks.example.com/lanewise'
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password'
  if (url.hash !== '') return 'must not contain a fragment (#)'
  const isAllowedByName = allowed.names.has(host)
  const isAllowed = isAllowedByName || allowed.networks(host)
  if (url.protocol === 'http:' && !isAllowed) return 'must begin with https://'
  if (isAllowed) return { url, host, isAllowedByName }
  // The host of another port may still resolve to an allowed network: mayReach decides.
  if (url.port !== '' && (isIP(host) !== 0 || !allowed.hasNetworks)) return otherPort
  if (isIP(host) !== 0) {
    return isPublicAddress(host)
      ? { url, host, isAllowedByName }
      : 'must be on the public internet; this is an address of a private network or of this machine'
  }
  if (!nameForm.test(host) || !host.includes('.') || localNames.test(host)) {
    return 'must be on the public internet; this is a name of a private network or of this machine'
  }
  return { url, host, isAllowedByName }
}

const otherPort = 'must use port 443, unless the operator lists its host (EVENTS_ALLOW_PRIVATE)'

/**
 * Whether a request to a target may go to an address that its name resolved to. Public addresses are reached on port 443 only:
 * test events to any port would let every brokerage scan the ports of public hosts from here.
 */
export function mayReach(target: OutboundTarget, address: string, allowed: AllowedPrivate): boolean {
  if (target.isAllowedByName || allowed.networks(address)) return true
  return target.url.port === '' && isPublicAddress(address)
}

import { isIP } from 'node:net'
import { trustedProxies as inNetworks, isNetwork } from './trusted-proxies.ts'

/**
 * Which addresses the service may send to, of those that a brokerage names: the public internet, and nothing that only this
 * machine or its neighbours can reach. What is not known to be public is refused.
 */

/** Networks that are no unicast address on the public internet (IANA special-purpose registries). */
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
  // Within what is global in IPv6: tunnels that end at an IPv4 address, protocols, examples.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
]
const refused = inNetworks(notPublic)
const globalIpv6 = inNetworks(['2000::/3'])

/** True for a unicast address of the public internet. @example isPublicAddress('10.0.0.1') // false */
export function isPublicAddress(address: string): boolean {
  return (isIP(address) === 4 || globalIpv6(address)) && !refused(address)
}

/** Names and networks that the operator lets be reached although they are private; by plain http, too. */
export interface AllowedPrivate {
  readonly names: ReadonlySet<string>
  readonly networks: (address: string) => boolean
}

const nameForm = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/

/** True for a name, an address or a network: what EVENTS_ALLOW_PRIVATE is a list of. */
export function isNameOrNetwork(part: string): boolean {
  // What ends in digits is an address to whoever reads it, or none.
  return isNetwork(part) || (nameForm.test(part.toLowerCase()) && !/(^|\.)\d+$/.test(part))
}

/** Reads EVENTS_ALLOW_PRIVATE, of which each part is a name or a network. */
export function allowedPrivate(parts: readonly string[]): AllowedPrivate {
  return {
    names: new Set(parts.filter((part) => !isNetwork(part)).map((name) => name.toLowerCase())),
    networks: inNetworks(parts.filter(isNetwork)),
  }
}

/** Where something may be sent to: a name, which is looked up for each request, or an address. */
export interface OutboundTarget {
  readonly url: URL
  /** The host without the brackets of an IPv6 address and without a dot at its end. */
  readonly host: string
  /** The operator has named this host: whatever it is, it may be reached. */
  readonly isAllowedByName: boolean
}

/** Ends of names that are no names of the public internet (RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const localNames =
  /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|private|arpa|test|example|invalid|onion|alt)$/

/**
 * Reads an address that events are to be sent to, or says in words that follow "The address" why it may not be. The forms
 * in which a host can be written are read as any client reads them: `https://2130706433` is 127.0.0.1.
 *
 * @example outboundTarget('https://user@hooks.example.com/', none) // 'must not hold a user name or a password'
 */
export function outboundTarget(text: string, allowed: AllowedPrivate): OutboundTarget | string {
  if (!URL.canParse(text)) return 'must be a URL such as https://hooks.example.com/lanewise'
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password'
  if (url.hash !== '') return 'must not hold a fragment (#)'
  const isAllowedByName = allowed.names.has(host)
  const isAllowed = isAllowedByName || allowed.networks(host)
  if (url.protocol === 'http:' && !isAllowed) return 'must begin with https://'
  if (isAllowed) return { url, host, isAllowedByName }
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

/** Whether a request to a target may go to an address that its name was found to have. */
export function mayReach(target: OutboundTarget, address: string, allowed: AllowedPrivate): boolean {
  return target.isAllowedByName || isPublicAddress(address) || allowed.networks(address)
}

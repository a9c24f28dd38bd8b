import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { domainCheckSecondsMax } from '#contract/limits.ts'

/** The name of the DNS record that proves a domain. */
export function recordName(domain: string): string {
  return `_lanewise.${domain}`
}

/** A text for the DNS record of a domain. It is random, so it belongs to one brokerage. */
export function newChallenge(): string {
  return `lanewise-domain=${randomBytes(24).toString('base64url')}`
}

/** The domain of a folded e-mail address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

/**
 * Looks for the record of a domain: `proven` if a TXT record has the text, `missing` if there is none, `unknown` if no name server
 * gave an answer, for example because this service has no network.
 */
export async function checkDomain(
  { domain, challenge }: { readonly domain: string; readonly challenge: string },
  servers: readonly string[],
): Promise<'proven' | 'missing' | 'unknown'> {
  const resolver = new Resolver({ timeout: (domainCheckSecondsMax * 1000) / 2, tries: 2, maxTimeout: 2_000 })
  if (servers.length > 0) resolver.setServers(servers)
  try {
    const records = await resolver.resolveTxt(recordName(domain))
    return records.some((chunks) => chunks.join('').trim() === challenge) ? 'proven' : 'missing'
  } catch (error) {
    const code = (error as { code?: unknown }).code
    return code === 'ENOTFOUND' || code === 'ENODATA' ? 'missing' : 'unknown'
  } finally {
    resolver.cancel()
  }
}

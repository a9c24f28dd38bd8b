/** The parameters of generated data. The same plan gives the same brokerages, lanes and quotes on every machine. */
export interface ScalePlan {
  /** The total number of quotes of the ordinary tenants. */
  readonly quotes: number
  readonly tenants: number
  readonly seed: number
  /** The day after the last quote, `YYYY-MM-DD`. The first quote is two years earlier. */
  readonly until: string
  /** The number of quotes of an additional tenant for the at-work row: 600 days on thousands of lanes. Without it, no such tenant. */
  readonly brokerage?: number
}

/** One tenant of a plan. */
export interface PlannedTenant {
  /** The index in the plan, from 0. */
  readonly index: number
  readonly tenantId: number
  readonly kind: 'ordinary' | 'brokerage'
  readonly quotes: number
  /** The index of its first quote in the order in which all quotes are written. */
  readonly firstQuote: number
}

export const tenantsMax = 100_000
export const quotesMax = 100_000_000

/**
 * Hashes integers to 32 bits. For seeds, not for secrets.
 *
 * @example mixed(1, 2) === mixed(1, 2) // true
 */
export function mixed(...numbers: readonly number[]): number {
  let hash = 0x9e3779b9
  for (const number of numbers) {
    for (const part of [number >>> 0, Math.floor(number / 2 ** 32)]) {
      hash = Math.imul(hash ^ part, 0x85ebca6b)
      hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
      hash ^= hash >>> 16
    }
  }
  return hash >>> 0
}

/** Returns a hash of the plan without its day. */
function identityOf({ quotes, tenants, seed, brokerage = 0 }: ScalePlan): number {
  return mixed(seed, quotes, tenants, brokerage)
}

/**
 * Returns the tenants of a plan: a few large ones and many small ones. Tenant ids are consecutive, so that rows written one after
 * the other are adjacent in every index.
 *
 * @example tenantsOf({ quotes: 10, tenants: 2, seed: 1, until: '2026-01-01' }).length // 2
 */
export function tenantsOf(plan: ScalePlan): PlannedTenant[] {
  const base = 100_000_000 + (identityOf(plan) % 19_000) * (tenantsMax + 1)
  const sizes: { kind: PlannedTenant['kind']; quotes: number }[] = shares(plan.quotes, plan.tenants).map(
    (quotes) => ({ kind: 'ordinary', quotes }),
  )
  if (plan.brokerage !== undefined) sizes.push({ kind: 'brokerage', quotes: plan.brokerage })
  let firstQuote = 0
  return sizes.map(({ kind, quotes }, index) => {
    const tenant = { index, tenantId: base + index, kind, quotes, firstQuote }
    firstQuote += quotes
    return tenant
  })
}

/** Returns the total number of quotes. */
export function quotesOf(tenants: readonly PlannedTenant[]): number {
  return tenants.reduce((sum, tenant) => sum + tenant.quotes, 0)
}

/** Returns each tenant's number of quotes, the largest first: the largest of 5,000 tenants has about six times the average. */
function shares(quotes: number, tenants: number): number[] {
  const weights = Array.from({ length: tenants }, (_, rank) => (rank + 1 + tenants / 20) ** -0.7)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let left = quotes
  let weightLeft = total
  return weights.map((weight) => {
    const share = Math.round((left * weight) / weightLeft)
    left -= share
    weightLeft -= weight
    return share
  })
}

/** What a set of scale data is: the same plan gives the same brokerages, lanes and quotes on every machine. */
export interface ScalePlan {
  /** Quotes of the ordinary tenants together. */
  readonly quotes: number
  readonly tenants: number
  readonly seed: number
  /** The day after the last quote, `YYYY-MM-DD`; the first is two years before. */
  readonly until: string
  /** Quotes of one lane that a tenant of its own has beside ten small ones; 0: no such tenant. */
  readonly giantLane: number
  /** Quotes of one more tenant; 0: no such tenant. */
  readonly giantTenant: number
  /** Quotes of one more tenant, a brokerage at work: 600 days of quotes on thousands of lanes; absent: no such tenant. */
  readonly brokerage?: number
}

/** One tenant of a plan. */
export interface PlannedTenant {
  /** Its place in the plan, from 0. */
  readonly index: number
  readonly tenantId: number
  readonly kind: 'ordinary' | 'giant-lane' | 'giant-tenant' | 'brokerage'
  readonly quotes: number
  /** Where its quotes begin in the order in which the whole plan is written. */
  readonly firstQuote: number
}

export const tenantsMax = 100_000
export const quotesMax = 100_000_000

/** Quotes that each small lane of the tenant with the giant lane has: a lane to compare the giant with. */
export const smallLaneQuotes = 10
export const smallLanes = 10

/**
 * A number of 32 bits from some whole numbers: each change of any of them gives another. For seeds, not for secrets.
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

/** What tells one plan from another, whenever it is carried out. */
function identityOf({ quotes, tenants, seed, giantLane, giantTenant, brokerage }: ScalePlan): number {
  // A plan without it has the numbers it had before there were plans with it.
  return mixed(seed, quotes, tenants, giantLane, giantTenant, ...(brokerage === undefined ? [] : [brokerage]))
}

/**
 * The tenants of a plan: some large, most small, none empty while there are quotes to share out. Their numbers follow
 * each other, so that rows that are written one after the other lie beside each other in every index.
 *
 * @example tenantsOf({ quotes: 10, tenants: 2, seed: 1, until: '2026-01-01', giantLane: 0, giantTenant: 0 }).length // 2
 */
export function tenantsOf(plan: ScalePlan): PlannedTenant[] {
  const base = 100_000_000 + (identityOf(plan) % 19_000) * (tenantsMax + 2)
  const sizes: { kind: PlannedTenant['kind']; quotes: number }[] = shares(plan.quotes, plan.tenants).map(
    (quotes) => ({ kind: 'ordinary', quotes }),
  )
  if (plan.giantLane > 0)
    sizes.push({ kind: 'giant-lane', quotes: plan.giantLane + smallLanes * smallLaneQuotes })
  if (plan.giantTenant > 0) sizes.push({ kind: 'giant-tenant', quotes: plan.giantTenant })
  if (plan.brokerage !== undefined) sizes.push({ kind: 'brokerage', quotes: plan.brokerage })
  let firstQuote = 0
  return sizes.map(({ kind, quotes }, index) => {
    const tenant = { index, tenantId: base + index, kind, quotes, firstQuote }
    firstQuote += quotes
    return tenant
  })
}

/** All quotes of a plan, those of the giants with them. */
export function quotesOf(tenants: readonly PlannedTenant[]): number {
  return tenants.reduce((sum, tenant) => sum + tenant.quotes, 0)
}

/** Shares that fall off with the rank: the largest of 5,000 tenants has about six times the average. */
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

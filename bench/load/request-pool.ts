import { laneInsight } from '#contract/lane-insight.ts'
import { markup } from '#contract/markup.ts'
import { seededRandom } from '#server/sample/index.ts'
import type { ScaleAccess } from '../scale/access-file.ts'
import { mixed, type PlannedTenant, tenantsOf } from '../scale/plan.ts'
import { lanesOf, type ScaleLane } from '../scale/tenant-lanes.ts'
import type { RequestPool } from './load-messages.ts'

/** A request before it is serialized. */
export interface PooledRequest {
  /** The tenant's number, from 0, by which the sender applies the request limit. */
  readonly tenant: number
  readonly token: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Serializes requests for reused connections. */
export function poolOf(requests: readonly PooledRequest[]): RequestPool {
  const texts = requests.map(({ token, method, path, headers = {}, body }) =>
    [
      `${method} ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(body === undefined
        ? []
        : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
      '',
      body ?? '',
    ].join('\r\n'),
  )
  const bytes = Buffer.from(texts.join(''))
  let end = 0
  return {
    bytes,
    ends: Uint32Array.from(texts, (text) => (end += Buffer.byteLength(text))),
    tenants: Uint32Array.from(requests, ({ tenant }) => tenant),
  }
}

export type Read = 'markup' | 'lane'

/** Returns the path of a read. `rate` is used only for `markup`. */
export function readPath(
  read: Read,
  lane: Pick<ScaleLane, 'origin' | 'destination' | 'equipment'>,
  rate: number,
): string {
  const query = new URLSearchParams({
    origin: lane.origin,
    destination: lane.destination,
    equipment: lane.equipment,
    ...(read === 'markup' ? { proposed_rate: String(rate) } : {}),
  })
  return `${read === 'markup' ? markup.path : laneInsight.path}?${query}`
}

/** The number of different rates per lane. They are multiples of $5. */
const ratesPerLane = 36
/** The number of rounds in a pool. In each round every tenant sends one request. */
const roundsMax = 6
const requestsMax = 15_000

/**
 * Returns reads of all ordinary tenants, each with its own token, in rotation. Lanes are drawn with the distribution of the
 * quotes. Rates are between 80 % and 125 % of the lane's usual rate.
 */
export function readsOfAll(access: ScaleAccess, read: Read): PooledRequest[] {
  const { plan } = access
  const tenants = tenantsOf(plan).filter(({ kind, quotes }) => kind === 'ordinary' && quotes > 0)
  const rounds = Math.max(1, Math.min(roundsMax, Math.floor(requestsMax / tenants.length)))
  const random = seededRandom(mixed(plan.seed, 3))
  const lanes = tenants.map((tenant) => lanesOf(plan, tenant))
  const requests: PooledRequest[] = []
  for (let round = 0; round < rounds; round++) {
    tenants.forEach((tenant, at) => {
      const lane = lanes[at]?.draw(random)
      const token = access.tenants[tenant.index]?.token
      if (lane === undefined || token === undefined) return
      requests.push({
        tenant: at,
        token,
        method: 'GET',
        path: readPath(read, lane, rateFor(lane, random.uniform())),
      })
    })
  }
  return requests
}

/** Returns one of a lane's rates in dollars. `at` is from 0 to 1. */
export function rateFor(lane: Pick<ScaleLane, 'costCents'>, at: number): number {
  const going = (lane.costCents / 100) * 1.19
  const step = Math.floor(at * ratesPerLane) / ratesPerLane
  return Math.round((going * (0.8 + 0.45 * step)) / 5) * 5
}

/** Returns the token of a tenant of the plan. */
export function tokenOf(access: ScaleAccess, tenant: PlannedTenant): string {
  const held = access.tenants[tenant.index]
  if (held === undefined) throw new Error(`There are no credentials for tenant ${tenant.index}.`)
  return held.token
}

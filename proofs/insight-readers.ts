import { setTimeout as delay } from 'node:timers/promises'
import { call, type Integration, makeIntegration, requireStatus } from '#testing/make.ts'
import { asApp } from './signed-writers.ts'

/** Makes a brokerage with a history, for which `found: false` would be wrong. */
export async function makeKnownBrokerage(url: string): Promise<Integration> {
  const integration = await makeIntegration(asApp(url))
  const token = integration.tenant.owner
  const quoted = await call(asApp(url), 'POST', '/api/quote-requests', {
    token,
    body: {
      customer_name: 'Harvest Table Foods',
      lanes: Array.from({ length: 12 }, (_, index) => ({
        origin: 'Dallas, TX',
        destination: 'Atlanta, GA',
        equipment: 'V',
        quoted_rate: 1900 + index * 20,
      })),
    },
  })
  for (const [index, { lane_ref }] of requireStatus('quote request', quoted, 201).lanes.entries()) {
    const decided = await call(asApp(url), 'POST', `/api/lanes/${lane_ref}/outcome`, {
      token,
      body: { outcome: index % 3 === 0 ? 'lost' : 'won' },
    })
    requireStatus('setting an outcome', decided, 200)
  }
  return integration
}

export interface Read {
  readonly began: number
  readonly ended: number
  /** The status of the response; 0 without one. */
  readonly status: number
  /** Whether the response contains data; null if its status is not 200. */
  readonly found: boolean | null
}

const query = 'origin=Dallas,TX&destination=Atlanta,GA&equipment=V'
export const insights = [
  `/api/integrations/insights/lane?${query}`,
  `/api/integrations/insights/markup?${query}&proposed_rate=2000`,
]

export type ReadNth = (url: string, reader: Integration, nth: number) => Promise<Read>

/** Sends a read. `isFound` decides whether the body contains data. */
async function readAt(
  address: string,
  token: string,
  isFound: (body: Record<string, unknown>) => boolean,
): Promise<Read> {
  const began = performance.now()
  const { status, found } = await fetch(address, {
    headers: { Authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(10_000),
  }).then(
    async (answer) => {
      const body = (await answer.json()) as Record<string, unknown>
      return { status: answer.status, found: answer.status === 200 ? isFound(body) : null }
    },
    () => ({ status: 0, found: null }),
  )
  return { began, ended: performance.now(), status, found }
}

/** Reads one of the two insights, alternating by `nth`. */
export const readInsight = (url: string, { token }: Pick<Integration, 'token'>, nth: number): Promise<Read> =>
  readAt(`${url}${insights[nth % insights.length]}`, token, ({ found }) => found === true)

/** Reads the newest quotes as the dashboard does. Each read queries the database. */
export const readLanes = (url: string, { tenant }: Integration): Promise<Read> =>
  readAt(`${url}/api/lanes?limit=10`, tenant.owner, ({ lanes }) => Array.isArray(lanes) && lanes.length > 0)

/** Reads, within the tenant's rate limit, until `isOver`: by default the two insights in turn. */
export async function readInsights(
  url: () => string,
  reader: Integration,
  reads: Read[],
  isOver: () => boolean,
  read: ReadNth = readInsight,
): Promise<void> {
  for (let nth = 0; !isOver(); nth++) {
    reads.push(await read(url(), reader, nth))
    await delay(120)
  }
}

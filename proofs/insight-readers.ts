import { setTimeout as delay } from 'node:timers/promises'
import { call, type Integration, makeIntegration } from '#testing/make.ts'
import { asApp } from './signed-writers.ts'

/** A brokerage about which the service knows something, so that "nothing found" would be a wrong answer. */
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
  for (const [index, { lane_ref }] of quoted.body.lanes.entries()) {
    await call(asApp(url), 'POST', `/api/lanes/${lane_ref}/outcome`, {
      token,
      body: { outcome: index % 3 === 0 ? 'lost' : 'won' },
    })
  }
  return integration
}

export interface Read {
  readonly began: number
  readonly ended: number
  /** 0: no answer came. */
  readonly status: number
  /** What it said about whether anything is known; null when it was no answer about data. */
  readonly found: boolean | null
}

const query = 'origin=Dallas,TX&destination=Atlanta,GA&equipment=V'
export const insights = [
  `/api/integrations/insights/lane?${query}`,
  `/api/integrations/insights/markup?${query}&proposed_rate=2000`,
]

export type ReadNth = (url: string, reader: Integration, nth: number) => Promise<Read>

/** Asks something, and whether the answer says that anything is known. */
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

/** Asks one of the two insights. */
export const readInsight = (url: string, { token }: Pick<Integration, 'token'>, nth: number): Promise<Read> =>
  readAt(`${url}${insights[nth % insights.length]}`, token, ({ found }) => found === true)

/** Asks for the newest lanes as a person does, which is read from the database each time. */
export const readLanes = (url: string, { tenant }: Integration): Promise<Read> =>
  readAt(`${url}/api/lanes?limit=10`, tenant.owner, ({ lanes }) => Array.isArray(lanes) && lanes.length > 0)

/** Reads within the tenant's limit, both insights in turn unless something else is to be read, until `isOver`. */
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

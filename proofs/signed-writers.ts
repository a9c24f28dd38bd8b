import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, requireStatus, signedHeaders } from '#testing/make.ts'
import type { ProofDatabase } from './proof-database.ts'

/** Wraps the URL of a service in another process, so that the helpers in make.ts can be used with it. */
export function asApp(url: string): TestApp {
  return { url, now: Date.now() } as TestApp
}

/** A brokerage with a quote that one writer updates repeatedly. */
export interface Writer {
  readonly integration: Integration
  readonly laneRef: string
}

/** Makes brokerages with one quote each. Every brokerage has its own rate limit. */
export async function makeWriters(url: string, count: number): Promise<Writer[]> {
  const writers: Writer[] = []
  for (let made = 0; made < count; made++) {
    const integration = await makeIntegration(asApp(url))
    const quoted = await call(asApp(url), 'POST', '/api/quote-requests', {
      token: integration.tenant.owner,
      body: {
        customer_name: 'Crash Test Foods',
        lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }],
      },
    })
    const { lanes: quotes } = requireStatus('quote request', quoted, 201)
    writers.push({ integration, laneRef: quotes[0].lane_ref })
  }
  return writers
}

/** What the writers sent, and what was acknowledged, in order of acknowledgment. */
export interface WritersLog {
  /** The last value sent, by lane_ref. Values increase. */
  readonly sent: Map<string, number>
  readonly acknowledged: Map<string, { value: number; digest: string }[]>
  /** The number of responses by status. 0 means no response. */
  readonly statuses: Map<number, number>
  readonly answers: { began: number; ended: number; status: number }[]
}

export function writersLog(): WritersLog {
  return { sent: new Map(), acknowledged: new Map(), statuses: new Map(), answers: [] }
}

/**
 * Lets every writer send updates until `isOver`. Each update sets four fields to a new value. An update that does not get 200 is
 * sent again with the same bytes. `url` is read before each request, because the service may have moved. With `everyMs`, a writer
 * sends one request in that time, also after a failure; without, as many as it can.
 */
export async function write(
  writers: readonly Writer[],
  log: WritersLog,
  url: () => string,
  isOver: () => boolean,
  everyMs?: number,
): Promise<void> {
  await Promise.all(writers.map((writer) => writeOne(writer, log, url, isOver, everyMs)))
}

const firstValue = 1000

async function writeOne(
  { integration, laneRef }: Writer,
  log: WritersLog,
  url: () => string,
  isOver: () => boolean,
  everyMs: number | undefined,
): Promise<void> {
  while (!isOver()) {
    const value = (log.sent.get(laneRef) ?? firstValue) + 1
    const bytes = JSON.stringify({
      lane_ref: laneRef,
      customer_rate: value,
      truck_cost: value - 100,
      carrier_name: `Carrier ${value}`,
      carrier_mc: `MC-${value}`,
    })
    const timestamp = Math.floor(Date.now() / 1000)
    log.sent.set(laneRef, value)
    for (let status = 0; status !== 200 && !isOver(); ) {
      const began = performance.now()
      status = await send(integration, bytes, timestamp, log, url())
      if (status === 200) {
        const digest = createHash('sha256').update(`${timestamp}.${bytes}`).digest('hex')
        const mine = log.acknowledged.get(laneRef) ?? []
        mine.push({ value, digest })
        log.acknowledged.set(laneRef, mine)
      } else if (everyMs === undefined) await delay(status === 429 ? 60 : 30)
      if (everyMs !== undefined) await delay(Math.max(0, everyMs - (performance.now() - began)))
    }
  }
}

async function send(
  integration: Integration,
  bytes: string,
  timestamp: number,
  log: WritersLog,
  url: string,
): Promise<number> {
  const began = performance.now()
  const status = await fetch(`${url}/api/integrations/tms/shipment-update`, {
    method: 'POST',
    headers: signedHeaders(integration, bytes, timestamp),
    body: bytes,
    signal: AbortSignal.timeout(10_000),
  }).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.status
    },
    () => 0,
  )
  log.statuses.set(status, (log.statuses.get(status) ?? 0) + 1)
  log.answers.push({ began, ended: performance.now(), status })
  return status
}

export function acknowledgedCount(log: WritersLog): number {
  return [...log.acknowledged.values()].reduce((sum, mine) => sum + mine.length, 0)
}

interface SignedQuote {
  lane_ref: string
  customer_rate_cents: number | null
  truck_cost_cents: number | null
  carrier_name: string | null
  carrier_notes: string | null
  updates: number
  changes: number
}

/**
 * Compares the database with the writers' log, and returns the faults. Every acknowledged update must be saved, each quote must
 * have the last acknowledged value or one sent after it, and no update may be saved in part.
 */
export async function lossesIn(database: Pick<ProofDatabase, 'ask'>, log: WritersLog): Promise<string[]> {
  const faults: string[] = []
  const kept = new Set(
    (
      await database.ask<{ digest: string }>(
        `select encode(request_digest, 'hex') as digest from shipment_updates`,
      )
    ).map(({ digest }) => digest),
  )
  const quotes = await database.ask<SignedQuote>(`
    select lane_ref, customer_rate_cents::int, truck_cost_cents::int, carrier_name, carrier_notes,
           (select count(*)::int from shipment_updates u
            where u.tenant_id = l.tenant_id and u.lane_id = l.lane_id and u.applied::text <> '[]') as updates,
           (select count(*)::int from quote_changes c
            where c.tenant_id = l.tenant_id and c.lane_id = l.lane_id and c.source = 'tms') as changes
    from quotes l`)
  for (const [ref, mine] of log.acknowledged) {
    const lost = mine.filter(({ digest }) => !kept.has(digest))
    if (lost.length > 0) faults.push(`lane ${ref}: ${lost.length} acknowledged updates are missing`)
  }
  for (const [ref, sent] of log.sent) {
    const quote = quotes.find(({ lane_ref }) => lane_ref === ref)
    if (quote === undefined) {
      faults.push(`lane ${ref} is missing`)
      continue
    }
    const held = quote.customer_rate_cents === null ? firstValue : quote.customer_rate_cents / 100
    const last = log.acknowledged.get(ref)?.at(-1)?.value ?? firstValue
    if (held < last || held > sent) {
      faults.push(`lane ${ref} holds ${held}; ${last} was acknowledged last and ${sent} sent last`)
    }
    const whole =
      held === firstValue
        ? quote.truck_cost_cents === null && quote.carrier_name === null
        : quote.truck_cost_cents === (held - 100) * 100 &&
          quote.carrier_name === `Carrier ${held}` &&
          quote.carrier_notes === `MC-${held}`
    if (!whole || quote.updates !== quote.changes) {
      faults.push(`lane ${ref} holds part of an update: ${JSON.stringify(quote)}`)
    }
  }
  return faults
}

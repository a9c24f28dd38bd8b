import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestApp } from '#testing/app-on-database.ts'
import { call, type Integration, makeIntegration, signedHeaders } from '#testing/make.ts'
import type { ProofDatabase } from './proof-database.ts'

/** A service that runs elsewhere and takes the real time, for what makes tenants and lanes. */
export function asApp(url: string): TestApp {
  return { url, now: Date.now() } as TestApp
}

/** A brokerage with a lane that one writer of its own books again and again. */
export interface Writer {
  readonly integration: Integration
  readonly laneRef: string
}

/** Makes brokerages, each with a lane: the limit holds for each of them alone. */
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
    if (quoted.status !== 201) throw new Error(`The quote answered ${quoted.status}.`)
    writers.push({ integration, laneRef: quoted.body.lanes[0].lane_ref })
  }
  return writers
}

/** What the writers themselves know: what they sent, and what was acknowledged, in the order in which it was. */
export interface WritersLog {
  /** Values sent by each lane's writer, rising. */
  readonly sent: Map<string, number>
  readonly acknowledged: Map<string, { value: number; digest: string }[]>
  /** How often each status came; 0 is an answer that never came. */
  readonly statuses: Map<number, number>
  /** The longest that any answer took, and each answer's begin, end and status. */
  readonly answers: { began: number; ended: number; status: number }[]
}

export function writersLog(): WritersLog {
  return { sent: new Map(), acknowledged: new Map(), statuses: new Map(), answers: [] }
}

/**
 * Lets every writer write until `isOver`: each update has a value of its own in four fields, and what is not answered
 * with 200 is sent again, the very same bytes, until it is. `url` is asked before each request, for services move.
 */
export async function write(
  writers: readonly Writer[],
  log: WritersLog,
  url: () => string,
  isOver: () => boolean,
): Promise<void> {
  await Promise.all(writers.map((writer) => writeOne(writer, log, url, isOver)))
}

const firstValue = 1000

async function writeOne(
  { integration, laneRef }: Writer,
  log: WritersLog,
  url: () => string,
  isOver: () => boolean,
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
      status = await send(integration, bytes, timestamp, log, url())
      if (status === 200) {
        const digest = createHash('sha256').update(`${timestamp}.${bytes}`).digest('hex')
        const mine = log.acknowledged.get(laneRef) ?? []
        mine.push({ value, digest })
        log.acknowledged.set(laneRef, mine)
      } else {
        await delay(status === 429 ? 60 : 30)
      }
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

/** All that was acknowledged so far. */
export function acknowledgedCount(log: WritersLog): number {
  return [...log.acknowledged.values()].reduce((sum, mine) => sum + mine.length, 0)
}

interface HeldLane {
  lane_ref: string
  customer_rate_cents: number | null
  truck_cost_cents: number | null
  carrier_name: string | null
  carrier_notes: string | null
  updates: number
  changes: number
}

/**
 * Holds the database against what the writers know: every acknowledged update is on record, each lane holds the last
 * acknowledged value or one that was sent after it, and no update is there in part.
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
  const lanes = await database.ask<HeldLane>(`
    select lane_ref, customer_rate_cents::int, truck_cost_cents::int, carrier_name, carrier_notes,
           (select count(*)::int from shipment_updates u
            where u.tenant_id = l.tenant_id and u.lane_id = l.lane_id and u.applied::text <> '[]') as updates,
           (select count(*)::int from lane_changes c
            where c.tenant_id = l.tenant_id and c.lane_id = l.lane_id and c.source = 'tms') as changes
    from lanes l`)
  for (const [ref, mine] of log.acknowledged) {
    const lost = mine.filter(({ digest }) => !kept.has(digest))
    if (lost.length > 0) faults.push(`lane ${ref}: ${lost.length} acknowledged updates are not there`)
  }
  for (const [ref, sent] of log.sent) {
    const lane = lanes.find(({ lane_ref }) => lane_ref === ref)
    if (lane === undefined) {
      faults.push(`lane ${ref} is gone`)
      continue
    }
    const held = lane.customer_rate_cents === null ? firstValue : lane.customer_rate_cents / 100
    const last = log.acknowledged.get(ref)?.at(-1)?.value ?? firstValue
    if (held < last || held > sent) {
      faults.push(`lane ${ref} holds ${held}; ${last} was acknowledged last and ${sent} sent last`)
    }
    const whole =
      held === firstValue
        ? lane.truck_cost_cents === null && lane.carrier_name === null
        : lane.truck_cost_cents === (held - 100) * 100 &&
          lane.carrier_name === `Carrier ${held}` &&
          lane.carrier_notes === `MC-${held}`
    if (!whole || lane.updates !== lane.changes) {
      faults.push(`lane ${ref} holds half an update: ${JSON.stringify(lane)}`)
    }
  }
  return faults
}

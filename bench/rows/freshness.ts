import { setTimeout as delay } from 'node:timers/promises'
import { type Bench, type BenchFindings, type BenchRow, spreadOf } from '../bench-row.ts'
import { readPath } from '../load/request-pool.ts'
import { signedUpdate } from '../load/signed-updates.ts'
import { askOnce } from '../measured.ts'
import { startLanewise } from '../peers/four-servers.ts'
import type { ServerProcess } from '../processes.ts'
import type { TenantAccess } from '../scale/access-file.ts'
import { tenantsOf } from '../scale/plan.ts'
import type { ScaleDatabase } from '../scale-database.ts'
import { type BookedLane, lanesToBook } from './updates.ts'

const samples = 100
/** When to read from the other process, in milliseconds after the acknowledgment; within the tenant's rate limit. */
const pollsMs = [0, 8, 16, 25, 35, 50, 75, 100, 1_250, 1_500, 2_000]

interface Seen {
  readonly same: number
  readonly other: number
}

/** How long it takes until an update is visible: in the process that accepted it, and in another process. */
export const freshnessRow: BenchRow = {
  name: 'freshness',
  about: 'the time until a signed update is visible: in the same process, and in another one',
  async measure(bench): Promise<BenchFindings> {
    const { seen, faults } = await measureUpdates(bench, await bench.data())
    const others = seen.map(({ other }) => other).toSorted((a, b) => a - b)
    const p99 = others[Math.ceil(others.length * 0.99) - 1] ?? Number.NaN
    const atOnce = seen.filter(({ same }) => same < (pollsMs.at(-1) ?? 0) && same < 1_000).length
    return {
      table: {
        columns: ['ms until visible'],
        lines: [
          ['same process', spreadOf(seen.map(({ same }) => same))],
          ['another process', spreadOf(others)],
        ],
      },
      bars: [
        {
          check: 'freshness',
          measure: 'share visible in the next read of the same process',
          value: atOnce / seen.length,
          least: 1,
        },
        { check: 'freshness', measure: 'another process, p99 ms', value: p99, most: 100 },
        {
          check: 'freshness',
          measure: 'another process, longest ms',
          value: others.at(-1) ?? Number.NaN,
          most: 1_000,
        },
      ],
      faults,
      notes: [
        `${seen.length} updates; times end with the response to a read, and reads are about 10 ms apart`,
      ],
    }
  },
}

/** A lane with the fields that identify it in the database and in a read. */
interface UpdatedLane {
  readonly lane: BookedLane
  readonly path: string
  readonly access: TenantAccess
}

/** Returns the lanes to update, one per sample. */
async function lanesToUpdate(data: ScaleDatabase): Promise<UpdatedLane[]> {
  const base = tenantsOf(data.access.plan)[0]?.tenantId ?? 0
  const lanes = (await lanesToBook(data, 1)).slice(0, samples)
  const { rows } = await data.as('superuser', (client) =>
    client.query<{ lane_id: string; origin: string; destination: string; equipment: string }>(
      'select lane_id, origin, destination, equipment from lanes where tenant_id = any ($1) and lane_id = any ($2)',
      [lanes.map(({ tenant_id }) => tenant_id), lanes.map(({ lane_id }) => lane_id)],
    ),
  )
  const places = new Map(rows.map((row) => [row.lane_id, row]))
  return lanes.flatMap((lane) => {
    const access = data.access.tenants[lane.tenant_id - base]
    const place = places.get(lane.lane_id)
    return access === undefined || place === undefined
      ? []
      : [{ lane, access, path: readPath('lane', place, 0) }]
  })
}

/** Updates each lane in one process, and reads it in this process and in another one. */
async function measureUpdates(
  bench: Bench,
  data: ScaleDatabase,
): Promise<{ seen: Seen[]; faults: string[] }> {
  const lanes = await lanesToUpdate(data)
  const servers = [await startLanewise(data), await startLanewise(data, false)] as const
  const [writer, reader] = servers
  const seen: Seen[] = []
  const faults: string[] = []
  try {
    for (const [at, { lane, access, path }] of lanes.entries()) {
      if (at % 10 === 0) bench.say(`freshness: ${at} of ${lanes.length}`)
      const average = async (server: ServerProcess) =>
        (await askOnce<{ history: { avg_rate_usd: number } }>(server, path, access.token)).history
          .avg_rate_usd
      const before = await average(writer)
      if ((await average(reader)) !== before)
        faults.push(`${path}: the processes returned different values before the update`)
      await delay(1_100)
      const refusal = await sendUpdate(writer, lane, access)
      if (refusal !== null) {
        faults.push(refusal)
        continue
      }
      const acknowledged = performance.now()
      const [same, other] = await Promise.all([
        visibleAfter(() => average(writer), before, acknowledged, [0, 1_250, 2_000]),
        visibleAfter(() => average(reader), before, acknowledged, pollsMs),
      ])
      seen.push({ same, other })
    }
  } finally {
    for (const server of servers) await server.stop()
  }
  return { seen, faults }
}

/** Sends a signed update that changes the lane's average rate. Returns the fault if it is refused, else null. */
async function sendUpdate(
  server: ServerProcess,
  lane: BookedLane,
  access: TenantAccess,
): Promise<string | null> {
  const customerRate = Math.round(lane.quoted_rate_cents / 100) * 2 + 1_000 + (Date.now() % 1_000)
  const request = signedUpdate(
    access,
    0,
    { laneRef: lane.lane_ref, customerRate, truckCost: customerRate - 500 },
    Date.now(),
  )
  const answer = await fetch(`http://127.0.0.1:${server.port}${request.path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${access.token}`,
      ...request.headers,
    },
    body: request.body ?? '',
  })
  const text = await answer.text()
  return answer.status === 200 ? null : `an update returned ${answer.status}: ${text}`
}

/** Returns the milliseconds from the acknowledgment to the end of the first read with a new value, or Infinity. */
async function visibleAfter(
  figure: () => Promise<number>,
  before: number,
  acknowledged: number,
  polls: readonly number[],
): Promise<number> {
  for (const due of polls) {
    const wait = acknowledged + due - performance.now()
    if (wait > 0) await delay(wait)
    if ((await figure()) !== before) return performance.now() - acknowledged
  }
  return Number.POSITIVE_INFINITY
}

import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { poolOf } from '../load/request-pool.ts'
import { signedUpdate } from '../load/signed-updates.ts'
import { type Measured, measured, refusals } from '../measured.ts'
import { startLanewise, startServer } from '../processes.ts'
import { tenantsOf } from '../scale/plan.ts'
import type { ScaleDatabase } from '../scale-database.ts'

const concurrency = 16
const quotesPerTenant = 4
const warmUpSecondsMax = 60

interface BookedQuote {
  readonly tenant_id: number
  readonly lane_id: string
  readonly lane_ref: string
  readonly quoted_rate_cents: number
}

/** Returns some quotes of every ordinary tenant, in rotation, for bookings. */
async function quotesToBook(data: ScaleDatabase): Promise<BookedQuote[]> {
  const tenants = tenantsOf(data.access.plan).filter(({ kind }) => kind === 'ordinary')
  return data.as('superuser', async (client) => {
    const { rows } = await client.query<BookedQuote>(
      `select tenant_id, lane_id, lane_ref, quoted_rate_cents from (
         select tenant_id, lane_id, lane_ref, quoted_rate_cents,
           row_number() over (partition by tenant_id order by created_at desc, lane_id) as nth
         from quotes where tenant_id = any ($1::integer[])
       ) numbered where nth <= $2 order by nth, tenant_id`,
      [tenants.map(({ tenantId }) => tenantId), quotesPerTenant],
    )
    return rows
  })
}

/** The throughput of signed updates, 16 at once, compared with bare updates in the database. */
export const updatesRow: BenchRow = {
  name: 'updates',
  promise: 'durable signed updates, 16 at once, have at least 0.15 of the throughput of bare one-row UPDATEs',
  async measure(bench): Promise<BenchFindings> {
    const data = await bench.data()
    const lanes = await quotesToBook(data)
    const base = tenantsOf(data.access.plan)[0]?.tenantId ?? 0
    const bareResults: number[] = []
    const results: Measured[] = []
    const server = await startLanewise(data)
    const bare = await startServer('bare UPDATE', './peers/bare-update-main.ts', {
      DATABASE_URL: data.url('superuser'),
      BENCH_CONNECTIONS: String(concurrency),
    })
    try {
      // The first round is a warm-up with one update per brokerage, which loads its token and its secret.
      for (let round = 0; round <= bench.options.rounds; round++) {
        bench.say(`updates: round ${round} of ${bench.options.rounds}`)
        const { perSecond, failed } = await bare.ask<{ perSecond: number; failed?: string }>({
          seconds: bench.options.seconds,
          rows: lanes.map(({ tenant_id, lane_id }) => [tenant_id, lane_id]),
        })
        if (failed !== undefined) throw new Error(failed)
        const now = Date.now()
        const some = round === 0 ? lanes.slice(0, data.access.plan.tenants) : lanes
        const pushed = some.flatMap(({ tenant_id, lane_ref, quoted_rate_cents }) => {
          const access = data.access.tenants[tenant_id - base]
          if (access === undefined) return []
          const customerRate = Math.round(quoted_rate_cents / 100) + round + 1
          const booked = { laneRef: lane_ref, customerRate, truckCost: Math.round(customerRate * 0.85) }
          return signedUpdate(access, tenant_id - base, booked, now)
        })
        await bench.load.take('updates', poolOf(pushed))
        const one = await measured(bench, server, {
          pool: 'updates',
          withinLimit: true,
          once: true,
          connections: concurrency,
          sleeps: true,
          ...(round === 0 ? { seconds: warmUpSecondsMax } : {}),
        })
        if (round === 0) continue
        bareResults.push(perSecond)
        results.push(one)
      }
    } finally {
      await server.stop()
      await bare.stop()
    }
    const ours = results.map(({ perSecond }) => perSecond)
    return {
      table: {
        columns: ['per second', 'server CPU us', 'p50 us', 'p99 us'],
        lines: [
          ['bare UPDATE', spreadOf(bareResults), '-', '-', '-'],
          [
            'signed updates',
            spreadOf(ours),
            spreadOf(results.map(({ cpuPerRequest }) => cpuPerRequest ?? Number.NaN)),
            spreadOf(results.map(({ p50 }) => p50)),
            spreadOf(results.map(({ p99 }) => p99)),
          ],
        ],
      },
      bars: [
        {
          check: 'updates',
          measure: 'signed updates divided by bare updates',
          value: spreadOf(ratios(ours, bareResults)).median,
          least: 0.15,
        },
      ],
      faults: refusals('lanewise', results),
      notes: [`${lanes.length} lanes, each with one update per round`],
    }
  },
}

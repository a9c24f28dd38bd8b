import type { BenchFindings, BenchRow } from '../bench-row.ts'
import { spreadOf } from '../bench-row.ts'
import { poolOf, rateFor, readPath, tokenOf } from '../load/request-pool.ts'
import { measured, refusals } from '../measured.ts'
import { startLanewise } from '../processes.ts'
import { tenantsOf } from '../scale/plan.ts'
import { lanesOf } from '../scale/tenant-lanes.ts'

const lanesTouched = 100_000
/** The longest run: first reads of lanes query the database, about 300 per second on a slow machine. */
const secondsMax = 900
const megabyte = 1024 * 1024

/** Resident memory after every tenant has read its first lanes. */
export const memoryRow: BenchRow = {
  name: 'memory',
  promise: 'a process that serves 5,000 brokerages with 100,000 warm lanes takes at most 600 MB',
  async measure(bench): Promise<BenchFindings> {
    const data = await bench.data()
    const { access } = data
    const tenants = tenantsOf(access.plan)
    const perTenant = Math.ceil(lanesTouched / tenants.length)
    const byTenant = tenants.map((tenant, at) =>
      lanesOf(access.plan, tenant)
        .lanes.slice(0, perTenant)
        .map((lane) => ({
          tenant: at,
          token: tokenOf(access, tenant),
          method: 'GET' as const,
          path: readPath('markup', lane, rateFor(lane, 0.5)),
        })),
    )
    // The tenants take turns, so that none waits for its request limit.
    const requests = Array.from({ length: perTenant }, (_, nth) =>
      byTenant.flatMap((lanes) => lanes[nth] ?? []),
    ).flat()
    const server = await startLanewise(data)
    try {
      const atStart = server.residentBytes()
      await bench.load.take('memory', poolOf(requests))
      bench.say(`memory: reading ${requests.length.toLocaleString('en-US')} lanes`)
      const result = await measured(bench, server, {
        pool: 'memory',
        withinLimit: true,
        once: true,
        seconds: secondsMax,
      })
      const afterwards = server.residentBytes()
      const inMegabytes = (bytes: number | null) => (bytes === null ? Number.NaN : bytes / megabyte)
      const [before, after] = [inMegabytes(atStart), inMegabytes(afterwards)]
      // Smaller data have fewer lanes, so the growth is extrapolated to `lanesTouched`.
      const ofAll = before + ((after - before) * Math.max(lanesTouched, result.answers)) / result.answers
      return {
        table: {
          columns: ['resident MB', 'lanes touched'],
          lines: [
            ['at the start', spreadOf([before]), '0'],
            ['afterwards', spreadOf([after]), result.answers.toLocaleString('en-US')],
          ],
        },
        bars: [
          { check: 'memory', measure: 'resident MB of 100,000 lanes', value: ofAll, most: 600 },
          {
            check: 'memory',
            measure: 'share of lanes touched',
            value: result.answers / requests.length,
            least: 0.9,
          },
        ],
        faults: refusals('lanewise', [result]),
        notes: [
          `${tenants.length} tenants with ${requests.length.toLocaleString('en-US')} lanes to read`,
          ...(result.answers < lanesTouched ? ['the memory is extrapolated to 100,000 lanes'] : []),
        ],
      }
    } finally {
      await server.stop()
    }
  },
}

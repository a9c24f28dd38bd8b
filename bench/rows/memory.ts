import type { BenchFindings, BenchRow } from '../bench-row.ts'
import { spreadOf } from '../bench-row.ts'
import { poolOf, rateFor, readPath, tokenOf } from '../load/request-pool.ts'
import { measured, refusals } from '../measured.ts'
import { startLanewise } from '../peers/four-servers.ts'
import { tenantsOf } from '../scale/plan.ts'
import { lanesOf } from '../scale/tenant-lanes.ts'

const lanesTouched = 100_000
/** A lane that nobody has asked about yet is read from the database: three hundred a second on a slow machine. */
const secondsMax = 900
const megabyte = 1024 * 1024

/** Resident memory once every tenant has asked about each of its first lanes. */
export const memoryRow: BenchRow = {
  name: 'memory',
  about: 'resident memory with 5,000 tenants and 100,000 warm lanes',
  async measure(bench): Promise<BenchFindings> {
    const data = await bench.data({ quotes: bench.options.manyQuotes })
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
    // Every tenant in turn, so that none has to wait for its limit.
    const requests = Array.from({ length: perTenant }, (_, nth) =>
      byTenant.flatMap((lanes) => lanes[nth] ?? []),
    ).flat()
    const server = await startLanewise(data)
    try {
      const atStart = server.residentBytes()
      await bench.load.take('memory', poolOf(requests))
      bench.say(`memory: asking about ${requests.length.toLocaleString('en-US')} lanes`)
      const result = await measured(bench, server, {
        pool: 'memory',
        withinLimit: true,
        once: true,
        seconds: secondsMax,
      })
      const afterwards = server.residentBytes()
      const inMegabytes = (bytes: number | null) => (bytes === null ? Number.NaN : bytes / megabyte)
      const [before, after] = [inMegabytes(atStart), inMegabytes(afterwards)]
      // Smaller data have fewer lanes than are asked for: what one of them took, the others would take as well.
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
            measure: 'lanes touched of those there are',
            value: result.answers / requests.length,
            least: 0.9,
          },
        ],
        faults: refusals('lanewise', [result]),
        notes: [
          `${tenants.length} tenants with ${requests.length.toLocaleString('en-US')} lanes to ask about`,
          ...(result.answers < lanesTouched ? ['what so many lanes took is carried on to 100,000'] : []),
        ],
      }
    } finally {
      await server.stop()
    }
  },
}

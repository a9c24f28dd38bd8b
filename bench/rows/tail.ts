import { tenantRequestsPerWindowMax } from '#contract/limits.ts'
import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { type Measured, measured, refusals } from '../measured.ts'
import { fourServers } from '../peers/four-servers.ts'

/** p99 with scheduled requests at half the maximum throughput of the service. */
export const tailRow: BenchRow = {
  name: 'tail',
  about: 'p99 of markup at half the maximum load, compared with the framework at the same load',
  async measure(bench): Promise<BenchFindings> {
    const data = await bench.data()
    const { servers, notes, stop } = await fourServers(bench, data, 'markup')
    const results: Record<'framework' | 'lanewise', Measured[]> = { framework: [], lanewise: [] }
    let peak = 0
    try {
      const peaks = []
      for (let round = 0; round < 3; round++)
        peaks.push(await measured(bench, servers.lanewise, { pool: 'markup', withinLimit: true }))
      peak = spreadOf(peaks.map(({ perSecond }) => perSecond)).median
      const perSecond = Math.min(peak / 2, data.access.plan.tenants * tenantRequestsPerWindowMax * 0.8)
      for (let round = 1; round <= bench.options.rounds; round++) {
        bench.say(`tail: round ${round} of ${bench.options.rounds}`)
        for (const server of ['framework', 'lanewise'] as const) {
          results[server].push(
            await measured(bench, servers[server], { pool: 'markup', withinLimit: true, perSecond }),
          )
        }
      }
    } finally {
      await stop()
    }
    const p99 = (server: keyof typeof results) => results[server].map((one) => one.p99)
    const names = ['framework', 'lanewise'] as const
    return {
      table: {
        columns: ['requests/s', 'p50 us', 'p99 us', 'longest us'],
        lines: names.map((server) => [
          server,
          spreadOf(results[server].map((one) => one.perSecond)),
          spreadOf(results[server].map((one) => one.p50)),
          spreadOf(p99(server)),
          spreadOf(results[server].map((one) => one.max)),
        ]),
      },
      bars: [
        {
          check: 'tail',
          measure: 'p99 divided by that of the framework',
          value: spreadOf(ratios(p99('lanewise'), p99('framework'))).median,
          most: 3,
        },
      ],
      faults: names.flatMap((server) => refusals(server, results[server])),
      notes: [
        ...notes,
        `the maximum was ${Math.round(peak)} requests per second; times start when a request is due`,
      ],
    }
  },
}

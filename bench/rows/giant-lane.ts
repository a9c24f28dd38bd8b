import { setTimeout as delay } from 'node:timers/promises'
import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { poolOf, rateFor, readPath, tokenOf } from '../load/request-pool.ts'
import { type Measured, measured, refusals } from '../measured.ts'
import { startLanewise } from '../peers/four-servers.ts'
import { tenantsOf } from '../scale/plan.ts'
import { lanesOf } from '../scale/tenant-lanes.ts'

export const giantLaneQuotes = 100_000
/** One tenant sends all requests, so this is below its rate limit. */
const perSecond = 8
const secondsMin = 3
/** Longer than the rate window, so that late requests of one measurement do not count in the next. */
const restMs = 1_500
const rates = 36

/** A lane with 100,000 quotes and one with ten, of the same tenant, alternating, one request at a time. */
export const giantLaneRow: BenchRow = {
  name: 'giant-lane',
  about: 'markup, warm: a lane with 100,000 quotes compared with one with 10',
  async measure(bench): Promise<BenchFindings> {
    const data = await bench.data({
      quotes: 1_000,
      tenants: 10,
      giantLane: giantLaneQuotes,
      giantTenant: bench.options.giantTenant,
    })
    const { access } = data
    const tenant = tenantsOf(access.plan).find(({ kind }) => kind === 'giant-lane')
    if (tenant === undefined) throw new Error('The data contain no giant lane.')
    const [giant, small] = lanesOf(access.plan, tenant).lanes
    if (giant === undefined || small === undefined) throw new Error('The tenant has no lanes.')
    const server = await startLanewise(data)
    const sides = [
      { name: '10 quotes', lane: small, results: [] as Measured[] },
      { name: `${giantLaneQuotes.toLocaleString('en-US')} quotes`, lane: giant, results: [] as Measured[] },
    ]
    try {
      for (const { name, lane } of sides) {
        await bench.load.take(
          name,
          poolOf(
            Array.from({ length: rates }, (_, at) => ({
              tenant: 0,
              token: tokenOf(access, tenant),
              method: 'GET' as const,
              path: readPath('markup', lane, rateFor(lane, at / rates)),
            })),
          ),
        )
      }
      // The first round is a warm-up.
      for (let round = 0; round <= bench.options.rounds; round++) {
        bench.say(`giant-lane: round ${round} of ${bench.options.rounds}`)
        for (const { name, results } of sides) {
          const one = await measured(bench, server, {
            pool: name,
            withinLimit: true,
            perSecond,
            seconds: Math.max(secondsMin, bench.options.seconds),
            connections: 1,
          })
          if (round > 0) results.push(one)
          await delay(restMs)
        }
      }
    } finally {
      await server.stop()
    }
    const [few, many] = sides.map(({ results }) => results.map(({ p50 }) => p50))
    return {
      table: {
        columns: ['p50 us', 'p99 us', 'answers'],
        lines: sides.map(({ name, results }) => [
          name,
          spreadOf(results.map(({ p50 }) => p50)),
          spreadOf(results.map(({ p99 }) => p99)),
          String(results.reduce((sum, { answers }) => sum + answers, 0)),
        ]),
      },
      bars: [
        {
          check: 'giant-lane',
          measure: 'time on the small lane divided by time on the giant lane',
          value: spreadOf(ratios(few ?? [], many ?? [])).median,
          least: 0.9,
        },
      ],
      faults: sides.flatMap(({ name, results }) => refusals(name, results)),
      notes: ['one tenant may send ten requests per second, so response times stand for throughput'],
    }
  },
}

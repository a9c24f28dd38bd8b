import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { poolOf, readsOfAll } from '../load/request-pool.ts'
import { type Measured, measured, refusals } from '../measured.ts'
import { startLanewise } from '../peers/four-servers.ts'
import type { ServerProcess } from '../processes.ts'
import { warmUp } from '../warm-up.ts'

const fewQuotes = 100_000

/** Throughput of the same load on two databases of different sizes. */
export const growthRow: BenchRow = {
  name: 'growth',
  about: 'markup, warm: throughput with many quotes compared with 100,000',
  async measure(bench): Promise<BenchFindings> {
    const { manyQuotes, rounds } = bench.options
    const cases = [
      { name: `${fewQuotes.toLocaleString('en-US')} quotes`, quotes: fewQuotes },
      { name: `${manyQuotes.toLocaleString('en-US')} quotes`, quotes: manyQuotes },
    ]
    const sides: { name: string; server: ServerProcess; results: Measured[] }[] = []
    const notes: string[] = []
    try {
      for (const { name, quotes } of cases) {
        const data = await bench.data({ quotes })
        const server = await startLanewise(data)
        sides.push({ name, server, results: [] })
        const requests = readsOfAll(data.access, 'markup')
        await bench.load.take(name, poolOf(requests))
        bench.say(`growth: warming up with ${name}`)
        notes.push(...(await warmUp(bench, server, requests)).map((note) => `${name}: ${note}`))
      }
      for (let round = 1; round <= rounds; round++) {
        bench.say(`growth: round ${round} of ${rounds}`)
        for (const { name, server, results } of sides)
          results.push(await measured(bench, server, { pool: name, withinLimit: true }))
      }
    } finally {
      for (const { server } of sides) await server.stop()
    }
    const [few, many] = sides.map(({ results }) => results)
    const throughput = (results: readonly Measured[] = []) => results.map(({ perSecond }) => perSecond)
    const cpu = (results: readonly Measured[] = []) =>
      results.map(({ cpuPerRequest }) => cpuPerRequest ?? Number.NaN)
    return {
      table: {
        columns: ['requests/s', 'server CPU us', 'p50 us', 'p99 us'],
        lines: sides.map(({ name, results }) => [
          name,
          spreadOf(throughput(results)),
          spreadOf(cpu(results)),
          spreadOf(results.map(({ p50 }) => p50)),
          spreadOf(results.map(({ p99 }) => p99)),
        ]),
      },
      bars: [
        {
          check: 'growth',
          measure: 'throughput with many quotes divided by that with few',
          value: spreadOf(ratios(throughput(many), throughput(few))).median,
          least: 0.9,
        },
        {
          check: 'growth',
          measure: 'CPU per request with few quotes divided by that with many',
          value: spreadOf(ratios(cpu(few), cpu(many))).median,
          least: 0.9,
        },
      ],
      faults: sides.flatMap(({ name, results }) => refusals(name, results)),
      notes,
    }
  },
}

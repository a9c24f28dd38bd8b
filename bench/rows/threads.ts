import { availableParallelism } from 'node:os'
import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { poolOf, readsOfAll } from '../load/request-pool.ts'
import { type Measured, measured, refusals } from '../measured.ts'
import { startLanewise } from '../peers/four-servers.ts'
import type { ServerProcess } from '../processes.ts'
import { warmUp } from '../warm-up.ts'

const names = ['one thread', 'two threads'] as const
type Name = (typeof names)[number]
/** Each connection stays with a thread: after so many rounds over all connections both have met nearly every lane. */
const warmUps = 6
/** Two for the threads, one for the generator. */
const coresMin = 3

/** What a second thread adds. Both services may run on every core but the generator's, where there are so many. */
export const threadsRow: BenchRow = {
  name: 'threads',
  about: 'throughput of markup with two threads, over that of one',
  async measure(bench): Promise<BenchFindings> {
    const cores = availableParallelism()
    const servers = new Map<Name, ServerProcess>()
    const results: Record<Name, Measured[]> = { 'one thread': [], 'two threads': [] }
    const notes: string[] = []
    try {
      for (const [nth, name] of names.entries()) {
        // Each has a database of its own: on one they would be instances that share the limit there.
        const data = await bench.data({ seed: bench.options.seed + nth })
        const requests = readsOfAll(data.access, 'markup')
        const env = { THREADS: name === 'two threads' ? '2' : '1' }
        const server = await startLanewise(data, env, 'servers')
        servers.set(name, server)
        for (let round = 0; round < warmUps; round++) {
          bench.say(`threads: warming up ${name}, ${round + 1} of ${warmUps}`)
          const told = await warmUp(bench, server, requests)
          if (round === 0) notes.push(...told)
        }
        await bench.load.take(name, poolOf(requests))
      }
      for (let round = 1; round <= bench.options.rounds; round++) {
        bench.say(`threads: round ${round} of ${bench.options.rounds}`)
        for (const [name, server] of servers)
          results[name].push(await measured(bench, server, { withinLimit: true, pool: name }))
      }
    } finally {
      for (const server of servers.values()) await server.stop()
    }
    const rate = (name: Name) => results[name].map((one) => one.perSecond)
    const cpu = (name: Name) => results[name].map((one) => one.cpuPerRequest ?? Number.NaN)
    const throughput = spreadOf(ratios(rate('two threads'), rate('one thread')))
    // What two cores give to two threads, if nothing but processor time bounds them.
    const bound = 2 * spreadOf(ratios(cpu('one thread'), cpu('two threads'))).median
    const isOwnCore = cores >= coresMin
    return {
      table: {
        columns: ['requests/s', 'x of one', 'server CPU us', 'p99 us', 'generator busy'],
        lines: names.map((name) => [
          name,
          spreadOf(rate(name)),
          spreadOf(ratios(rate(name), rate('one thread'))),
          spreadOf(cpu(name)),
          spreadOf(results[name].map((one) => one.p99)),
          spreadOf(results[name].map((one) => one.generatorBusy)),
        ]),
      },
      bars: [
        {
          check: 'threads',
          measure: 'throughput, x of one thread',
          value: throughput.median,
          ...(isOwnCore ? { least: 1.6 } : {}),
        },
        { check: 'threads', measure: '2 x CPU a request of one over that of two', value: bound, least: 1.6 },
      ],
      faults: names.flatMap((name) => refusals(name, results[name])),
      notes: [
        ...notes,
        isOwnCore
          ? `${cores} cores: the load generator has its own`
          : `${cores} cores: the second thread and the load generator share one, so throughput says little here; two threads on cores of their own can reach the second figure`,
      ],
    }
  },
}

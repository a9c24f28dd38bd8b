import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import { type PooledRequest, poolOf, type Read, readsOfAll } from '../load/request-pool.ts'
import { askOnce, type Measured, measured, refusals } from '../measured.ts'
import { type ServerProcess, startLanewise, startServer } from '../processes.ts'
import { warmUp } from '../warm-up.ts'

/** Above this CPU use, the load generator with its one core is the bottleneck. */
const busyMax = 0.97
/** If connections wait longer for the tenants' request limits, the server is not at its maximum. */
const heldMax = 0.02
/** The bare server returns the response of median length among this many. */
const sampledAnswers = 200

/** A row that compares the throughput of Lanewise with that of a bare server, which always returns the same response. */
function readRow(name: string, read: Read, promise: string, least: number): BenchRow {
  return {
    name,
    promise,
    async measure(bench): Promise<BenchFindings> {
      const { load, options, say } = bench
      const data = await bench.data()
      const requests = readsOfAll(data.access, read)
      await load.take(read, poolOf(requests))
      const lanewise = await startLanewise(data)
      let bare: ServerProcess | undefined
      const bareResults: Measured[] = []
      const results: Measured[] = []
      const notes: string[] = []
      try {
        const answer = await medianAnswer(lanewise, requests.slice(0, sampledAnswers))
        notes.push(`responses of ${Buffer.byteLength(answer)} bytes; ${requests.length} requests in the pool`)
        bare = await startServer('bare server', './peers/bare-server-main.ts', { BENCH_ANSWER: answer })
        const runBare = { pool: read, withinLimit: false }
        say(`${name}: warming up`)
        await measured(bench, bare, runBare)
        notes.push(...(await warmUp(bench, lanewise, requests)))
        for (let round = 1; round <= options.rounds; round++) {
          say(`${name}: round ${round} of ${options.rounds}`)
          bareResults.push(await measured(bench, bare, runBare))
          results.push(await measured(bench, lanewise, { pool: read, withinLimit: true }))
        }
      } finally {
        await lanewise.stop()
        await bare?.stop()
      }
      const sides = [
        ['bare server', bareResults],
        ['lanewise', results],
      ] as const
      return {
        table: {
          columns: ['requests/s', 'server CPU us', 'p50 us', 'p99 us', 'generator busy'],
          lines: sides.map(([server, measurements]) => [
            server,
            spreadOf(measurements.map(rate)),
            spreadOf(measurements.map(cpu)),
            spreadOf(measurements.map(({ p50 }) => p50)),
            spreadOf(measurements.map(({ p99 }) => p99)),
            spreadOf(measurements.map(busy)),
          ]),
        },
        bars: [
          {
            check: name,
            measure: 'throughput divided by that of the bare server',
            value: spreadOf(ratios(results.map(rate), bareResults.map(rate))).median,
            least,
          },
          {
            check: name,
            measure: 'CPU per request of the bare server divided by ours',
            value: spreadOf(ratios(bareResults.map(cpu), results.map(cpu))).median,
            least,
          },
        ],
        faults: sides.flatMap(([server, measurements]) => refusals(server, measurements)),
        notes: [
          ...notes,
          ...sides
            .filter(([, measurements]) => spreadOf(measurements.map(busy)).median > busyMax)
            .map(
              ([server]) =>
                `the load generator was the bottleneck with ${server}: compare the CPU per request instead`,
            ),
          ...(spreadOf(results.map(({ waitedShare }) => waitedShare)).median > heldMax
            ? ['Lanewise waited for the tenants’ limit of ten requests per second: use more --tenants']
            : []),
        ],
      }
    },
  }
}

const rate = (one: Measured) => one.perSecond
const cpu = (one: Measured) => one.cpuPerRequest ?? Number.NaN
const busy = (one: Measured) => one.generatorBusy

async function medianAnswer(server: ServerProcess, requests: readonly PooledRequest[]): Promise<string> {
  const answers: string[] = []
  for (const { path, token } of requests)
    answers.push(JSON.stringify(await askOnce<unknown>(server, path, token)))
  answers.sort((a, b) => a.length - b.length)
  return answers[answers.length >> 1] ?? '{}'
}

export const markupRow = readRow(
  'markup',
  'markup',
  'one process answers markup for 1,700 brokerages at their rate limit: 0.33 of a bare server',
  0.33,
)
export const insightRow = readRow(
  'insight',
  'lane',
  'one process answers lane insight for 1,700 brokerages at their rate limit: 0.4 of a bare server',
  0.4,
)

import { type BenchFindings, type BenchRow, ratios, spreadOf } from '../bench-row.ts'
import type { Read } from '../load/request-pool.ts'
import { type Measured, measured, refusals } from '../measured.ts'
import { fourServers, isLimited, type ServerName, serverNames } from '../peers/four-servers.ts'

/** Above this CPU use, the load generator with its one core is the bottleneck. */
const busyMax = 0.97
/** Above this share of waiting for the tenants' rate limit, the server is not at its maximum. */
const heldMax = 0.02

function readRow(
  name: string,
  read: Read,
  about: string,
  ofLimit: number,
  ofOrdinary: number | null,
): BenchRow {
  return {
    name,
    about,
    async measure(bench): Promise<BenchFindings> {
      const data = await bench.data()
      const { servers, notes, stop } = await fourServers(bench, data, read)
      const results: Record<ServerName, Measured[]> = { limit: [], framework: [], ordinary: [], lanewise: [] }
      try {
        for (let round = 1; round <= bench.options.rounds; round++) {
          bench.say(`${name}: round ${round} of ${bench.options.rounds}`)
          for (const server of serverNames) {
            results[server].push(
              await measured(bench, servers[server], {
                withinLimit: isLimited(server),
                pool: read,
                // Leaves the generator's core to PostgreSQL, because this server handles few requests.
                sleeps: server === 'ordinary',
              }),
            )
          }
        }
      } finally {
        await stop()
      }
      const of = (server: ServerName, figure: (one: Measured) => number) => results[server].map(figure)
      const rate = (one: Measured) => one.perSecond
      const cpu = (one: Measured) => one.cpuPerRequest ?? Number.NaN
      const against = (other: ServerName) => ({
        throughput: spreadOf(ratios(of('lanewise', rate), of(other, rate))),
        cpu: spreadOf(ratios(of(other, cpu), of('lanewise', cpu))),
      })
      const [limit, ordinary] = [against('limit'), against('ordinary')]
      const busy = serverNames.filter(
        (server) => spreadOf(of(server, (one) => one.generatorBusy)).median > busyMax,
      )
      const held = spreadOf(of('lanewise', (one) => one.heldBack)).median > heldMax
      return {
        table: {
          columns: ['requests/s', 'share of limit', 'server CPU us', 'p50 us', 'p99 us', 'generator busy'],
          lines: serverNames.map((server) => [
            server,
            spreadOf(of(server, rate)),
            spreadOf(ratios(of(server, rate), of('limit', rate))),
            spreadOf(of(server, cpu)),
            spreadOf(of(server, (one) => one.p50)),
            spreadOf(of(server, (one) => one.p99)),
            spreadOf(of(server, (one) => one.generatorBusy)),
          ]),
        },
        bars: [
          {
            check: name,
            measure: 'throughput divided by that of limit',
            value: limit.throughput.median,
            least: ofLimit,
          },
          {
            check: name,
            measure: 'CPU per request of limit divided by ours',
            value: limit.cpu.median,
            least: ofLimit,
          },
          ...(ofOrdinary === null
            ? []
            : [
                {
                  check: name,
                  measure: 'throughput divided by that of ordinary',
                  value: ordinary.throughput.median,
                  least: ofOrdinary,
                },
                {
                  check: name,
                  measure: 'CPU per request of ordinary divided by ours',
                  value: ordinary.cpu.median,
                },
              ]),
        ],
        faults: serverNames.flatMap((server) => refusals(server, results[server])),
        notes: [
          ...notes,
          ...(busy.length > 0
            ? [
                `the load generator was the bottleneck with ${busy.join(', ')}: compare the CPU per request instead`,
              ]
            : []),
          ...(held
            ? ['Lanewise waited for the tenants’ limit of ten requests per second: use more --tenants']
            : []),
        ],
      }
    },
  }
}

export const markupRow = readRow('markup', 'markup', 'markup, warm, one process', 0.5, 10)
export const insightRow = readRow('insight', 'lane', 'lane insight, warm, one process', 0.4, null)

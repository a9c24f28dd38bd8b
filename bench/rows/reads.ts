import type { Bar } from '../../evaluation/src/bar.ts'
import { type BenchFindings, type BenchRow, type BenchTable, ratios, spreadOf } from '../bench-row.ts'
import type { Read } from '../load/request-pool.ts'
import { type Measured, measured, refusals } from '../measured.ts'
import { fourServers, isLimited, type ServerName, serverNames } from '../peers/four-servers.ts'

/** Above this CPU use, the load generator with its one core is the bottleneck. */
const busyMax = 0.97
/** Above this share of waiting for the tenants' rate limit, the server is not at its maximum. */
const heldMax = 0.02

type Results = Record<ServerName, Measured[]>

/** The limits of a row: our throughput divided by that of another server, at least. */
interface LeastRatios {
  readonly ofLimit: number
  /** Null if the row has no limit for this server. */
  readonly ofOrdinary: number | null
}

function readRow(name: string, read: Read, about: string, least: LeastRatios): BenchRow {
  return {
    name,
    about,
    async measure(bench): Promise<BenchFindings> {
      const data = await bench.data()
      const { servers, notes, stop } = await fourServers(bench, data, read)
      const results: Results = { limit: [], framework: [], ordinary: [], lanewise: [] }
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
      return {
        table: tableOf(results),
        bars: barsOf(name, results, least),
        faults: serverNames.flatMap((server) => refusals(server, results[server])),
        notes: [...notes, ...bottlenecks(results)],
      }
    },
  }
}

const rate = (one: Measured) => one.perSecond
const cpu = (one: Measured) => one.cpuPerRequest ?? Number.NaN

function tableOf(results: Results): BenchTable {
  const of = (server: ServerName, figure: (one: Measured) => number) => results[server].map(figure)
  return {
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
  }
}

function barsOf(name: string, { lanewise, limit, ordinary }: Results, least: LeastRatios): Bar[] {
  const throughput = (other: Measured[]) => spreadOf(ratios(lanewise.map(rate), other.map(rate))).median
  const cpuShare = (other: Measured[]) => spreadOf(ratios(other.map(cpu), lanewise.map(cpu))).median
  const bars: Bar[] = [
    {
      check: name,
      measure: 'throughput divided by that of limit',
      value: throughput(limit),
      least: least.ofLimit,
    },
    {
      check: name,
      measure: 'CPU per request of limit divided by ours',
      value: cpuShare(limit),
      least: least.ofLimit,
    },
  ]
  if (least.ofOrdinary === null) return bars
  return [
    ...bars,
    {
      check: name,
      measure: 'throughput divided by that of ordinary',
      value: throughput(ordinary),
      least: least.ofOrdinary,
    },
    { check: name, measure: 'CPU per request of ordinary divided by ours', value: cpuShare(ordinary) },
  ]
}

/** Returns notes about figures that are limited by the load generator or by the tenants' rate limit. */
function bottlenecks(results: Results): string[] {
  const median = (server: ServerName, figure: (one: Measured) => number) =>
    spreadOf(results[server].map(figure)).median
  const busy = serverNames.filter((server) => median(server, (one) => one.generatorBusy) > busyMax)
  const isHeld = median('lanewise', (one) => one.heldBack) > heldMax
  return [
    ...(busy.length > 0
      ? [`the load generator was the bottleneck with ${busy.join(', ')}: compare the CPU per request instead`]
      : []),
    ...(isHeld
      ? ['Lanewise waited for the tenants’ limit of ten requests per second: use more --tenants']
      : []),
  ]
}

export const markupRow = readRow('markup', 'markup', 'markup, warm, one process', {
  ofLimit: 0.33,
  ofOrdinary: 10,
})
export const insightRow = readRow('insight', 'lane', 'lane insight, warm, one process', {
  ofLimit: 0.4,
  ofOrdinary: null,
})

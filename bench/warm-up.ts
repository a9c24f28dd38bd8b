import type { Bench } from './bench-row.ts'
import { type PooledRequest, poolOf } from './load/request-pool.ts'
import { measured } from './measured.ts'
import type { ServerProcess } from './processes.ts'

/** The longest warm-up: first reads of lanes query the database, about 500 per second. */
const secondsMax = 300

/** Reads each lane in the requests once. Returns notes for the report. */
export async function warmUp(
  bench: Bench,
  server: ServerProcess,
  requests: readonly PooledRequest[],
): Promise<string[]> {
  const lanes = new Map(
    requests.map((request) => [
      `${request.tenant} ${request.path.replace(/&proposed_rate=.*/, '')}`,
      request,
    ]),
  )
  await bench.load.take('warm-up', poolOf([...lanes.values()]))
  const result = await measured(bench, server, {
    pool: 'warm-up',
    withinLimit: true,
    once: true,
    seconds: secondsMax,
  })
  return [
    `${lanes.size.toLocaleString('en-US')} lanes read once in ${Math.round(result.seconds)} s to warm up`,
    ...(result.wholePool ? [] : ['the warm-up ended before each lane was read']),
  ]
}

import type { Bench } from './bench-row.ts'
import { type PooledRequest, poolOf } from './load/request-pool.ts'
import { measured } from './measured.ts'
import type { ServerProcess } from './processes.ts'

/** A lane that nobody has asked about yet is read from the database: some five hundred a second. */
const secondsMax = 300

/** Asks once about each lane that the requests are about. Answers what must be noted: nothing when all were asked. */
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
    `${lanes.size.toLocaleString('en-US')} lanes asked about once in ${Math.round(result.seconds)} s to warm up`,
    ...(result.wholePool ? [] : ['the warm-up ended before each lane had been asked about']),
  ]
}

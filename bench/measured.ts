import type { Bench } from './bench-row.ts'
import type { LoadResult } from './load/load-messages.ts'
import type { ServerProcess } from './processes.ts'

/** One measurement of a server. */
export interface Measured extends LoadResult {
  readonly perSecond: number
  /** CPU time of the server per request, in microseconds; null if the system does not report it. */
  readonly cpuPerRequest: number | null
}

/** Runs load on a server, and measures its CPU time. */
export async function measured(
  { load, options }: Bench,
  server: ServerProcess,
  run: {
    pool: string
    withinLimit: boolean
    seconds?: number
    once?: boolean
    connections?: number
    sleeps?: boolean
  },
): Promise<Measured> {
  const before = server.cpuMicros()
  const result = await load.run({
    port: server.port,
    connections: options.connections,
    seconds: options.seconds,
    once: false,
    ...run,
  })
  const after = server.cpuMicros()
  const answered = result.answers + Object.values(result.others).reduce((sum, count) => sum + count, 0)
  return {
    ...result,
    perSecond: result.answers / result.seconds,
    cpuPerRequest: before === null || after === null || answered === 0 ? null : (after - before) / answered,
  }
}

/** Returns responses other than 200, and missing responses, as faults of the row. */
export function refusals(server: string, results: readonly LoadResult[]): string[] {
  const others: Record<string, number> = {}
  for (const result of results)
    for (const [status, count] of Object.entries(result.others))
      others[status] = (others[status] ?? 0) + count
  const silent = results.filter(({ answers }) => answers === 0).length
  return [
    ...(silent > 0 ? [`${server}: no response in ${silent} of ${results.length} measurements`] : []),
    ...Object.entries(others).map(([status, count]) =>
      status === '0'
        ? `${server}: ${count} broken connections`
        : `${server}: ${count} responses with status ${status}`,
    ),
  ]
}

/** Sends one read outside the load, and returns its JSON. @throws Error for any status except 200 */
export async function askOnce<Answer>(server: ServerProcess, path: string, token: string): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} returned ${answer.status}: ${text}`)
  return JSON.parse(text)
}

import type { Bench } from './bench-row.ts'
import type { LoadResult } from './load/load-messages.ts'
import type { ServerProcess } from './processes.ts'

/** One measurement of a server. */
export interface Measured extends LoadResult {
  readonly perSecond: number
  /** Microseconds of the server's processor time a request; null where the system does not tell. */
  readonly cpuPerRequest: number | null
}

/** Loads a server for a while and notes what it used. */
export async function measured(
  { load, options }: Bench,
  server: ServerProcess,
  run: {
    pool: string
    withinLimit: boolean
    perSecond?: number | null
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
    perSecond: null,
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

/** What was not answered with 200, or not at all, as faults of the row. */
export function refusals(who: string, results: readonly LoadResult[]): string[] {
  const others: Record<string, number> = {}
  for (const result of results)
    for (const [status, count] of Object.entries(result.others))
      others[status] = (others[status] ?? 0) + count
  const silent = results.filter(({ answers }) => answers === 0).length
  return [
    ...(silent > 0 ? [`${who}: no answer in ${silent} of ${results.length} measurements`] : []),
    ...Object.entries(others).map(([status, count]) =>
      status === '0' ? `${who}: ${count} connections broke` : `${who}: ${count} answers of ${status}`,
    ),
  ]
}

/** Asks once, outside the load, and answers the JSON. @throws Error for any status but 200 */
export async function askOnce<Answer>(server: ServerProcess, path: string, token: string): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text)
}

import type { Bench } from '../bench-row.ts'
import type { LoadResult } from '../load/load-messages.ts'
import { poolOf, type Read, readsOfAll } from '../load/request-pool.ts'
import { type ServerProcess, startServer } from '../processes.ts'
import type { ScaleDatabase } from '../scale-database.ts'

/** The servers in the order of a round. */
export const serverNames = ['limit', 'framework', 'ordinary', 'lanewise'] as const
export type ServerName = (typeof serverNames)[number]
export type FourServers = Readonly<Record<ServerName, ServerProcess>>

/** Answers that are looked at to learn how long they are. */
const answersLookedAt = 200
const warmUpSecondsMax = 20

/** Starts the real service on a database. */
export function startLanewise(
  data: ScaleDatabase,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  return startServer('lanewise', '../server/src/main.ts', { ...data.serviceEnv, ...env }, 'Lanewise is ready')
}

/**
 * Starts the four servers of a comparison, each a process of its own, gives the load generator its requests, and lets
 * each server answer them until it is warm. The first two answer with a real answer of Lanewise's, of median length.
 */
export async function fourServers(
  { load, options, say }: Bench,
  data: ScaleDatabase,
  read: Read,
): Promise<{ servers: FourServers; notes: string[]; stop: () => Promise<void> }> {
  const started: ServerProcess[] = []
  const stop = async () => {
    for (const server of started) await server.stop()
  }
  const start = async (starting: Promise<ServerProcess>) => {
    const server = await starting
    started.push(server)
    return server
  }
  try {
    const lanewise = await start(startLanewise(data))
    const requests = readsOfAll(data.access, read)
    const answer = await medianAnswer(lanewise, requests.slice(0, answersLookedAt))
    const env = { BENCH_ANSWER: answer }
    const servers = {
      limit: await start(startServer('limit', './peers/limit-main.ts', env)),
      framework: await start(startServer('framework', './peers/framework-main.ts', env)),
      ordinary: await start(startServer('ordinary', './peers/ordinary-main.ts', data.ordinaryEnv)),
      lanewise,
    }
    await load.take(poolOf(requests))
    const notes = [`answers of ${Buffer.byteLength(answer)} bytes; ${requests.length} requests in the pool`]
    for (const name of serverNames) {
      say(`${read}: warming ${name} up`)
      const own = name === 'lanewise'
      const warm = await load.run({
        port: servers[name].port,
        connections: options.connections,
        seconds: own ? Math.max(options.seconds, warmUpSecondsMax) : Math.min(options.seconds, 2),
        once: own,
        perSecond: null,
        withinLimit: isLimited(name),
      })
      if (own && !warm.wholePool) notes.push('the warm-up ended before each request had been sent once')
    }
    return { servers, notes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The first two check nothing, so nothing holds them back. */
export function isLimited(name: ServerName): boolean {
  return name === 'ordinary' || name === 'lanewise'
}

async function medianAnswer(server: ServerProcess, requests: ReturnType<typeof readsOfAll>): Promise<string> {
  const answers: string[] = []
  for (const { path, token } of requests) {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`)
    answers.push(text)
  }
  answers.sort((a, b) => a.length - b.length)
  return answers[answers.length >> 1] ?? '{}'
}

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
    withinLimit: boolean
    perSecond?: number | null
    seconds?: number
    once?: boolean
    connections?: number
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

/** What was not answered with 200, as a fault of the row. */
export function refusals(who: string, results: readonly LoadResult[]): string[] {
  const others: Record<string, number> = {}
  for (const result of results)
    for (const [status, count] of Object.entries(result.others))
      others[status] = (others[status] ?? 0) + count
  return Object.entries(others).map(([status, count]) =>
    status === '0' ? `${who}: ${count} connections broke` : `${who}: ${count} answers of ${status}`,
  )
}

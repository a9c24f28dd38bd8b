import type { Bench } from '../bench-row.ts'
import { type PooledRequest, poolOf, type Read, readsOfAll } from '../load/request-pool.ts'
import { askOnce } from '../measured.ts'
import { type ServerProcess, startServer } from '../processes.ts'
import type { ScaleDatabase } from '../scale-database.ts'
import { warmUp } from '../warm-up.ts'

/** The servers, in the order of a round. */
export const serverNames = ['limit', 'framework', 'ordinary', 'lanewise'] as const
export type ServerName = (typeof serverNames)[number]
export type FourServers = Readonly<Record<ServerName, ServerProcess>>

/** The number of responses from which the one of median length is chosen. */
const sampledAnswers = 200

/** Starts Lanewise on a database. With `isAlone`, removes registered instances first: a killed one would still count for a while. */
export async function startLanewise(data: ScaleDatabase, isAlone = true): Promise<ServerProcess> {
  if (isAlone) await data.as('owner', (client) => client.query('delete from instances'))
  return startServer('lanewise', '../server/src/main.ts', data.serviceEnv, 'Lanewise is ready')
}

/**
 * Starts the four servers of a comparison in separate processes, passes the requests to the load generator, and warms the servers
 * up. `limit` and `framework` always return the same response of Lanewise, one of median length.
 */
export async function fourServers(
  bench: Bench,
  data: ScaleDatabase,
  read: Read,
): Promise<{ servers: FourServers; notes: string[]; stop: () => Promise<void> }> {
  const { load, options, say } = bench
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
    const answer = await medianAnswer(lanewise, requests.slice(0, sampledAnswers))
    const env = { BENCH_ANSWER: answer }
    const servers = {
      limit: await start(startServer('limit', './peers/limit-main.ts', env)),
      framework: await start(startServer('framework', './peers/framework-main.ts', env)),
      ordinary: await start(startServer('ordinary', './peers/ordinary-main.ts', data.ordinaryEnv)),
      lanewise,
    }
    await load.take(read, poolOf(requests))
    const notes = [`responses of ${Buffer.byteLength(answer)} bytes; ${requests.length} requests in the pool`]
    for (const name of ['limit', 'framework', 'ordinary'] as const) {
      await load.run({
        pool: read,
        port: servers[name].port,
        connections: options.connections,
        seconds: options.seconds,
        once: false,
        perSecond: null,
        withinLimit: isLimited(name),
      })
    }
    say(`${read}: warming up`)
    notes.push(...(await warmUp(bench, lanewise, requests)))
    return { servers, notes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Whether a server applies the tenants' rate limit. `limit` and `framework` do not. */
export function isLimited(name: ServerName): boolean {
  return name === 'ordinary' || name === 'lanewise'
}

async function medianAnswer(server: ServerProcess, requests: readonly PooledRequest[]): Promise<string> {
  const answers: string[] = []
  for (const { path, token } of requests)
    answers.push(JSON.stringify(await askOnce<unknown>(server, path, token)))
  answers.sort((a, b) => a.length - b.length)
  return answers[answers.length >> 1] ?? '{}'
}

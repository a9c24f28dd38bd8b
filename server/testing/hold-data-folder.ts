// A process for tests to kill: takes the data folder of its first argument, with PostgreSQL or without, says so in
// one line of JSON, and stays until it is killed or its input ends.
import { once } from 'node:events'
import { lockDataFolder, startEmbeddedPostgres } from '#server/embedded-postgres/index.ts'

const [directory = '', what = 'lock'] = process.argv.slice(2)

try {
  const folder = await lockDataFolder(directory)
  const postgres = what === 'postgres' ? await startEmbeddedPostgres({ directory }) : null
  say({ won: true, postgresPid: postgres?.pid ?? null, host: postgres?.host ?? null })
  await once(process.stdin.resume(), 'end')
  await postgres?.stop()
  folder.release()
} catch (error) {
  say({ won: false, refusal: error instanceof Error ? error.message : String(error) })
}

function say(what: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ pid: process.pid, ...what })}\n`)
}

// A process for tests to kill. It locks the data folder in its first argument and, with `postgres` as the second argument,
// starts PostgreSQL there. It prints one line of JSON, and runs until it is killed or its stdin closes.
import { once } from 'node:events'
import { lockDataFolder, startEmbeddedPostgres } from '#server/embedded-postgres/index.ts'

const [directory = '', what = 'lock'] = process.argv.slice(2)

try {
  const folder = await lockDataFolder(directory)
  const postgres = what === 'postgres' ? await startEmbeddedPostgres({ directory }) : null
  report({ won: true, postgresPid: postgres?.pid ?? null, host: postgres?.host ?? null })
  await once(process.stdin.resume(), 'end')
  await postgres?.stop()
  folder.release()
} catch (error) {
  report({ won: false, refusal: error instanceof Error ? error.message : String(error) })
}

function report(result: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ pid: process.pid, ...result })}\n`)
}

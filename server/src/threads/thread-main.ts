import { parentPort, workerData } from 'node:worker_threads'
import { migrationNames } from '../database/migrate.ts'
import { openDatabase } from '../database/open-database.ts'
import { watchedDatabase } from '../database/transaction-watch.ts'
import type { CallLog } from '../endpoints/call.ts'
import { type SecretKeys, secretKey } from '../security/sealed-secret.ts'
import { serviceLog } from '../service-log.ts'
import { inTurn, monotonicClock, startServing } from '../serving.ts'
import { startWatching } from '../watching/start-watching.ts'
import { deskOf } from './desk.ts'
import type { ThreadData } from './more-threads.ts'
import { sharedTenants } from './shared-tenants.ts'
import { talk } from './talk.ts'

/** A further thread of the service: the same endpoints on the same port, with connections of its own. */
async function main(port: NonNullable<typeof parentPort>, data: ThreadData): Promise<void> {
  const [newest, ...older] = data.secretKeys.map((key) => secretKey(Buffer.from(key).toString('hex')))
  if (newest === undefined || newest === null) throw new Error('A thread needs a key.')
  const secretKeys: SecretKeys = [newest, ...older.flatMap((key) => key ?? [])]
  const logger = serviceLog(data.config.logLevel).child({ thread: data.number })
  let counted: CallLog['lastMinute'] = async () => ({ requests: 0, refused: 0 })
  let stop = async () => {}
  const monotonic = monotonicClock()
  const watching = await startWatching(data.config, { log: logger, monotonic, thread: data.number })
  const first = talk(port, {
    counted: (...values: Parameters<CallLog['lastMinute']>) => counted(...values),
    metrics: () => watching.read(),
    stop: () => stop(),
  })
  const opened = await openDatabase({
    connection: data.connection,
    connectionsMax: data.connectionsMax,
    ...(data.instance === null ? {} : { instance: data.instance }),
    onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection was lost'),
  })
  const database = watching.transaction === null ? opened : watchedDatabase(opened, watching.transaction)
  const serving = await startServing({
    config: { ...data.config, secretKeys },
    database,
    secretKeys,
    logger,
    clock: Date.now,
    instance: data.instance,
    shared: sharedTenants(data.memory),
    first: deskOf(first),
    countedElsewhere: async () => ({ requests: 0, refused: 0 }),
    watching,
    migrations: await migrationNames(),
    listen: { port: data.port, host: data.config.host, reusePort: true },
  })
  counted = serving.counted
  stop = async () => {
    await inTurn([serving.close, serving.drain, database.close])
    process.exit(0)
  }
  first.tell('ready')
}

if (parentPort !== null) await main(parentPort, workerData as ThreadData)

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type RunningService, runService } from '#testing/running-service.ts'
import { proofFolder } from './own-postgres.ts'
import { type FaultName, planting } from './planted-fault.ts'
import type { ProofDatabase } from './proof-database.ts'

/** Starts the service in separate processes on a PostgreSQL server that the proof controls. */
export interface ServiceProcesses {
  start(options?: {
    databaseUrl?: string
    fault?: FaultName
    env?: Record<string, string>
    /** The main file of another version. */
    main?: string
  }): Promise<RunningService>
  remove(): Promise<void>
}

export function serviceProcesses(postgres: Pick<ProofDatabase, 'url'>): ServiceProcesses {
  const secretKey = randomBytes(32).toString('base64')
  const folder = proofFolder()
  const started: RunningService[] = []
  return {
    async start({ databaseUrl = postgres.url('service'), fault, env: more = {}, main } = {}) {
      const env = {
        DATABASE_URL: databaseUrl,
        MIGRATION_DATABASE_URL: postgres.url('owner'),
        LANEWISE_SECRET_KEY: secretKey,
        SAMPLE_BROKERAGE: 'false',
        LOG_LEVEL: 'error',
        ...more,
        ...(fault === undefined ? {} : { NODE_OPTIONS: planting(fault) }),
      }
      const service = await runService(folder, env, main)
      started.push(service)
      return service
    },
    async remove() {
      for (const service of started) {
        if (service.child.exitCode === null && service.child.signalCode === null) await service.end('SIGKILL')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

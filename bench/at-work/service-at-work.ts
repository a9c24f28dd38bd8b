import { setTimeout as delay } from 'node:timers/promises'
import { createImport, getImport } from '#contract/imports.ts'
import { signIn } from '#contract/sign-in.ts'
import { type ServerProcess, startServer } from '../processes.ts'
import { jsonCall } from './people-at-work.ts'
import type { PreparedBrokerage } from './prepared-brokerage.ts'
import type { ProbeOrder } from './probe-messages.ts'
import { type Answer, type Call, isSuccess, openClient, reasonOf } from './working-day.ts'

/** A service process on the brokerage's data folder, with its embedded database, as `npm start` runs it. */
export interface ServiceAtWork {
  readonly server: ServerProcess
  send(call: Call): Promise<Answer>
  probe<Result>(order: ProbeOrder): Promise<Result>
  /** Stops the service in order. `kill` stops it at once, for a folder that is not used again. */
  stop(how?: 'kill'): Promise<void>
}

const probe = new URL('./service-probe-main.ts', import.meta.url)

export async function startAtWork({ directory }: PreparedBrokerage): Promise<ServiceAtWork> {
  const server = await startServer(
    'lanewise',
    '../server/src/main.ts',
    {
      DATA_DIR: directory,
      DATABASE_URL: undefined,
      MIGRATION_DATABASE_URL: '',
      LANEWISE_SECRET_KEY: '',
      SAMPLE_BROKERAGE: 'false',
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${probe}`,
    },
    'Lanewise is ready',
    'any',
  )
  const client = openClient(server.port)
  return {
    server,
    send: client.send,
    probe: (order) => server.ask(order),
    async stop(how) {
      client.close()
      await server.stop(how === 'kill' ? 'SIGKILL' : 'SIGTERM')
    },
  }
}

/** Signs the brokerage's user in, and returns the token. */
export async function signedIn(service: ServiceAtWork, { person }: PreparedBrokerage): Promise<string> {
  const { text } = await untilSuccess(service, jsonCall(signIn.path, person))
  return (JSON.parse(text) as { token: string }).token
}

/** A response after one or more attempts, with the total time and the reasons of the failed attempts. */
export interface EventualAnswer {
  readonly text: string
  readonly seconds: number
  readonly refused: readonly string[]
}

const retryAfterMs = 100
const attemptsMsMax = 120_000

/** Repeats a call until it succeeds. @throws Error after two minutes without success */
export async function untilSuccess(service: ServiceAtWork, call: Call): Promise<EventualAnswer> {
  const began = performance.now()
  const refused: string[] = []
  for (;;) {
    const answer = await service.send(call)
    const ms = performance.now() - began
    if (isSuccess(answer)) return { text: answer.text, seconds: ms / 1000, refused }
    refused.push(reasonOf(answer))
    if (ms > attemptsMsMax)
      throw new Error(`${call.path} did not succeed within ${attemptsMsMax / 1000} s: ${refused.at(-1)}`)
    await delay(retryAfterMs)
  }
}

const importPollMs = 500
const importMsMax = 300_000

interface ImportRow {
  readonly import_id: number
  readonly status: string
  readonly rows_added: number
  readonly failure: string | null
}

/** The result of an import. */
export interface ImportEnd {
  readonly rowsAdded: number
  readonly seconds: number
  readonly faults: readonly string[]
}

/** Uploads a file and waits until it is imported. Problems are returned as faults, so that the measurements are not lost. */
export async function importFile(service: ServiceAtWork, token: string, file: Buffer): Promise<ImportEnd> {
  const began = performance.now()
  const authorization = `Bearer ${token}`
  const refused: string[] = []
  const sent = await service.send({
    method: createImport.method,
    path: `${createImport.path}?file_name=loads.csv`,
    headers: { authorization, 'content-type': 'text/csv' },
    body: file,
  })
  if (sent.status !== createImport.status)
    return { rowsAdded: 0, seconds: Number.NaN, faults: [`the file was not accepted: ${reasonOf(sent)}`] }
  let row: ImportRow = JSON.parse(sent.text)
  const path = getImport.path.replace('{import_id}', String(row.import_id))
  while (row.status === 'running' && performance.now() - began < importMsMax) {
    await delay(importPollMs)
    const look = await service.send({ method: getImport.method, path, headers: { authorization } })
    if (look.status === getImport.status) row = JSON.parse(look.text)
    else refused.push(reasonOf(look))
  }
  return {
    rowsAdded: row.rows_added,
    seconds: (performance.now() - began) / 1000,
    faults: [
      ...(refused.length === 0
        ? []
        : [`${refused.length} failed requests for its progress, such as: ${refused[0]}`]),
      ...(row.status === 'done' ? [] : [`its final status was ${row.status}: ${row.failure}`]),
    ],
  }
}

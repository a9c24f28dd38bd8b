import { setTimeout as delay } from 'node:timers/promises'
import { createImport, getImport } from '#contract/imports.ts'
import { signIn } from '#contract/sign-in.ts'
import { type ServerProcess, startServer } from '../processes.ts'
import { jsonCall } from './people-at-work.ts'
import type { PreparedBrokerage } from './prepared-brokerage.ts'
import type { ProbeOrder } from './probe-messages.ts'
import { type Answer, type Call, isTaken, openClient, reasonOf } from './working-day.ts'

/** A service process on the brokerage's folder as `npm start` runs it, with its own database. */
export interface ServiceAtWork {
  readonly server: ServerProcess
  send(call: Call): Promise<Answer>
  probe<Said>(order: ProbeOrder): Promise<Said>
  /** As an operator stops it; with `kill` at once, where nothing will be started on the folder again. */
  stop(how?: 'kill'): Promise<void>
}

const probe = new URL('./service-probe-main.ts', import.meta.url)

export async function startAtWork({ directory }: PreparedBrokerage): Promise<ServiceAtWork> {
  const server = await startServer(
    'lanewise',
    '../server/src/main.ts',
    {
      DATA_DIR: directory,
      DATABASE_URL: '',
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

/** The token of the person who works. */
export async function signedIn(service: ServiceAtWork, { person }: PreparedBrokerage): Promise<string> {
  const { text } = await inTheEnd(service, jsonCall(signIn.path, person))
  return (JSON.parse(text) as { token: string }).token
}

/** How long an answer took that was asked for until it came, and what was said before. */
export interface InTheEnd {
  readonly text: string
  readonly seconds: number
  readonly refused: readonly string[]
}

const askedAgainMs = 100
const inTheEndMsMax = 120_000

/** Asks again and again until there is an answer, as a person would. @throws Error when none comes for minutes */
export async function inTheEnd(service: ServiceAtWork, call: Call): Promise<InTheEnd> {
  const began = performance.now()
  const refused: string[] = []
  for (;;) {
    const answer = await service.send(call)
    const ms = performance.now() - began
    if (isTaken(answer)) return { text: answer.text, seconds: ms / 1000, refused }
    refused.push(reasonOf(answer))
    if (ms > inTheEndMsMax) throw new Error(`${call.path} is never answered: ${refused.at(-1)}`)
    await delay(askedAgainMs)
  }
}

const importLookMs = 500
const importMsMax = 300_000

interface ImportRow {
  readonly import_id: number
  readonly status: string
  readonly rows_added: number
  readonly failure: string | null
}

/** What became of an import. */
export interface ImportEnd {
  readonly rowsAdded: number
  readonly seconds: number
  readonly faults: readonly string[]
}

/** Sends a file and waits until it is imported. What goes wrong with it is a fault and no error: the rest was measured. */
export async function imported(service: ServiceAtWork, token: string, file: Buffer): Promise<ImportEnd> {
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
    return { rowsAdded: 0, seconds: Number.NaN, faults: [`the file was not taken: ${reasonOf(sent)}`] }
  let row: ImportRow = JSON.parse(sent.text)
  const path = getImport.path.replace('{import_id}', String(row.import_id))
  while (row.status === 'running' && performance.now() - began < importMsMax) {
    await delay(importLookMs)
    const look = await service.send({ method: getImport.method, path, headers: { authorization } })
    if (look.status === getImport.status) row = JSON.parse(look.text)
    else refused.push(reasonOf(look))
  }
  return {
    rowsAdded: row.rows_added,
    seconds: (performance.now() - began) / 1000,
    faults: [
      ...(refused.length === 0 ? [] : [`${refused.length} looks at its progress, such as: ${refused[0]}`]),
      ...(row.status === 'done' ? [] : [`it was ${row.status} at the end: ${row.failure}`]),
    ],
  }
}

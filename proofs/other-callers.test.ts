/** @module-tag measure */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { importColumnsMax } from '#contract/limits.ts'
import { tokenScopeNames } from '#contract/token-scopes.ts'
import { call, type Integration, makeIntegration, makeQuote } from '#testing/make.ts'
import { quotesFile } from '#testing/quotes-file.ts'
import { type ProofDatabase, proofDatabase } from './proof-database.ts'
import { type ServiceProcesses, serviceProcesses } from './service-process.ts'
import { asApp } from './signed-writers.ts'
import { WatchedService } from './watched-service.ts'

/**
 * Promise: many large answers that nobody reads, and a large import beside pastes, take little memory, and no other caller waits.
 *
 * How: each case runs against a service in its own process that measures itself (`turn-watch.ts`). `fuzz-costs.ts` sends long requests
 * one at a time.
 */

const turnMsMax = 100
const grownMbMax = 100

let database: ProofDatabase
let services: ServiceProcesses
let watched: WatchedService
let ours: Integration
let theirs: Integration

beforeAll(async () => {
  database = await proofDatabase(inject('databaseCluster'))
  services = serviceProcesses(database)
  watched = new WatchedService(services)
  await watched.start()
  ;[ours, theirs] = [
    await makeIntegration(asApp(watched.service.url), tokenScopeNames.join(' ')),
    await makeIntegration(asApp(watched.service.url), tokenScopeNames.join(' ')),
  ]
  for (const { tenant } of [ours, theirs])
    await makeQuote(asApp(watched.service.url), tenant, { outcome: 'won' })
})
afterAll(async () => {
  watched?.close()
  await services?.remove()
  await database?.drop()
})

/** Sends a file, and waits until its import has ended. */
async function upload(file: string) {
  const headers = { Authorization: `Bearer ${ours.tenant.owner}`, 'Content-Type': 'text/csv' }
  const answer = await watched.send('POST', '/api/imports?file_name=bad.csv', headers, file)
  const importId = Number(/"import_id":(\d+)/.exec(answer.text)?.[1])
  expect(await watched.importEnds(ours.tenant.owner, importId)).toBe(true)
  return answer
}

test('ninety large answers that nobody reads take little memory, and others are served', async () => {
  const before = await watched.look(true)
  const { hostname, port } = new URL(watched.service.url)
  const body = JSON.stringify({
    headers: Array.from({ length: importColumnsMax }, (_, at) => `${'n'.repeat(400)}${at}`),
  })
  const head = [
    'POST /api/import-columns HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${ours.tenant.owner}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ].join('\r\n')
  // A network may have a hundred connections: ten remain for the other caller.
  const sockets = await Promise.all(
    Array.from({ length: 90 }, async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.pause()
      socket.write(`${head}\r\n\r\n${body}`)
      return socket
    }),
  )
  const app = asApp(watched.service.url)
  for (let times = 0; times < 5; times++) {
    const read = await call(app, 'GET', `/api/integrations/insights/markup?${lane}`, { token: theirs.token })
    expect(read.status).toBe(200)
  }
  const after = await watched.look()
  for (const socket of sockets) socket.destroy()
  expect(after?.turnMs).toBeLessThan(turnMsMax)
  expect((after?.mostMb ?? 0) - (before?.nowMb ?? 0)).toBeLessThan(grownMbMax)
})

const lane = 'origin=Dallas,%20TX&destination=Atlanta,%20GA&equipment=V&proposed_rate=2000'

test('an import and a paste of one brokerage run while another asks for markup', async () => {
  const app = asApp(watched.service.url)
  const file = quotesFile({ seed: 3, quotes: 6_000, until: Date.now(), hours: 2 })
  const text = Array.from({ length: 300 }, (_, at) => `Dalas ${at}, TX\tAtlnta, GA\tV\t${2_000 + at}`).join(
    '\n',
  )
  const paste = () => call(app, 'POST', '/api/pasted-lanes', { token: ours.tenant.owner, body: { text } })
  const ask = () => call(app, 'GET', `/api/integrations/insights/markup?${lane}`, { token: theirs.token })
  await watched.look()
  const importing = upload(file)
  let isOver = false
  const pastes = (async () => {
    const statuses: number[] = []
    while (!isOver) statuses.push((await paste()).status)
    return statuses
  })()
  const asked: number[] = []
  while (!isOver) {
    const { status, body } = await ask()
    asked.push(status)
    expect(body.found).toBe(true)
    isOver = await Promise.race([
      importing.then(() => true),
      new Promise<false>((resume) => setTimeout(resume, 200, false)),
    ])
  }
  expect((await importing).status).toBe(202)
  for (const statuses of [asked, await pastes]) expect(new Set(statuses)).toEqual(new Set([200]))
  expect((await watched.look())?.turnMs).toBeLessThan(turnMsMax)
})

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { utils, write } from '@e965/xlsx'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Endpoint } from '#contract/endpoint.ts'
import { createImport, integrationCreateImport } from '#contract/imports.ts'
import { importBytesMax } from '#contract/limits.ts'
import { loadMarketFile, pushMarketFile } from '#contract/market-rates.ts'
import {
  call,
  type Integration,
  makeIntegration,
  makeSecret,
  makeServiceToken,
  signedHeaders,
} from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** Files that may wait to be read. */
const waiting = vi.hoisted(() => ({ max: 100 }))
vi.mock('#contract/limits.ts', async (original) => ({
  ...(await original<typeof import('#contract/limits.ts')>()),
  get filesWaitingMax() {
    return waiting.max
  },
}))

/** The processes that read workbooks, which are stopped at their start while `stops` is true. */
const processes = vi.hoisted(() => ({ stops: false, started: [] as ChildProcess[] }))
vi.mock('node:child_process', async (original) => {
  const real = await original<typeof import('node:child_process')>()
  const spawn = (...given: Parameters<typeof real.spawn>) => {
    const child = real.spawn(...given)
    processes.started.push(child)
    if (processes.stops) child.kill('SIGSTOP')
    return child
  }
  return { ...real, spawn }
})

let app: TestApp
/** Called before the next transaction of a brokerage, which waits for its promise. */
let hold: (() => Promise<void>) | null = null
/** Called when the service has noticed the end of a request that it began to receive. */
let ended = () => {}
beforeAll(async () => {
  app = await testApp({
    wrapDatabase: (database) => ({
      ...database,
      inTenant: async (tenant, work) => {
        const held = hold
        hold = null
        await held?.()
        return database.inTenant(tenant, work)
      },
    }),
    plant: (server) =>
      server.addHook('onRequest', async (_, reply) => reply.raw.once('close', () => ended())),
  })
})
afterAll(() => app.close())

const rates =
  'Origin,Destination,Equipment,All-In Rate,Source,Date\nDallas TX,Atlanta GA,V,1960,DAT,2026-01-05\n'
const quotes =
  'Reference,Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\nA,"Dallas, TX","Macon, GA",Van,2150,3/1/2026,Won\n'

/** A request whose file is sent only by `end(file)`. Until then, it has no answer. */
function begun(
  of: Integration,
  { method, path, who }: Endpoint,
  file: string,
  length = Buffer.byteLength(file),
): ClientRequest {
  const isSigned = who.kind === 'service'
  const sent = request(`${app.url}${path}`, {
    method,
    headers: {
      ...(isSigned
        ? signedHeaders(of, file, Math.floor(app.now / 1000), { method, path })
        : { Authorization: `Bearer ${of.tenant.owner}` }),
      'Content-Type': 'text/csv',
      'Content-Length': length,
      Expect: '100-continue',
    },
  })
  sent.flushHeaders()
  return sent
}

async function answerTo(of: Integration, endpoint: Endpoint, file: string) {
  const sent = begun(of, endpoint, file)
  sent.once('continue', () => sent.end(file))
  const [answer] = await once(sent, 'response')
  answer.resume()
  await once(answer, 'end')
  return { status: answer.statusCode as number, retryAfter: answer.headers['retry-after'] as unknown }
}

/** Hangs up, and waits until the service has noticed it. */
async function hangUp(sent: ClientRequest): Promise<void> {
  const noticed = new Promise<void>((resolve) => {
    ended = resolve
  })
  sent.on('error', () => {})
  sent.destroy()
  await noticed
}

const endpoints: readonly (readonly [string, Endpoint, string])[] = [
  ['market rates on the page', loadMarketFile, rates],
  ['signed market rates', pushMarketFile, rates],
  ['past quotes on the page', createImport, quotes],
  ['signed past quotes', integrationCreateImport, quotes],
]

test.each(endpoints)(
  'a file of %s holds its place while it is worked on, also after its caller has hung up',
  async (...[, endpoint, file]) => {
    const of = await makeIntegration(app, 'integrations:write quotes:write imports:write')
    const sent = begun(of, endpoint, file)
    await once(sent, 'continue')
    const work = Promise.withResolvers<void>()
    const working = new Promise<void>((resolve) => {
      hold = () => {
        resolve()
        return work.promise
      }
    })
    sent.end(file)
    await working
    await hangUp(sent)
    expect((await answerTo(of, endpoint, file)).status).toBe(409)
    work.resolve()
    await expect.poll(async () => (await answerTo(of, endpoint, file)).status).toBeLessThan(300)
  },
)

test.each(endpoints)(
  'a file of %s loses its place if its caller hangs up before it has arrived',
  async (...[, endpoint, file]) => {
    const of = await makeIntegration(app, 'integrations:write quotes:write imports:write')
    const sent = begun(of, endpoint, file)
    await once(sent, 'continue')
    sent.write(file.slice(0, 10))
    await hangUp(sent)
    expect((await answerTo(of, endpoint, file)).status).toBeLessThan(300)
  },
)

test('uploads that declare much and send nothing do not refuse the files of others', async () => {
  const idle = await Promise.all([makeIntegration(app), makeIntegration(app), makeIntegration(app)])
  const sent = idle.map((of) => begun(of, createImport, quotes, importBytesMax))
  await Promise.all(
    sent.map(async (one) => {
      await once(one, 'continue')
      one.write('Origin,')
    }),
  )
  const other = await makeIntegration(app)
  expect((await answerTo(other, loadMarketFile, rates)).status).toBe(200)
  expect((await answerTo(other, createImport, quotes)).status).toBe(202)
  for (const one of sent) await hangUp(one)
})

test('a test brokerage has one place for files, and one share of connections, with its brokerage', async () => {
  const of = await makeIntegration(app)
  const { body: session } = await call(app, 'POST', '/api/sandbox/session', {
    token: of.tenant.owner,
    body: {},
  })
  const sandbox = { ...of, tenant: { ...of.tenant, id: session.tenant.id, owner: session.token } }
  const token = await makeServiceToken(app, session.token, 'integrations:write quotes:write imports:write')
  const signed = { ...sandbox, token, secret: await makeSecret(app, session.token) }
  const sent = begun(of, createImport, quotes)
  await once(sent, 'continue')
  expect((await answerTo(sandbox, loadMarketFile, rates)).status).toBe(409)
  expect(app.database.shares.of(session.tenant.id)).toBe(of.tenant.id)
  expect((await answerTo(signed, pushMarketFile, rates)).status).toBe(409)
  await hangUp(sent)
  expect((await answerTo(sandbox, loadMarketFile, rates)).status).toBe(200)
})

test('the process that reads a workbook ends when the caller hangs up', async () => {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Origin', 'Destination', 'Rate']]), 'S')
  const file: Buffer = write(book, { type: 'buffer' })
  const of = await makeIntegration(app)
  processes.stops = true
  const sent = begun(of, createImport, '', file.length)
  await once(sent, 'continue')
  sent.end(file)
  await expect.poll(() => processes.started.length).toBe(1)
  processes.stops = false
  const [child] = processes.started as [ChildProcess]
  await hangUp(sent)
  await expect.poll(() => child.signalCode).toBe('SIGKILL')
  expect((await answerTo(of, loadMarketFile, rates)).status).toBe(200)
})

test('503: a file is asked to come back when too many are waiting to be read', async () => {
  const of = await makeIntegration(app)
  waiting.max = 0
  expect(await answerTo(of, loadMarketFile, rates)).toEqual({ status: 503, retryAfter: '10' })
  waiting.max = 100
  expect((await answerTo(of, loadMarketFile, rates)).status).toBe(200)
})

/** @module-tag long */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Lanewise } from '#client/index.ts'
import { makeIntegration } from '#testing/make.ts'
import { freePort } from '#testing/running-service.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { projectWithClient } from '../client/testing/built-client.ts'
import { run } from './page.ts'
import { root } from './repository.ts'

/** Runs the relay as a program, with the recorded shapes of three TMSs, against a running service. */

let app: TestApp
let project: string
let folder: string
let proxy: Proxy
let env: Record<string, string>
let reader: Lanewise
let relays: ChildProcess[]

beforeAll(async () => {
  app = await testApp({ now: Date.now() })
  project = projectWithClient()
  cpSync(join(root, 'recipes/relay'), join(project, 'relay'), { recursive: true })
  proxy = await faultyProxy(app.url)
})
afterAll(async () => {
  await proxy.close()
  await app.close()
  rmSync(project, { recursive: true })
})

beforeEach(async () => {
  folder = mkdtempSync(join(project, 'run-'))
  relays = []
  proxy.faults.length = 0
  proxy.pushes.length = 0
  const { token, secret } = await makeIntegration(app, 'quotes:write integrations:write')
  env = {
    LANEWISE_URL: proxy.url,
    LANEWISE_TOKEN: token,
    LANEWISE_SECRET: secret,
    RELAY_AUTHORIZATION: 'Bearer of the TMS',
    RELAY_OUTBOX: join(folder, 'outbox.sqlite'),
    PORT: String(await freePort()),
  }
  reader = new Lanewise({ baseUrl: app.url, token, cache: false })
})
afterEach(async () => {
  for (const relay of relays) await end(relay)
})

interface Fault {
  readonly status: number
  readonly headers?: Record<string, string>
}

interface Proxy {
  readonly url: string
  /** The answers to the next pushes, instead of those of the service. */
  readonly faults: Fault[]
  readonly pushes: { readonly path: string; readonly items: number; readonly atMs: number }[]
  close(): Promise<void>
}

/** A proxy in front of the service that can fail. */
async function faultyProxy(target: string): Promise<Proxy> {
  const faults: Fault[] = []
  const pushes: Proxy['pushes'] = []
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const [items = []] = Object.values(JSON.parse(body.toString() || '{}')) as unknown[][]
    pushes.push({ path: request.url ?? '', items: items.length, atMs: performance.now() })
    const fault = faults.shift()
    if (fault !== undefined) {
      response.writeHead(fault.status, fault.headers).end('away')
      return
    }
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>
    const answer = await fetch(`${target}${request.url}`, { method: request.method ?? 'GET', headers, body })
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' })
    response.end(await answer.text())
  }
  const server = createServer((request, response) => void respond(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    pushes,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const program = () => [join(project, 'relay/relay.ts')]
const relayed = (...args: string[]) => run(process.execPath, [...program(), ...args], { env })

/** Starts `relay.ts serve`, and waits until it listens. */
async function serving(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...program(), 'serve'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  relays.push(child)
  if (child.stdout === null) throw new Error('It prints nothing.')
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('"listening"')) break
  }
  child.stdout.resume()
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

const fixture = (name: string) => readFileSync(join(root, 'recipes/relay/fixtures', name), 'utf8')

async function webhook(path: string, body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`http://127.0.0.1:${env.PORT}${path}`, {
    method: 'POST',
    headers: { Authorization: 'Bearer of the TMS', ...headers },
    body,
  })
  return { status: answer.status, body: await answer.json() }
}

async function laneOf(externalId: string) {
  const { quotes } = await reader.readQuotes({ external_id: externalId })
  const [found] = quotes
  return found?.removed === false ? found.lane : null
}

const taiQuote = (id: number) => ({ ...JSON.parse(fixture('tai-shipments.json'))[0], shipmentId: id })
const status = async () => (await fetch(`http://127.0.0.1:${env.PORT}/status`)).json()
const isDone = () => expect.poll(status).toMatchObject({ waiting: 0 })

describe('an export', () => {
  test('of Tai becomes quotes, bookings and cancellations, and names the field of each refused record', async () => {
    const read = await relayed('read', 'tai', join(project, 'relay/fixtures/tai-shipments.json'))
    expect(read.code).toBe(1)
    expect(await laneOf('700101')).toMatchObject({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
      quoted_rate: 2150.5,
      miles: 781,
      customer_name: 'Harvest Table Foods',
      pickup_date: '2026-03-02',
      outcome: 'pending',
      customer_rate: null,
    })
    expect(await laneOf('700102')).toMatchObject({
      outcome: 'won',
      customer_rate: 2600,
      truck_cost: 2210.25,
      margin: 389.75,
      carrier_name: 'Blue Ridge Transport',
      customer_name: 'Café Zürich',
    })
    expect(await laneOf('700103')).toMatchObject({ outcome: 'pending', customer_rate: null })
    const refused = (await relayed('refused')).output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(refused).toEqual([
      {
        external_id: '700104',
        kind: 'quote',
        errors: [{ field: 'quoted_rate', detail: expect.stringContaining('at most two decimals') }],
      },
      {
        external_id: '700105',
        kind: 'record',
        errors: [
          {
            field: 'status',
            detail: expect.stringContaining('status is "Parked". Add it to RELAY_STATUSES'),
          },
        ],
      },
    ])
    // The refusal stays in the outbox, and does not fail another file, all of whose records are accepted.
    const turvo = join(project, 'relay/fixtures/turvo-shipments.json')
    expect(await relayed('read', 'turvo', turvo)).toMatchObject({ code: 0 })
  })

  test('of Turvo becomes quotes with the newest customer, all carriers and the expired quotes', async () => {
    const read = await relayed('read', 'turvo', join(project, 'relay/fixtures/turvo-shipments.json'))
    expect(read).toMatchObject({ code: 0 })
    expect(await laneOf('TV-26498')).toMatchObject({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'R',
      customer_name: 'Harvest Table Foods',
      customer_rate: 2900,
      truck_cost: 2550.3,
      carrier_name: 'Blue Ridge Transport',
      created_at: '2026-02-27T16:02:10.000Z',
      outcome: 'won',
    })
    expect(await laneOf('TV-26499')).toMatchObject({
      origin: 'Reno, NV',
      destination: 'Boise, ID',
      outcome: 'expired',
    })
  })

  test('of McLeod becomes quotes and orders, and an order can book the quote that it names', async () => {
    const file = join(project, 'relay/fixtures/mcleod-orders.json')
    expect(await relayed('read', 'mcleod', file)).toMatchObject({ code: 0 })
    expect(await laneOf('quote-0012345')).toMatchObject({
      origin: 'Dallas, TX',
      destination: 'Atlanta, GA',
      equipment: 'V',
      quoted_rate: 2150,
      rep_name: 'dana',
      created_at: '2026-02-27T16:12:09.000Z',
      valid_until: '2030-03-01T00:00:00.000Z',
      pickup_date: '2026-03-02',
      outcome: 'pending',
    })
    expect(await laneOf('0055001')).toMatchObject({
      destination: 'Atlanta, GA',
      customer_rate: 2600.1,
      truck_cost: 2210.3,
      rep_name: 'Dana Reyes',
      outcome: 'won',
    })
    const order = { ...JSON.parse(fixture('mcleod-orders.json'))[1], reference_quote: '0012345' }
    writeFileSync(join(folder, 'order.json'), JSON.stringify(order))
    env.MCLEOD_QUOTE_ID_FIELD = 'reference_quote'
    await relayed('read', 'mcleod', join(folder, 'order.json'))
    expect(await laneOf('quote-0012345')).toMatchObject({ outcome: 'won', truck_cost: 2210.3 })
  })

  test('is pushed 500 per call, quotes before bookings, and the same export again changes nothing', async () => {
    const booked = JSON.parse(fixture('tai-shipments.json'))[1]
    const file = join(folder, 'export.json')
    writeFileSync(
      file,
      JSON.stringify(Array.from({ length: 510 }, (_, at) => ({ ...booked, shipmentId: 800_000 + at }))),
    )
    expect(await relayed('read', 'tai', file)).toMatchObject({ code: 0 })
    const paths = proxy.pushes.map(({ path }) => path.split('/').at(-1))
    expect(Math.max(...proxy.pushes.map(({ items }) => items))).toBe(500)
    expect(paths).toEqual([...paths].sort())
    const before = await reader.readShipments({ external_id: '800509' })
    expect(await relayed('read', 'tai', file)).toMatchObject({ code: 0 })
    expect((await reader.readShipments({ external_id: '800509' })).shipments).toEqual(before.shipments)
  })
})

describe('a webhook', () => {
  test('is stored before its answer, and survives a kill while the service is away', async () => {
    // More failures than the client repeats, so that the relay is killed while it waits.
    proxy.faults.push(...Array.from({ length: 50 }, () => ({ status: 503 })))
    const first = await serving()
    expect(await webhook('/tai', JSON.stringify(taiQuote(900_001)))).toEqual({
      status: 202,
      body: { accepted: 1, refused: [] },
    })
    expect(await webhook('/turvo', fixture('turvo-shipments.json'))).toMatchObject({ status: 202 })
    await expect.poll(() => proxy.pushes.length).toBeGreaterThan(1)
    await end(first)
    expect(await laneOf('900001')).toBeNull()

    proxy.faults.length = 0
    await serving()
    await isDone()
    expect(await laneOf('900001')).toMatchObject({ quoted_rate: 2150.5 })
    expect(await laneOf('TV-26498')).toMatchObject({ outcome: 'won' })
  })

  test('waits as long as Retry-After says after 429 and 503, and its newest version is pushed', async () => {
    proxy.faults.push(
      { status: 429, headers: { 'Retry-After': '1' } },
      { status: 503, headers: { 'Retry-After': '1' } },
    )
    await serving()
    await webhook('/tai', JSON.stringify(taiQuote(900_002)))
    await webhook('/tai', JSON.stringify({ ...taiQuote(900_002), totalSell: 2300 }))
    await isDone()
    const [first, second, third] = proxy.pushes.map(({ atMs }) => atMs)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1_000)
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(1_000)
    expect(await laneOf('900002')).toMatchObject({ quoted_rate: 2300 })
  })

  test('is refused without the agreed header, as other than JSON, and at another address', async () => {
    const relay = await serving()
    const body = JSON.stringify(taiQuote(900_003))
    expect((await webhook('/tai', body, { Authorization: 'Bearer of somebody' })).status).toBe(401)
    expect((await webhook('/tai', '<xml/>')).status).toBe(400)
    expect((await webhook('/other', body)).status).toBe(404)
    expect(await webhook('/tai', '[1, {}]')).toMatchObject({
      status: 202,
      body: { accepted: 0, refused: [{ kind: 'record' }, { errors: [{ field: 'shipmentId' }] }] },
    })
    expect(await status()).toEqual({ waiting: 0, refused: 2 })
    expect(proxy.pushes).toEqual([])
    await end(relay, 'SIGTERM')
    expect(relay.exitCode).toBe(0)
  })

  test('that was refused is kept: it is pushed when its status is mapped, or when a corrected version arrives', async () => {
    const relay = await serving()
    const parked = await webhook('/tai', JSON.stringify({ ...taiQuote(900_004), status: 'Parked' }))
    expect(parked).toMatchObject({ body: { refused: [{ external_id: '900004', kind: 'record' }] } })
    await webhook('/tai', JSON.stringify({ ...taiQuote(900_005), stops: [] }))
    await expect.poll(status).toEqual({ waiting: 0, refused: 2 })
    await webhook('/tai', JSON.stringify(taiQuote(900_005)))
    await expect.poll(status).toEqual({ waiting: 0, refused: 1 })
    expect(await laneOf('900005')).toMatchObject({ outcome: 'pending' })
    await end(relay, 'SIGTERM')

    env.RELAY_STATUSES = join(folder, 'statuses.json')
    writeFileSync(env.RELAY_STATUSES, JSON.stringify({ tai: { parked: 'quoted' } }))
    expect(await relayed('retry')).toMatchObject({ code: 0 })
    expect(await laneOf('900004')).toMatchObject({ outcome: 'pending' })
    expect((await relayed('refused')).output).toBe('')
  })
})

test('the relay says which setting is missing', async () => {
  env.LANEWISE_SECRET = ''
  const ran = await relayed('serve')
  expect(ran).toMatchObject({ code: 2, complaint: expect.stringContaining('LANEWISE_SECRET is missing.') })
  expect((await relayed('sevre')).complaint).toContain('Use: serve, read TMS FILE, refused, or retry')
})

/** @module-tag long */
import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { matchImportColumns } from '#contract/imports.ts'
import { type Integration, makeIntegration } from '#testing/make.ts'
import { announcedBodies, head, jsonHeader, refusedForAddress, sendHead } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

/** How long a body may take to arrive: long where an answer must not wait for it, and short where it ends the request. */
const [longSeconds, shortSeconds] = [40, 0.5]
const arrival = vi.hoisted(() => ({ seconds: 0 }))
vi.mock('#contract/limits.ts', async (original) => ({
  ...(await original<typeof import('#contract/limits.ts')>()),
  get bodyArrivalSecondsMax() {
    return arrival.seconds
  },
}))
beforeEach(() => {
  arrival.seconds = shortSeconds
})

let app: TestApp
/** Says when a request has begun. */
const requests = new EventEmitter()
/** Holds up the admission of requests, as a slow database does. */
let admission = Promise.resolve()
let ours: Integration
beforeAll(async () => {
  app = await testApp({
    plant: (server) =>
      server.addHook('onRequest', async () => {
        setImmediate(() => requests.emit('begun'))
        await admission
      }),
  })
  ours = await makeIntegration(app)
})
afterAll(() => app.close())

const bearer = (token = ours.token) => ['Authorization', `Bearer ${token}`] as const

test.each(refusedForAddress)(
  '$firstLine with $what that never comes is answered at once and closed',
  async (sent) => {
    arrival.seconds = longSeconds
    const answer = await sendHead(app, sent.firstLine, [jsonHeader, sent.length])
    expect(answer).toMatchObject({ status: sent.status, saysClose: true })
    expect(answer.openMs).toBeLessThan(1_000 * longSeconds)
  },
)

test.each(announcedBodies)('/mcp rejects a call without a token before it reads %s', async (_, length) => {
  // If it read the body first, the answer would be 408.
  const answer = await sendHead(app, 'POST /mcp HTTP/1.1', [jsonHeader, length])
  expect(answer.status).toBe(401)
})

test.each(['GET', 'DELETE'])('%s /mcp is 405 at once, and the connection ends', async (method) => {
  arrival.seconds = longSeconds
  const answer = await sendHead(app, `${method} /mcp HTTP/1.1`, [
    bearer(),
    jsonHeader,
    ['Content-Length', '100'],
  ])
  expect(answer).toMatchObject({ status: 405, allow: 'POST', saysClose: true })
  expect(answer.openMs).toBeLessThan(1_000 * longSeconds)
})

test.each([
  ['a call of an agent', 'POST /mcp HTTP/1.1'],
  ['a signed write', 'POST /api/integrations/tms/shipment-update HTTP/1.1'],
])('%s whose body never comes is 408 after the same time', async (_, firstLine) => {
  const answer = await sendHead(app, firstLine, [bearer(), jsonHeader, ['Content-Length', '100']])
  expect(answer).toMatchObject({ status: 408, saysClose: true })
  expect(answer.openMs).toBeGreaterThan(1_000 * shortSeconds - 100)
})

test('a read with a body that never arrives is answered without it, and the connection is closed', async () => {
  const answer = await sendHead(app, 'GET /healthz HTTP/1.1', [['Content-Length', '100']])
  expect(answer.status).toBe(200)
})

// An upload may take five minutes, so this test would time out if the answer waited for the body.
test('a rejected upload is answered before its body arrives', async () => {
  const answer = await sendHead(app, 'POST /api/imports HTTP/1.1', [
    ['Content-Type', 'text/csv'],
    ['Content-Length', '100'],
  ])
  expect(answer.status).toBe(401)
})

test('an upload that arrives slowly is accepted, longer than other bodies may take', async () => {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const began = performance.now()
  const line = '"Dallas, TX","Atlanta, GA",V,2000,2026-03-01\n'
  const lines = ['origin,destination,equipment,quoted_rate,quoted_at\n', ...Array<string>(6).fill(line)]
  socket.write(
    head('POST /api/imports HTTP/1.1', [
      ['Host', 'x'],
      ['Authorization', `Bearer ${ours.tenant.owner}`],
      ['Content-Type', 'text/csv'],
      ['Content-Length', String(lines.join('').length)],
      ['Connection', 'close'],
    ]),
  )
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
  })
  for (const part of lines) {
    await delay((1_000 * shortSeconds) / 3)
    socket.write(part)
  }
  await once(socket, 'close')
  expect(performance.now() - began).toBeGreaterThan(2_000 * shortSeconds)
  expect(answer).toMatch(/^HTTP\/1\.1 202 /)
})

test('a body that arrived while the process was busy is read, however late', async () => {
  const { path } = matchImportColumns
  const body = JSON.stringify({ headers: ['Origin', 'Destination'], padding: ' '.repeat(20_000) })
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const begun = once(requests, 'begun')
  socket.write(
    head(`POST ${path} HTTP/1.1`, [
      ['Host', 'x'],
      ['Authorization', `Bearer ${ours.tenant.owner}`],
      jsonHeader,
      ['Content-Length', String(body.length)],
      ['Connection', 'close'],
    ]),
  )
  await begun
  socket.write(body)
  // Nothing runs in this process until the time of the body is over.
  const until = performance.now() + 2_000 * shortSeconds
  while (performance.now() < until);
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
})

// The process reads 64 KiB before it knows the caller, and the rest waits in the system.
test.each([20_000, 70_000, 300_000])(
  'a body of %d bytes is not late while its caller is not admitted yet',
  async (bytes) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    admission = promise
    const answering = fetch(`${app.url}${matchImportColumns.path}`, {
      method: 'POST',
      headers: Object.fromEntries([bearer(ours.tenant.owner), jsonHeader]),
      body: JSON.stringify({ headers: ['Origin', 'Destination'], padding: ' '.repeat(bytes) }),
    })
    await delay(3_000 * shortSeconds)
    resolve()
    expect((await answering).status).toBe(200)
  },
)

test('a large body whose caller is admitted late and whose rest never comes is 408', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  admission = promise
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    head(`POST ${matchImportColumns.path} HTTP/1.1`, [
      ['Host', 'x'],
      bearer(ours.tenant.owner),
      jsonHeader,
      ['Content-Length', '400000'],
    ]),
  )
  socket.write(' '.repeat(300_000))
  await delay(2_000 * shortSeconds)
  resolve()
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /)
})

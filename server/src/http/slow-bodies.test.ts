import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Integration, makeIntegration } from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'

const arrivalMs = 1_500
vi.mock('#contract/limits.ts', async (original) => ({
  ...(await original<typeof import('#contract/limits.ts')>()),
  bodyArrivalSecondsMax: 1.5,
}))

let app: TestApp
let ours: Integration
beforeAll(async () => {
  app = await testApp()
  ours = await makeIntegration(app)
})
afterAll(() => app.close())

/** Sends headers and no body. Returns when the first byte of the answer arrived and when the connection closed. */
async function sendHead(firstLine: string, headers: readonly (readonly [string, string])[]) {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const began = performance.now()
  let text = ''
  let answeredAfterMs = Number.POSITIVE_INFINITY
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    if (text === '') answeredAfterMs = performance.now() - began
    text += chunk.toString('latin1')
  })
  socket.write(head(firstLine, [['Host', 'x'], ...headers]))
  await once(socket, 'close')
  return {
    status: Number(text.split(' ')[1]),
    saysClose: /^connection: close\r?$/im.test(text),
    allow: /^allow: (.*)\r?$/im.exec(text)?.[1]?.trim(),
    answeredAfterMs,
    closedAfterMs: performance.now() - began,
  }
}

const json = ['Content-Type', 'application/json'] as const
const bodies = [
  ['a short body', ['Content-Length', '100']],
  ['a long body', ['Content-Length', '60000']],
  ['a body of unknown length', ['Transfer-Encoding', 'chunked']],
] as const
const bearer = () => ['Authorization', `Bearer ${ours.token}`] as const

test.each(
  bodies.flatMap(([what, length]) => [
    { what, length, firstLine: 'POST /no/such/address HTTP/1.1', status: 404 },
    { what, length, firstLine: 'PUT /api/integrations/tms/shipment-update HTTP/1.1', status: 405 },
    { what, length, firstLine: 'POST /healthz HTTP/1.1', status: 405 },
    { what, length, firstLine: 'PUT /mcp HTTP/1.1', status: 405 },
    { what, length, firstLine: 'GET /no/such/address HTTP/1.1', status: 404 },
    { what, length, firstLine: 'POST /%zz HTTP/1.1', status: 400 },
  ]),
)('$firstLine with $what that never comes is answered at once and closed', async (sent) => {
  const answer = await sendHead(sent.firstLine, [json, sent.length])
  expect(answer).toMatchObject({ status: sent.status, saysClose: true })
  expect(answer.closedAfterMs).toBeLessThan(arrivalMs)
})

test.each(bodies)('/mcp rejects a call without a token before it reads %s', async (_, length) => {
  const answer = await sendHead('POST /mcp HTTP/1.1', [json, length])
  expect(answer.status).toBe(401)
  expect(answer.answeredAfterMs).toBeLessThan(arrivalMs)
  expect(answer.closedAfterMs).toBeLessThan(2 * arrivalMs)
})

test.each(['GET', 'DELETE'])('%s /mcp is 405 at once, and the connection ends', async (method) => {
  const answer = await sendHead(`${method} /mcp HTTP/1.1`, [bearer(), json, ['Content-Length', '100']])
  expect(answer).toMatchObject({ status: 405, allow: 'POST', saysClose: true })
  expect(answer.closedAfterMs).toBeLessThan(arrivalMs)
})

test.each([
  ['a call of an agent', 'POST /mcp HTTP/1.1'],
  ['a signed write', 'POST /api/integrations/tms/shipment-update HTTP/1.1'],
])('%s whose body never comes is 408 after the same time', async (_, firstLine) => {
  const answer = await sendHead(firstLine, [bearer(), json, ['Content-Length', '100']])
  expect(answer).toMatchObject({ status: 408, saysClose: true })
  expect(answer.closedAfterMs).toBeGreaterThan(arrivalMs - 100)
})

test('a read with a body that never arrives is answered at once, and the connection is closed', async () => {
  const answer = await sendHead('GET /healthz HTTP/1.1', [['Content-Length', '100']])
  expect(answer.status).toBe(200)
  expect(answer.answeredAfterMs).toBeLessThan(arrivalMs)
})

test('a rejected upload is answered at once, not after the time that an upload may take', async () => {
  const answer = await sendHead('POST /api/imports HTTP/1.1', [
    ['Content-Type', 'text/csv'],
    ['Content-Length', '100'],
  ])
  expect(answer.status).toBe(401)
  expect(answer.answeredAfterMs).toBeLessThan(arrivalMs)
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
    await delay(arrivalMs / 3)
    socket.write(part)
  }
  await once(socket, 'close')
  expect(performance.now() - began).toBeGreaterThan(2 * arrivalMs)
  expect(answer).toMatch(/^HTTP\/1\.1 202 /)
})

test("after an unknown address, the connection stays open if the request's body has arrived", async () => {
  const next = head('GET /healthz HTTP/1.1', [
    ['Host', 'x'],
    ['Connection', 'close'],
  ])
  const first = head('POST /no/such/address HTTP/1.1', [['Host', 'x'], json, ['Content-Length', '2']])
  expect((await sendRaw(app, `${first}{}${next}`)).map(({ status }) => status)).toEqual([404, 200])
})

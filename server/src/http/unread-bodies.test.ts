import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { type Integration, makeIntegration } from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

/** Requests that are answered without their body. If the service waited for it, the answer would be 408. */

let app: TestApp
let ours: Integration
beforeAll(async () => {
  app = await sharedApp()
  ours = await makeIntegration(app)
})

/** Sends headers and no body. Returns the answer when the connection has ended. */
async function sendHead(firstLine: string, headers: readonly (readonly [string, string])[]) {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await once(socket, 'connect')
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.write(head(firstLine, [['Host', 'x'], ...headers]))
  await once(socket, 'close')
  return {
    status: Number(text.split(' ')[1]),
    saysClose: /^connection: close\r?$/im.test(text),
    allow: /^allow: (.*)\r?$/im.exec(text)?.[1]?.trim(),
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
})

test.each(['GET', 'DELETE'])('%s /mcp is 405 at once, and the connection ends', async (method) => {
  const answer = await sendHead(`${method} /mcp HTTP/1.1`, [bearer(), json, ['Content-Length', '100']])
  expect(answer).toMatchObject({ status: 405, allow: 'POST', saysClose: true })
})

test("after an unknown address, the connection stays open if the request's body has arrived", async () => {
  const next = head('GET /healthz HTTP/1.1', [
    ['Host', 'x'],
    ['Connection', 'close'],
  ])
  const first = head('POST /no/such/address HTTP/1.1', [['Host', 'x'], json, ['Content-Length', '2']])
  expect((await sendRaw(app, `${first}{}${next}`, { answers: 2 })).map(({ status }) => status)).toEqual([
    404, 200,
  ])
})

import { once } from 'node:events'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '#testing/test-app.ts'

let app: TestApp
let server: FastifyInstance['server']
beforeAll(async () => {
  app = await testApp({
    plant: (instance) => {
      server = instance.server
      // No request is late until a test says so.
      server.headersTimeout = 0
    },
  })
})
afterAll(() => app.close())

/** Longer than the time after which Node looks for late requests again. */
const busyMs = 1_500

/** Sends bytes on an unused connection, and keeps the process busy until all that has not arrived is late. Returns the answer. */
async function answerTo(sent: string): Promise<string> {
  const accepted = once(server, 'connection')
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await Promise.all([accepted, once(socket, 'connect')])
  socket.write(sent)
  server.headersTimeout = 1
  for (const until = performance.now() + busyMs; performance.now() < until; );
  const [answer] = await once(socket, 'data')
  server.headersTimeout = 0
  socket.destroy()
  return String(answer).split('\r\n', 1)[0] ?? ''
}

test('a request that arrived while the process was busy is answered, however late it is read', async () => {
  expect(await answerTo('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('HTTP/1.1 200 OK')
})

test('headers that are not complete by then are 408', async () => {
  expect(await answerTo('GET /healthz HTTP/1.1\r\nHost: x\r\n')).toBe('HTTP/1.1 408 Request Timeout')
})

test('headers that are not complete are 408, also after a request on the same connection', async () => {
  const whole = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  socket.write(whole)
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
  server.headersTimeout = 1
  socket.write(whole.slice(0, -2))
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 408 /)
  server.headersTimeout = 0
  socket.destroy()
})

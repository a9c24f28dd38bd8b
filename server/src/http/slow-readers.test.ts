import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type TestApp, testApp } from '#testing/test-app.ts'

vi.mock('#contract/limits.ts', async (original) => ({
  ...(await original<typeof import('#contract/limits.ts')>()),
  answerStallSecondsMax: 4,
}))

let app: TestApp
let server: FastifyInstance

beforeAll(async () => {
  app = await testApp({
    plant: (planted) => {
      server = planted
    },
  })
})
afterAll(() => app.close())

const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'

/** Sends this many requests and reads nothing. Their answers exceed the buffers of the connection. */
async function askAndPause(times: number): Promise<Socket> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write(request.repeat(times))
  return socket
}

const connections = () =>
  new Promise<number>((resolve, reject) =>
    server.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )

test('a connection whose client reads no answers is closed', { tags: 'long' }, async () => {
  let accepted = 0
  server.server.on('connection', () => accepted++)
  const silent = await Promise.all(Array.from({ length: 12 }, () => askAndPause(40)))
  await expect.poll(() => accepted).toBeGreaterThanOrEqual(12)
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
  // Only the connection of the call above is left.
  await expect.poll(connections).toBeLessThanOrEqual(2)
  for (const socket of silent) socket.destroy()
})

test('a client that reads slowly gets every answer', { tags: 'measure' }, async () => {
  const socket = await askAndPause(16)
  const began = performance.now()
  let bytes = 0
  let tail = ''
  while (!tail.endsWith('\r\n0\r\n') && performance.now() - began < 20_000) {
    const chunk: Buffer | null = socket.read(Math.min(400_000, socket.readableLength) || undefined)
    bytes += chunk?.length ?? 0
    tail = chunk?.toString('latin1').slice(-10) ?? tail
    if (bytes >= 16 * 500_000 && chunk === null) break
    await delay(300)
  }
  expect(performance.now() - began).toBeGreaterThan(4_500)
  expect(bytes).toBeGreaterThan(16 * 500_000)
  socket.destroy()
})

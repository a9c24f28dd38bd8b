import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { beforeEach, expect, test, vi } from 'vitest'
import { drainSeconds, stopSecondsMax } from '#contract/limits.ts'
import { call, makeTenant, password } from '#testing/make.ts'
import { testApp } from '#testing/test-app.ts'
import { unusedConnectionMs } from './drain-connections.ts'

/** What ends a wait of that many milliseconds instead of the clock. */
const ends = new Map<number, Promise<void>>()
vi.mock('node:timers/promises', async (original) => {
  const timers = await original<typeof import('node:timers/promises')>()
  const setTimeout: typeof timers.setTimeout = async (ms, value, options) => {
    await (ends.get(ms ?? 1) ?? timers.setTimeout(ms, value, options))
    return value as never
  }
  return { ...timers, setTimeout }
})

test.each([
  ['without connections', false],
  ['with an idle connection', true],
])('a service %s accepts new connections while it leaves', async (_, isConnected) => {
  let server: FastifyInstance | undefined
  const app = await testApp({
    plant: (planted) => {
      server = planted
    },
  })
  const { hostname, port } = new URL(app.url)
  const idle = isConnected ? connect(Number(port), hostname) : null
  if (idle !== null) await once(idle, 'connect')
  const ended = Promise.withResolvers<void>()
  ends.set(drainSeconds * 1_000, ended.promise)
  const leaving = server?.leave()
  try {
    for (let time = 0; time < 2; time++) {
      const { status, body, headers } = await call(app, 'GET', '/readyz')
      expect([status, body.detail]).toEqual([503, 'This node is stopping. Use another one.'])
      expect(headers.get('Connection')).toBe('close')
      expect((await call(app, 'GET', '/healthz')).status).toBe(200)
    }
  } finally {
    ended.resolve()
    await leaving
    ends.clear()
    idle?.destroy()
    await app.close()
  }
  await expect(fetch(`${app.url}/healthz`)).rejects.toThrow()
})

/** Without these timeouts, a stop that waits for one, or for the longest time of a stop, does not end within a test. */
const patient = ({ server }: FastifyInstance) =>
  Object.assign(server, { headersTimeout: 0, requestTimeout: 0 })
beforeEach(() => {
  const { setTimeout: start } = globalThis
  const neverMs = 2 ** 31 - 1
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms?: number, ...more: []) =>
    start(work, ms === stopSecondsMax * 1_000 ? neverMs : ms, ...more)) as typeof setTimeout)
  return () => vi.restoreAllMocks()
})

test.each([
  ['without any request', ''],
  ['that never ends its headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\n'],
])('a connection %s does not delay a stop', async (_, said) => {
  const app = await testApp({ plant: patient })
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  if (said !== '') socket.write(said)
  // By the time of this answer, the server has accepted the connection.
  await call(app, 'GET', '/healthz')
  socket.on('error', () => {})
  const closed = once(socket.resume(), 'close')
  await app.close()
  await closed
})

test('a request that comes after the port is closed, on a connection from before, is answered', async () => {
  const app = await testApp()
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  await call(app, 'GET', '/healthz')
  const ended = Promise.withResolvers<void>()
  ends.set(unusedConnectionMs, ended.promise)
  const closing = app.close()
  try {
    while (await isOpen(Number(port), hostname));
    socket.end('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
  } finally {
    ended.resolve()
    ends.clear()
    await closing
  }
})

/** Whether the port accepts connections. */
async function isOpen(port: number, host: string): Promise<boolean> {
  const socket = connect(port, host)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

test('a client that disconnects during its request does not delay a stop', async () => {
  let given = new AbortController()
  const app = await testApp({
    plant: (server) => {
      patient(server)
      server.addHook('preHandler', async ({ url }) => {
        if (url === '/api/auth/sign-in') given.abort()
      })
    },
  })
  const tenant = await makeTenant(app)
  for (let time = 0; time < 5; time++) {
    given = new AbortController()
    const asked = fetch(`${app.url}/api/auth/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: tenant.email, password }),
      signal: given.signal,
    })
    await expect(asked).rejects.toThrow('aborted')
  }
  await app.close()
})

test('a request in flight at a stop is answered, and its connection is closed afterwards', async () => {
  const begun = Promise.withResolvers<void>()
  const app = await testApp({
    plant: (server) =>
      server.addHook('onRequest', async ({ url }) => {
        if (url === '/api/auth/sign-in') begun.resolve()
      }),
  })
  const tenant = await makeTenant(app)
  const asked = call(app, 'POST', '/api/auth/sign-in', { body: { email: tenant.email, password } })
  await begun.promise
  const closing = app.close()
  const answer = await asked
  expect(answer.status).toBe(200)
  await closing
  await expect(fetch(`${app.url}/healthz`)).rejects.toThrow()
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { call, makeTenant, password } from '#testing/make.ts'
import { testApp } from '#testing/test-app.ts'

/** A stop that waits for the timeout of headers takes more than ten seconds. */
const promptlyMs = 9_500

test('a connection without any request does not delay a stop', { tags: 'long' }, async () => {
  const app = await testApp()
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  // By the time of this answer, the server has accepted the connection.
  await call(app, 'GET', '/healthz')
  const closed = once(socket.resume(), 'close')
  const began = performance.now()
  await app.close()
  await closed
  expect(performance.now() - began).toBeLessThan(promptlyMs)
})

test('a client that disconnects during its request does not delay a stop', async () => {
  const app = await testApp()
  const tenant = await makeTenant(app)
  for (let time = 0; time < 5; time++) {
    const given = new AbortController()
    const asked = fetch(`${app.url}/api/auth/sign-in`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: tenant.email, password }),
      signal: given.signal,
    }).catch(() => null)
    await delay(20)
    given.abort()
    await asked
  }
  const began = performance.now()
  await app.close()
  expect(performance.now() - began).toBeLessThan(promptlyMs)
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

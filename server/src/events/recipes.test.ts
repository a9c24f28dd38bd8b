/** @module-tag long */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendEventsTo } from '#testing/event-receiver.ts'
import { call, makeQuote, makeTenant } from '#testing/make.ts'
import { freePort } from '#testing/running-service.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { projectWithClient } from '../../../client/testing/built-client.ts'
import { webhookSignature } from '../security/index.ts'

const recipes = join(import.meta.dirname, '../../../recipes')
const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0

let app: TestApp
/** A project with the recipes and the client. */
let project: string
beforeAll(async () => {
  project = projectWithClient()
  cpSync(recipes, project, { recursive: true })
  app = await testApp({ config: { events: { allowPrivate: ['127.0.0.1'] } }, sendEvents: { everyMs: 20 } })
})
afterAll(async () => {
  rmSync(project, { recursive: true })
  await app.close()
})

/** The lines that a program prints, one by one. */
function linesOf(child: ChildProcess) {
  if (child.stdout === null) throw new Error('It prints nothing.')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async () => String((await lines.next()).value)
}

describe.each([
  { program: process.execPath, file: 'receive-events.mjs', runs: true },
  { program: 'python3', file: 'receive_events.py', runs: hasPython },
])('$file', ({ program, file, runs }) => {
  test.skipIf(!runs)('prints each event once, and nothing that is not signed', async () => {
    app.now = Date.now()
    const tenant = await makeTenant(app)
    const url = `http://127.0.0.1:${await freePort()}/`
    const { id, secret } = await sendEventsTo(app, tenant, url)
    const child = spawn(program, [join(project, file)], {
      env: { ...process.env, EVENT_SECRET: secret, PORT: new URL(url).port },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const line = linesOf(child)
    try {
      expect(await line()).toBe('waiting for events')
      const quote = await makeQuote(app, tenant, { outcome: 'won' })
      expect(await line()).toBe(`quote.created ${quote.lane_ref} pending`)
      expect(await line()).toBe(`lane.outcome_changed ${quote.lane_ref} won`)

      const body = '{"type":"lane.booked","timestamp":"2026-03-01T14:00:00Z","data":{}}'
      const now = Math.floor(Date.now() / 1000)
      const post = async (timestampSeconds: number, sent: string) => {
        const message = { id: 'e1', timestampSeconds, body }
        const headers = {
          'webhook-id': message.id,
          'webhook-timestamp': String(timestampSeconds),
          'webhook-signature': webhookSignature(message, [secret]),
        }
        return (await fetch(url, { method: 'POST', headers, body: sent })).status
      }
      expect(await post(now, body.replace('booked', 'lost'))).toBe(401)
      expect(await post(now - 3_600, body)).toBe(401)
      expect((await fetch(url, { method: 'POST', body })).status).toBe(401)

      const areDelivered = () =>
        expect
          .poll(async () => {
            const path = '/api/event-deliveries?state=delivered'
            return (await call(app, 'GET', path, { token: tenant.owner })).body.deliveries.length
          })
          .toBe(2)
      await areDelivered()
      // A repeated event is accepted and adds no second line.
      const replay = { token: tenant.owner, body: { since: '2026-01-01' } }
      const again = await call(app, 'POST', `/api/event-endpoints/${id}/replay`, replay)
      expect(again.body).toEqual({ replayed: 2 })
      await areDelivered()
      await call(app, 'POST', `/api/event-endpoints/${id}/test`, { token: tenant.owner })
      expect((await line()).trim()).toBe('endpoint.test')
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
})

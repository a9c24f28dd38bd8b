/** @module-tag long */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type Integration, makeIntegration, makeQuote, pushUpdate } from '#testing/make.ts'
import { type RunningService, runService } from '#testing/running-service.ts'
import type { TestApp } from '#testing/test-app.ts'
import {
  embeddedConnections,
  findPlace,
  runningEmbeddedPostgres,
  stopAbandonedPostgres,
} from '../embedded-postgres/index.ts'

/** The service as operators run it, on its own data folder. Each test continues from the previous one. */
const folder = mkdtempSync(join(tmpdir(), 'lanewise-kept-'))
const dataDirectory = join(folder, 'data')
const keyFile = join(dataDirectory, 'secret-key')
const settings = { LOG_LEVEL: 'info', SAMPLE_BROKERAGE: 'false' }
const readPath = '/api/integrations/insights/lane?origin=Dallas,TX&destination=Atlanta,GA'

let service: RunningService | undefined
let holder: Integration
let firstKey: string
const logFile = join(folder, 'service.log')
const newKey = randomBytes(32).toString('base64')

async function start(env: Record<string, string> = {}): Promise<TestApp> {
  service = await runService(dataDirectory, { ...settings, ...env })
  return { url: service.url, now: Date.now() } as TestApp
}

async function stop(): Promise<void> {
  await service?.end('SIGTERM')
  writeFileSync(logFile, service?.printed() ?? '', { flag: 'a' })
  service = undefined
}

/** Runs one of the operator's commands, with or without a running service. */
function command(name: string, ...words: string[]): Promise<{ code: number; printed: string }> {
  const file = join(import.meta.dirname, '../operations', `${name}-main.ts`)
  const env = { ...process.env, DATA_DIR: dataDirectory }
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...words], { env }, (error, out, complaint) => {
      resolve({ code: error === null ? 0 : Number(error.code), printed: `${out}${complaint}` })
    })
  })
}

beforeAll(async () => {
  const app = await start()
  holder = await makeIntegration(app)
  firstKey = readFileSync(keyFile, 'utf8').trim()
})
afterAll(async () => {
  await stop()
  for (const left of await stopAbandonedPostgres(dataDirectory)) {
    rmSync(left, { recursive: true, force: true })
  }
  rmSync(folder, { recursive: true, force: true })
})

/** The forms in which a file may contain a text: plain, hex, and base64 at each of the three possible offsets. */
function formsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  const hex = bytes.toString('hex')
  return [text, ...base64, hex, hex.toUpperCase()].map((form) => Buffer.from(form))
}

/** Every file of PostgreSQL, including its write-ahead log, and the other files in the data folder. */
function storedFiles(): string[] {
  const place = findPlace(dataDirectory)
  const folders = [dataDirectory, ...(place === null ? [] : [place.cluster])]
  return folders.flatMap((from) =>
    readdirSync(from, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
}

function found(forms: readonly Buffer[], texts: readonly (readonly [string, Buffer])[]): string[] {
  return texts.flatMap(([name, bytes]) => (forms.some((form) => bytes.includes(form)) ? name : []))
}

describe('a token and a secret', () => {
  test('are saved nowhere after a hundred requests: not in the database’s files, the log, an answer or a page', async () => {
    const app = { url: service?.url ?? '', now: Date.now() } as TestApp
    const { token, secret, tenant } = holder
    const quote = await makeQuote(app, tenant)
    // Control: the same search finds a name of the tenant and the id of a request.
    await pushUpdate(app, holder, { lane_ref: quote.lane_ref, carrier_name: 'Canary Carriers 88421' })
    const answers: (readonly [string, Buffer])[] = []
    const ask = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
      const response = await fetch(`${app.url}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      const text = `${JSON.stringify([...response.headers])}${await response.text()}`
      answers.push([`${method} ${path.slice(0, 40)} answered ${response.status}`, Buffer.from(text)])
      return response
    }
    const bearer = { Authorization: `Bearer ${token}` }
    const owner = { Authorization: `Bearer ${tenant.owner}` }
    const json = { ...bearer, 'Content-Type': 'application/json' }
    const update = '/api/integrations/tms/shipment-update'
    for (let round = 0; round < 9; round++) {
      await ask('GET', readPath, bearer)
      await ask('GET', readPath, { Authorization: `Bearer ${token}x` })
      await ask('GET', readPath, { Authorization: `Bearer ${secret}` })
      await ask('POST', update, json, '{"lane_ref":"x"}')
      await ask('POST', update, { ...json, 'X-Service-Timestamp': '1', 'X-Service-Signature': secret }, '{}')
      await ask('POST', update, { ...json, 'X-Service-Signature': `sha256=${token}` }, '{"lane_ref"')
      await pushUpdate(app, holder, { lane_ref: 'none' })
      await pushUpdate(app, { token, secret: `${secret}x` }, { lane_ref: 'none' })
      await ask('POST', '/api/integrations/tokens', json, '{"name":"x"}')
      await ask('GET', '/api/integrations/tokens', owner)
      await ask('GET', '/api/integrations/secrets', owner)
      await ask('GET', `/api/me?token=${token}&secret=${secret}`, { Cookie: `__Host-lanewise=${token}` })
    }
    for (const page of [
      '/',
      '/sign-in',
      '/start',
      '/settings/developers',
      '/settings/people',
      '/no/such/page',
      '/docs/',
    ]) {
      await ask('GET', page, { Accept: 'text/html', Cookie: `__Host-lanewise=${tenant.owner}` })
    }
    const audit = await ask('GET', '/api/audit', owner)
    await ask('GET', '/api/integration-calls', owner)
    await expect
      .poll(
        async () =>
          (await call(app, 'GET', '/api/integration-calls', { token: tenant.owner })).body.calls.length,
      )
      .toBeGreaterThan(20)
    await ask('GET', '/api/integration-calls?limit=200', owner)
    expect(answers.length).toBeGreaterThanOrEqual(100)
    await stop()

    const texts = [
      ...storedFiles().map((file) => [file, readFileSync(file)] as const),
      ['the log', readFileSync(logFile)] as const,
      ...answers,
    ]
    const requestId = audit.headers.get('Request-Id') ?? ''
    expect(found(formsOf(requestId), texts)).toContain('the log')
    const kept = found(formsOf('Canary Carriers 88421'), texts)
    expect(kept.some((name) => name.includes('pg_wal'))).toBe(true)
    expect(kept.length).toBeGreaterThan(1)
    for (const text of [token, token.split('.')[2] ?? '', secret, secret.slice('lwsec_'.length)]) {
      expect(text.length).toBeGreaterThan(30)
      expect(found(formsOf(text), texts)).toEqual([])
    }
    // The key itself is in its own file only.
    expect(found(formsOf(firstKey), texts)).toEqual([keyFile])
  })
})

describe('the audit log', () => {
  test('is verified by the command against the heads in the log of the stopped service', async () => {
    const { code, printed } = await command('verify-audit', '--head', logFile)
    expect(printed).toMatch(/Test Brokers \(\d+\): \d+ rows, unbroken; newest [0-9a-f]{64}/)
    expect(code).toBe(0)
    const heads = [...readFileSync(logFile, 'utf8').matchAll(/.*"audit head".*/g)].map(([line]) =>
      JSON.parse(line),
    )
    expect(heads).toMatchObject([{ tenant: holder.tenant.id, entry: expect.any(Number) }])
    const [head] = heads
    const forged = join(folder, 'forged.log')
    writeFileSync(forged, `${JSON.stringify({ ...head, entry: head.entry + 1 })}\n`)
    const cut = await command('verify-audit', '--head', forged)
    expect([cut.code, cut.printed]).toEqual([
      1,
      expect.stringContaining(`row ${head.entry + 1} is missing, and all up to ${head.entry + 1}`),
    ])
  })
})

describe('the key of the installation', () => {
  test("a start with a key that cannot decrypt the database's secrets is refused with an explanation", async () => {
    const wrong = join(folder, 'wrong-key')
    writeFileSync(wrong, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
    await expect(start({ LANEWISE_SECRET_KEY_FILE: wrong })).rejects.toThrow(
      'The secret key is not the one this database was created with',
    )
    await expect(start({ LANEWISE_SECRET_KEY_FILE: join(folder, 'nothing') })).rejects.toThrow(
      'LANEWISE_SECRET_KEY_FILE must name a readable file',
    )
  })

  test('is rotated while the service runs; afterwards the new key suffices and the old one does not', {
    tags: 'long',
  }, async () => {
    // The tests above stop the service. If this test runs alone, it finds the service running.
    await stop()
    writeFileSync(keyFile, `${newKey}\n${firstKey}\n`)
    const app = await start()
    expect((await pushUpdate(app, holder, { lane_ref: 'none' })).status).toBe(404)
    const token = (
      await call(app, 'POST', '/api/integrations/tokens', {
        token: holder.tenant.owner,
        body: { name: 'new' },
      })
    ).body.token as string
    const { code, printed } = await command('rotate-key')
    expect(printed).toContain('1 were re-encrypted')
    expect(printed).toContain('1 live service token(s) that were signed with them become invalid')
    expect(printed).toContain('Test Brokers,')
    expect(code).toBe(0)
    expect((await pushUpdate(app, holder, { lane_ref: 'none' })).status).toBe(404)
    await stop()

    writeFileSync(keyFile, `${firstKey}\n`)
    await expect(start()).rejects.toThrow('The secret key is not the one this database was created with')
    writeFileSync(keyFile, `${newKey}\n`)
    const after = await start()
    expect((await pushUpdate(after, { ...holder, token }, { lane_ref: 'none' })).status).toBe(404)
    expect((await pushUpdate(after, holder, { lane_ref: 'none' })).status).toBe(401)
  })
})

test('a command is refused beside a service of an earlier version, whose database lacks a migration', {
  tags: 'long',
}, async () => {
  const running = runningEmbeddedPostgres(dataDirectory)
  if (running === null) throw new Error('No service runs.')
  const owner = new pg.Client(embeddedConnections(running).owner)
  await owner.connect()
  try {
    const name = '0010-usage-and-sandbox.sql'
    await owner.query('delete from schema_migrations where name = $1', [name])
    const { code, printed } = await command('tenant', 'list')
    expect(printed).toMatch(
      /is an earlier version of Lanewise: its database lacks 0010-usage-and-sandbox\.sql\. Stop it, or restart/,
    )
    expect(code).toBe(1)
    await owner.query('insert into schema_migrations (name) values ($1)', [name])
    expect(await command('tenant', 'list')).toMatchObject({ code: 0 })
  } finally {
    await owner.end()
  }
})

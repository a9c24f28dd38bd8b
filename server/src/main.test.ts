import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, signedHeaders } from '#testing/make.ts'
import { type RunningService, runService } from '#testing/running-service.ts'
import { clusterProcesses, findPlace, stopAbandonedPostgres } from './embedded-postgres/index.ts'
import { backUp } from './operations/index.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'lanewise-main-'))
const dataDirectory = join(folder, 'data')
let service: RunningService

beforeAll(async () => {
  service = await runService(dataDirectory)
})
afterAll(async () => {
  await service.end('SIGTERM')
  for (const left of await stopAbandonedPostgres(dataDirectory))
    rmSync(left, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
})

/** The running service as a TestApp, with the real clock. */
function asApp(running: RunningService) {
  return { url: running.url, now: Date.now() } as Parameters<typeof call>[0]
}

describe('the first start', () => {
  test('prints an address, a sign-in, a token and a secret for a sample brokerage', async () => {
    const [, email, password] = /sign-in\s+(\S+)\s+(\S+)/.exec(service.printed()) ?? []
    const answer = await call(asApp(service), 'POST', '/api/auth/sign-in', { body: { email, password } })
    expect(answer.status).toBe(200)
    expect(answer.body.user.role).toBe('owner')
    const lanes = await call(asApp(service), 'GET', '/api/lanes?limit=200', { token: answer.body.token })
    expect(lanes.body.lanes).toHaveLength(200)
    const shipments = await call(asApp(service), 'GET', '/api/shipments?limit=1', {
      token: answer.body.token,
    })
    expect(shipments.body.totals.shipments).toBeGreaterThan(2000)
    expect(shipments.body.totals.margin_pct).toBeGreaterThan(5)
  })

  test('prints three commands that work as printed', async () => {
    const lines = service
      .printed()
      .split('\n')
      .filter((line) => /^(BODY=|curl )/.test(line))
    expect(lines).toHaveLength(3)
    const answers = []
    for (const line of lines) answers.push(JSON.parse((await run('bash', ['-c', line])).stdout))
    expect(answers).toMatchObject([
      { status: 'ok', updated: true },
      { found: true, confidence: 'high' },
      { found: true, scope: 'equipment' },
    ])
  })

  test('does not print its secret key', () => {
    const file = join(dataDirectory, 'secret-key')
    expect(existsSync(file)).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(service.printed()).not.toContain(readFileSync(file, 'utf8').trim())
  })

  // data-folder.test.ts shows the lock of the folder itself.
  test('a second service on the same folder is refused with one clear line, and the first keeps running', {
    tags: 'long',
  }, async () => {
    await expect(runService(dataDirectory)).rejects.toThrow(/is in use by process \d+/)
    expect((await call(asApp(service), 'GET', '/readyz')).status).toBe(200)
  })
})

describe('a start on a backup without its key', { tags: 'long' }, () => {
  test('is refused in one sentence, and writes no key file', async () => {
    const copy = join(folder, 'copy')
    if (process.getuid?.() === 0) chmodSync(folder, 0o711)
    await backUp({ dataDirectory, folder: copy, clock: Date.now, remark: () => {} })
    const before = readdirSync(copy)
    const message = await runService(copy).catch((error: Error) => error.message)
    expect(message).toMatch(/The secret key \S*secret-key is missing, .*: restore the file from your copy/)
    expect(readdirSync(copy)).toEqual(before)
    expect(before).not.toContain('secret-key')
    for (const left of await stopAbandonedPostgres(copy)) rmSync(left, { recursive: true, force: true })
  })
})

describe('a stop during the start', () => {
  test('also stops the database', { tags: 'long' }, async () => {
    const started = join(folder, 'stopped-early')
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
      env: { ...process.env, DATA_DIR: started, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    let printed = ''
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      printed += chunk
      // The database runs by now, and the service does not listen yet.
      if (printed.includes('migrated 0001') && !child.killed) child.kill('SIGTERM')
    }
    expect(await ended).toEqual([0, null])
    expect(printed).not.toContain('is ready')
    const place = findPlace(started)
    expect(place === null ? null : clusterProcesses(place.cluster)).toEqual([])
    for (const left of await stopAbandonedPostgres(started)) rmSync(left, { recursive: true, force: true })
  })
})

describe('wrong configuration', { tags: 'long' }, () => {
  test('is reported completely, and nothing is started', async () => {
    const unused = join(folder, 'unused')
    const refused = runService(unused, {
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://x',
      ALLOW_SIGN_UP: 'perhaps',
    })
    const message = await refused.catch((error: Error) => error.message)
    for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL', 'ALLOW_SIGN_UP', 'LANEWISE_SECRET_KEY']) {
      expect(message).toContain(name)
    }
    expect(existsSync(unused)).toBe(false)
  })
})

describe('kill -9', { tags: 'long' }, () => {
  // proofs/kills.ts repeats this many times, with writers.
  test('leaves the database running; the next start takes it over, with every acknowledged update', async () => {
    const secrets = /service token\s+(\S+)[\s\S]*signing secret\s+(\S+)/.exec(service.printed())
    const integration = { token: secrets?.[1] ?? '', secret: secrets?.[2] ?? '' }
    const [, email, password] = /sign-in\s+(\S+)\s+(\S+)/.exec(service.printed()) ?? []
    const signIn = await call(asApp(service), 'POST', '/api/auth/sign-in', { body: { email, password } })
    const owner = signIn.body.token as string
    const made = await call(asApp(service), 'POST', '/api/quote-requests', {
      token: owner,
      body: {
        customer_name: 'Crash Test Foods',
        lanes: [{ origin: 'Dallas, TX', destination: 'Atlanta, GA', equipment: 'V', quoted_rate: 2000 }],
      },
    })
    const ref = made.body.lanes[0].lane_ref as string
    const bytes = JSON.stringify({ lane_ref: ref, customer_rate: 2100, truck_cost: 2000 })
    const answer = await fetch(`${service.url}/api/integrations/tms/shipment-update`, {
      method: 'POST',
      headers: signedHeaders(integration, bytes, Math.floor(Date.now() / 1000)),
      body: bytes,
    })
    expect(answer.status).toBe(200)
    await service.end('SIGKILL')
    const place = findPlace(dataDirectory)
    expect(place === null ? [] : clusterProcesses(place.cluster)).not.toEqual([])
    service = await runService(dataDirectory)
    const lane = await call(asApp(service), 'GET', `/api/lanes/${ref}`, { token: owner })
    expect(lane.body).toMatchObject({ customer_rate: 2100, truck_cost: 2000 })
    expect(service.printed()).not.toContain('Shown once')
  })
})

describe('SIGTERM', { tags: 'long' }, () => {
  test('without connections, the port is open until a load balancer has seen that it leaves', async () => {
    const ready = () =>
      new Promise<string>((resolve) => {
        get(`${service.url}/readyz`, { agent: false }, (answer) => {
          answer.resume()
          resolve(String(answer.statusCode))
        }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      })
    const ended = service.end('SIGTERM')
    const seen = new Set<string>()
    for (let answer = '200'; answer === '200' || answer === '503'; answer = await ready()) seen.add(answer)
    expect(seen).toContain('503')
    expect(await ended).toEqual({ code: 0, signal: null })
    service = await runService(dataDirectory)
  })

  test('stops the service and its database, with exit code 0, also if nobody reads its output', async () => {
    service.child.stdout?.destroy()
    expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null })
    service = await runService(dataDirectory)
    expect((await call(asApp(service), 'GET', '/readyz')).status).toBe(200)
  })
})

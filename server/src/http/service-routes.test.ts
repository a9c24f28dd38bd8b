import { createHash } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { allEndpoints } from '#contract/all-endpoints.ts'
import { problems } from '#contract/errors.ts'
import { removedAddresses } from '#contract/removed-addresses.ts'
import { asMaker, type DatabaseCluster } from '#testing/database-cluster.ts'
import { call } from '#testing/make.ts'
import { head, sendRaw } from '#testing/raw-http.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { revision, version } from '../runtime/index.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.close())

describe('an address next to the files of the reference page', () => {
  test.each([
    '/docs/interactive/static/../../../package.json',
    '/docs/interactive/static/%2e%2e/%2e%2e/package.json',
    '/docs/interactive/static/..%2f..%2fpackage.json',
    '/docs/interactive/static/.git/config',
    '/docs/interactive/static/none.js',
  ])('is not there: %s', async (path) => {
    const [answer] = await sendRaw(
      app,
      head(`GET ${path} HTTP/1.1`, [
        ['Host', 'x'],
        ['Connection', 'close'],
      ]),
    )
    if (answer === undefined) throw new Error('no answer')
    expect([answer.status, answer.body.type]).toEqual([404, '/problems/route-not-found'])
  })
})

describe('problems', () => {
  test('the type of an error leads a browser to a page with a remedy', async () => {
    const browse = (path: string) => fetch(`${app.url}${path}`, { headers: { Accept: 'text/html,*/*' } })
    const page = await browse('/problems/signature-mismatch')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const text = await page.text()
    expect(text).toContain(
      'The detail states the text to sign: &lt;timestamp&gt;.&lt;body&gt; for shipment-update',
    )
    const style = /<style>(.*)<\/style>/.exec(text)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`)
    const list = await (await browse('/problems')).text()
    for (const code of Object.keys(problems)) expect(list).toContain(`href="/problems/${code}"`)
    expect((await browse('/problems/no-such')).status).toBe(404)
  })

  test('a removed address says what to use instead, in its 404 and on the page of the problem', async () => {
    const { status, body } = await call(app, 'DELETE', '/api/market-keys?adapter=dat')
    expect([status, body.code]).toEqual([404, 'route-not-found'])
    expect(body.detail).toMatch(
      /^DELETE \/api\/market-keys was removed\. .*POST \/api\/integrations\/market-rates/,
    )
    expect((await call(app, 'GET', '/api/market-key')).body.detail).toBe('There is nothing at this address.')
    const page = await (
      await fetch(`${app.url}/problems/route-not-found`, { headers: { Accept: 'text/html' } })
    ).text()
    for (const { path, instead } of removedAddresses) {
      expect(page).toContain(`<code>${path}</code>`)
      expect(page).toContain(instead)
    }
  })

  test('no endpoint is at a removed address', () => {
    const served = new Set(allEndpoints.map(({ method, path }) => `${method} ${path}`))
    const removed = removedAddresses.flatMap(({ methods, path }) =>
      methods.map((method) => `${method} ${path}`),
    )
    expect(removed.filter((address) => served.has(address))).toEqual([])
  })

  test('each code in an answer has a page with a remedy', async () => {
    const list = await call(app, 'GET', '/problems')
    expect(list.body.problems.map((problem: { code: string }) => problem.code).sort()).toEqual(
      Object.keys(problems).sort(),
    )
    const page = await call(app, 'GET', '/problems/signature-mismatch')
    expect(page.body).toMatchObject({ code: 'signature-mismatch', status: 401 })
    expect((await call(app, 'GET', '/problems/no-such')).body.type).toBe('/problems/not-found')
    expect((await call(app, 'GET', '/problems/toString')).body.type).toBe('/problems/not-found')
  })
})

describe('readiness', () => {
  const cluster: DatabaseCluster = inject('databaseCluster')
  /** The answer of /readyz while the clock of the node is ahead of the database's. */
  const ready = async (aheadMs = 0, at = app) => {
    Object.defineProperty(at, 'now', { configurable: true, get: () => Date.now() + aheadMs })
    const { status, body, headers } = await call(at, 'GET', '/readyz')
    Object.defineProperty(at, 'now', { writable: true, value: Date.now() + aheadMs })
    const checks = Object.fromEntries(
      body.checks.map((check: { name: string; status: string }) => [check.name, check.status]),
    )
    return {
      status,
      checks,
      detail: body.detail as string | undefined,
      retryAfter: headers.get('Retry-After'),
    }
  }
  const asOwner = async (text: string, values: string[] = []) => {
    const client = new pg.Client(app.testDatabase.owner)
    await client.connect()
    try {
      await client.query(text, values)
    } finally {
      await client.end()
    }
  }
  const allPassed = { database: 'ok', clock: 'ok', migrations: 'ok' }

  test('names version and commit, as the OpenAPI document does', async () => {
    const { body } = await call(app, 'GET', '/readyz')
    expect(body).toMatchObject({ version, revision })
    const { info } = (await call(app, 'GET', '/openapi.json')).body
    expect(info).toMatchObject({ version, 'x-revision': revision })
  })

  test('is 200 with the result of each check', async () => {
    expect(await ready()).toMatchObject({ status: 200, checks: allPassed })
  })

  test('is 503 while the database refuses connections, and 200 again afterwards', async () => {
    const { name } = app.testDatabase
    await asMaker(cluster.makerUrl, async (maker) => {
      await maker.query(`alter database ${name} with allow_connections false`)
      await maker.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    })
    try {
      const told = await ready()
      expect(told).toMatchObject({
        status: 503,
        detail: 'The database cannot answer right now.',
        checks: { database: 'failed', clock: 'unknown', migrations: 'unknown' },
        retryAfter: '5',
      })
      expect((await call(app, 'GET', '/healthz')).status).toBe(200)
    } finally {
      await asMaker(cluster.makerUrl, (maker) =>
        maker.query(`alter database ${name} with allow_connections true`),
      )
    }
    await expect.poll(async () => (await ready()).status).toBe(200)
  })

  // The connection is free only after the answer, so /readyz must not wait for it endlessly. This service waits two seconds
  // for a connection; those of other tests wait longer.
  test('is 503 while all connections are in use', async () => {
    const one = await testApp({ connectionsMax: 1, deadlines: { connectionMs: 2_000 } })
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>()
    try {
      // Opens the connection.
      await expect.poll(async () => (await ready(0, one)).status).toBe(200)
      const holding = one.database.outsideTenants(() => {
        hold()
        return held
      })
      await Promise.race([isHeld, holding])
      expect(await ready(0, one)).toMatchObject({ status: 503, checks: { database: 'failed' } })
      letGo()
      await holding
      await expect.poll(async () => (await ready(0, one)).status).toBe(200)
    } finally {
      letGo()
      await one.close()
    }
  })

  test('is 503 if the database lacks a migration of this version, as after a restore of an older backup', async () => {
    const name = '0002-tenants.sql'
    await asOwner('delete from schema_migrations where name = $1', [name])
    expect(await ready()).toMatchObject({
      status: 503,
      detail: `The database lacks ${name}.`,
      checks: { ...allPassed, migrations: 'failed' },
    })
    await asOwner('insert into schema_migrations (name) values ($1)', [name])
    expect((await ready()).status).toBe(200)
  })

  test('is 200 if the database has a newer migration, as during an upgrade', async () => {
    await asOwner("insert into schema_migrations (name) values ('9999-of-the-next-version.sql')")
    expect((await ready()).status).toBe(200)
    await asOwner("delete from schema_migrations where name like '9999-%'")
  })

  test('is 503 while the clocks of node and database differ by more than two seconds', async () => {
    for (const aheadMs of [10_000, -10_000]) {
      expect(await ready(aheadMs)).toMatchObject({ status: 503, checks: { ...allPassed, clock: 'failed' } })
    }
    expect((await ready(1_000)).status).toBe(200)
  })
})

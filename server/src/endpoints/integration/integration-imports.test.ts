import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { gazetteer } from '#geography/gazetteer.ts'
import {
  type Answer,
  call,
  type Integration,
  makeIntegration,
  makeServiceToken,
  signedHeaders,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'

const path = '/api/integrations/imports'
const header = 'Reference,Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\n'
const rowTo = (city: string, reference = city) =>
  `${reference},"Dallas, TX","${city}, GA",Van,"$2,150.00",3/1/2026,Won\n`

let app: TestApp
let acme: Integration

beforeAll(async () => {
  gazetteer()
  app = await sharedApp()
  app.now = Date.parse('2026-06-01T00:00:00Z')
})

/** An integration whose token may only import. */
async function importer(): Promise<Integration> {
  const made = await makeIntegration(app)
  return { ...made, token: await makeServiceToken(app, made.tenant.owner, 'imports:write') }
}

interface Push {
  readonly query?: string
  readonly signedQuery?: string
  readonly signedMethod?: string
  readonly timestamp?: number
  readonly type?: string
}

async function push(
  of: Pick<Integration, 'token' | 'secret'>,
  file: string | Buffer,
  options: Push = {},
): Promise<Answer> {
  const { query = '', signedQuery = query, signedMethod = 'POST' } = options
  const { timestamp = Math.floor(app.now / 1000), type = 'text/csv' } = options
  const address = { method: signedMethod, path: `${path}${signedQuery}` }
  const response = await fetch(`${app.url}${path}${query}`, {
    method: 'POST',
    headers: { ...signedHeaders(of, file, timestamp, address), 'Content-Type': type },
    body: typeof file === 'string' ? file : new Uint8Array(file),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

async function ended(of: Pick<Integration, 'token'>, importId: number) {
  for (;;) {
    app.now += 1_000
    const { body } = await call(app, 'GET', `${path}/${importId}`, { token: of.token })
    if (body.status !== 'running') return body
    await delay(20)
  }
}

describe('202', () => {
  test('a signed file is imported, and the same token follows its progress', async () => {
    acme = await importer()
    const begun = await push(acme, header + rowTo('Atlanta') + rowTo('Macon'), {
      query: '?file_name=may.csv',
    })
    expect([begun.status, begun.body.file_name, begun.headers.get('Idempotent-Replayed')]).toEqual([
      202,
      'may.csv',
      null,
    ])
    expect(await ended(acme, begun.body.import_id)).toMatchObject({ status: 'done', rows_added: 2 })
    // A person sees it, too: it was created by the holder of the token.
    const seen = await call(app, 'GET', `/api/imports/${begun.body.import_id}`, { token: acme.tenant.owner })
    expect(seen.body).toMatchObject({ rows_added: 2, created_by: { name: 'Olive Quay' } })
  })

  test('the same signed request again starts nothing, while the import runs and after it', async () => {
    const mine = await importer()
    const file = header + Array.from({ length: 2_000 }, (_, at) => rowTo('Atlanta', `R${at}`)).join('')
    const timestamp = Math.floor(app.now / 1000)
    const begun = await push(mine, file, { timestamp })
    for (const _ of ['while it runs', 'after it']) {
      const again = await push(mine, file, { timestamp })
      expect([again.status, again.body.import_id]).toEqual([202, begun.body.import_id])
      expect(again.headers.get('Idempotent-Replayed')).toBe('true')
      await ended(mine, begun.body.import_id)
    }
    // The same file signed again later is a new import, in which all rows are known.
    const later = await push(mine, file)
    expect(later.body.import_id).toBe(begun.body.import_id + 1)
    expect(await ended(mine, later.body.import_id)).toMatchObject({ rows_added: 0, rows_repeated: 2_000 })
  })

  test('a compressed file is signed as sent', async () => {
    const mine = await importer()
    const begun = await push(mine, gzipSync(header + rowTo('Atlanta')), { type: 'application/gzip' })
    expect(begun.status).toBe(202)
    expect(await ended(mine, begun.body.import_id)).toMatchObject({ rows_added: 1 })
  })

  test('a file of several megabytes, which arrives in pieces, is verified', async () => {
    const mine = await importer()
    const file = header + rowTo('Atlanta') + `${'x'.repeat(3_000)}\n`.repeat(1_000)
    const begun = await push(mine, file, { query: '?dry_run=true' })
    expect(begun.status).toBe(202)
    expect(await ended(mine, begun.body.import_id)).toMatchObject({ rows_added: 1, rows_refused: 1_000 })
  })
})

describe('401', () => {
  const file = header + rowTo('Atlanta')

  test.each([
    ['another query', { query: '?dry_run=false', signedQuery: '?dry_run=true' }],
    ['no query', { query: '?map=quoted_rate%3DRate', signedQuery: '' }],
    ['another method', { signedMethod: 'PUT' }],
  ] as const)('a signature for %s does not match', async (_what, options) => {
    app.now += 1_000
    const { status, body } = await push(acme, file, options)
    expect([status, body.code]).toEqual([401, 'signature-mismatch'])
    expect(body.detail).toContain(`"<timestamp>.POST ${path}`)
  })

  test('a signature of the body alone, as of a shipment update, does not match', async () => {
    app.now += 1_000
    const timestamp = Math.floor(app.now / 1000)
    const response = await fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { ...signedHeaders(acme, file, timestamp), 'Content-Type': 'text/csv' },
      body: file,
    })
    expect(response.status).toBe(401)
  })

  test('a signed import sent to shipment-update with its address as part of the body changes nothing', async () => {
    app.now += 1_000
    const both = await makeIntegration(app)
    const timestamp = Math.floor(app.now / 1000)
    const address = { method: 'POST', path }
    // The signed text is the same in both readings, so the signature matches. The body is not JSON.
    const recorded = signedHeaders(both, file, timestamp, address)
    const response = await fetch(`${app.url}/api/integrations/tms/shipment-update`, {
      method: 'POST',
      headers: { ...recorded, 'Content-Type': 'application/json' },
      body: `POST ${path}\n${file}`,
    })
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      400,
      'malformed-json',
    ])
  })
})

describe('404 and 422', () => {
  test('an import of another brokerage is not found', async () => {
    app.now += 1_000
    const other = await importer()
    const answer = await call(app, 'GET', `${path}/1`, { token: other.token })
    expect([answer.status, answer.body.code]).toEqual([404, 'not-found'])
  })

  test('a file without the required columns is refused like that of a person', async () => {
    app.now += 1_000
    const { status, body } = await push(acme, 'Colour\nred\n')
    expect([status, body.code]).toEqual([422, 'validation-failed'])
  })
})

test('404: a token does not read the import of a person, which shows changes and values of quotes', async () => {
  const of = await importer()
  const made = await fetch(`${app.url}/api/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${of.tenant.owner}`, 'Content-Type': 'text/csv' },
    body: header + rowTo('Atlanta', 'of a person'),
  })
  const { import_id: id } = (await made.json()) as { import_id: number }
  expect(made.status).toBe(202)
  const read = (token: string, of: string) => call(app, 'GET', `${of}/${id}`, { token })
  expect((await read(of.tenant.owner, '/api/imports')).status).toBe(200)
  expect(await read(of.token, path)).toMatchObject({ status: 404, body: { code: 'not-found' } })
})

import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { utils, write } from '@e965/xlsx'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { gazetteer } from '#geography/gazetteer.ts'
import { nextTenantNumber } from '#server/database/queries/index.ts'
import { tenantId } from '#server/database/session/index.ts'
import { beginUndo, undoImport } from '#server/imports/index.ts'
import { appOn } from '#testing/app-on-database.ts'
import {
  type Answer,
  call,
  type MadeTenant,
  makeIntegration,
  makePerson,
  makeQuote,
  makeTenant,
  pushUpdate,
} from '#testing/make.ts'
import { sharedApp, type TestApp } from '#testing/shared-app.ts'
import { threadMs } from '#testing/thread-time.ts'
import { waitingForLock } from '#testing/waiting-for-lock.ts'

let app: TestApp

beforeAll(async () => {
  // Loads the map, as the service does at its start, so that no request waits for it.
  gazetteer()
  app = await sharedApp()
  app.now = Date.parse('2026-06-01T00:00:00Z')
})

const header = 'Ship From,Ship To,Equip,Sell Rate,Quote Date,Status\n'
const rowTo = (city: string) => `"Dallas, TX","${city}, GA",Van,"$2,150.00",3/1/2026,Won\n`

async function send(tenant: Pick<MadeTenant, 'owner'>, file: string | Buffer, query = ''): Promise<Answer> {
  const response = await fetch(`${app.url}/api/imports${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.owner}`, 'Content-Type': 'text/csv' },
    body: typeof file === 'string' ? file : new Uint8Array(file),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** Reads an import until it has ended. */
async function ended(tenant: Pick<MadeTenant, 'owner'>, importId: number) {
  for (;;) {
    const { body } = await call(app, 'GET', `/api/imports/${importId}`, { token: tenant.owner })
    if (body.status !== 'running' && body.status !== 'undoing') return body
    await delay(20)
  }
}

async function undone(tenant: Pick<MadeTenant, 'owner'>, importId: number) {
  const { status } = await call(app, 'POST', `/api/imports/${importId}/undo`, { token: tenant.owner })
  expect(status).toBe(202)
  return ended(tenant, importId)
}

async function imported(tenant: Pick<MadeTenant, 'owner'>, file: string | Buffer, query = '') {
  const { status, body } = await send(tenant, file, query)
  expect(status).toBe(202)
  return ended(tenant, body.import_id)
}

describe('202', () => {
  it('accepts a file, answers at once, and continues until it is imported', async () => {
    const tenant = await makeTenant(app)
    const { status, body } = await send(
      tenant,
      `${header.replace('Status', 'Status,Colour')}${rowTo('Atlanta').replace('\n', ',red\n')}"Dallas","Macon, GA",V,1,3/1/2026,Won,\n`,
      '?file_name=march.csv',
    )
    expect(status).toBe(202)
    expect(body).toMatchObject({
      import_id: 1,
      file_name: 'march.csv',
      status: 'running',
      columns: { origin: 'Ship From', customer_rate: 'Sell Rate' },
      ignored_columns: ['Colour'],
    })
    expect(await ended(tenant, 1)).toMatchObject({
      status: 'done',
      rows_read: 2,
      rows_added: 1,
      rows_refused: 1,
      errors: [{ row: 3, column: 'Ship From' }],
      finished_at: expect.any(String),
      failure: null,
    })
    const lanes = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    expect(lanes.body.lanes).toMatchObject([
      {
        customer_rate: 2150,
        outcome: 'won',
        outcome_source: 'import',
        created_at: '2026-03-01T00:00:00.000Z',
      },
    ])
  })

  it('accepts a gzipped file, a dry run and a map', async () => {
    const tenant = await makeTenant(app)
    const file = gzipSync(header.replace('Sell Rate', 'Rate') + rowTo('Atlanta'))
    const dry = await imported(tenant, file, '?dry_run=true&map=quoted_rate%3DRate')
    expect(dry).toMatchObject({ dry_run: true, rows_added: 1, columns: { quoted_rate: 'Rate' } })
    const lanes = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    expect(lanes.body.lanes).toEqual([])
    const encoded = await fetch(`${app.url}/api/imports`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tenant.owner}`,
        'Content-Type': 'text/csv',
        'Content-Encoding': 'gzip',
      },
      body: new Uint8Array(file),
    })
    const { detail } = (await encoded.json()) as { detail: string }
    expect([encoded.status, detail]).toEqual([
      415,
      'Remove the header Content-Encoding. A gzip file is sent as it is, with Content-Type: text/csv.',
    ])
  })

  /** Starts an upload, and continues once the service requests the body. */
  async function begun(tenant: Pick<MadeTenant, 'owner'>) {
    const request = httpRequest(`${app.url}/api/imports`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tenant.owner}`,
        'Content-Type': 'text/csv',
        Expect: '100-continue',
      },
    })
    request.flushHeaders()
    await once(request, 'continue')
    request.write(header)
    return request
  }

  it('accepts an upload that takes minutes, and meanwhile no other file of its brokerage', async () => {
    const tenant = await makeTenant(app)
    const before = app.now
    const request = await begun(tenant)
    expect((await send(tenant, header)).status).toBe(409)
    app.now += 120_000
    const answered = once(request, 'response')
    request.end(rowTo('Atlanta'))
    const [answer] = (await answered) as [IncomingMessage]
    const { import_id } = (await json(answer)) as { import_id: number }
    // The upload took longer than the silence after which an import counts as abandoned.
    expect(await ended(tenant, import_id)).toMatchObject({ status: 'done', rows_added: 1 })
    app.now = before
  })

  it('releases the memory of a file when its sender disconnects', async () => {
    const tenant = await makeTenant(app)
    const request = await begun(tenant)
    request.on('error', () => {})
    expect((await send(tenant, header)).status).toBe(409)
    request.destroy()
    const rows = header + rowTo('Atlanta')
    await expect.poll(async () => (await send(tenant, rows)).status).toBe(202)
  })

  it('answers other requests while it works', { tags: 'measure' }, async () => {
    const tenant = await makeTenant(app)
    const rows = Array.from({ length: 20_000 }, (_, index) =>
      rowTo('Atlanta').replace('2,150', `2,${100 + (index % 900)}`),
    )
    const { body } = await send(tenant, header + rows.join(''))
    let longest = 0
    for (let count = 0; count < 20; count++) {
      const start = threadMs()
      await call(app, 'GET', '/healthz')
      longest = Math.max(longest, threadMs() - start)
    }
    const { body: stopped } = await call(app, 'POST', `/api/imports/${body.import_id}/stop`, {
      token: tenant.owner,
    })
    expect(stopped.status).toBe('running')
    expect(await ended(tenant, body.import_id)).toMatchObject({ status: 'stopped' })
    // The service's thread may do other work for that long before it answers.
    expect(longest).toBeLessThan(500)
  })
})

describe('202 of an undo', () => {
  it('answers at once, continues until all is undone, and answers the same when repeated', async () => {
    const integration = await makeIntegration(app)
    const { tenant } = integration
    const rows = Array.from({ length: 1_700 }, (_, index) =>
      rowTo('Atlanta').replace('2,150', String(1_000 + index)),
    )
    const { import_id } = await imported(tenant, header + rows.join(''))
    const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    const pushed = await pushUpdate(app, integration, { lane_ref: body.lanes[0].lane_ref, truck_cost: 1800 })
    expect(pushed.status).toBe(200)
    const undo = () => call(app, 'POST', `/api/imports/${import_id}/undo`, { token: tenant.owner })
    const begun = await undo()
    expect(begun).toMatchObject({
      status: 202,
      body: {
        status: 'undoing',
        rows_added: 1_700,
        undo: { started_by: { name: 'Olive Quay' }, finished_at: null, rows_total: 1_700, rows_done: 0 },
      },
    })
    const again = await undo()
    expect(again.status).toBe(202)
    const undone = await ended(tenant, import_id)
    expect(undone).toMatchObject({
      status: 'undone',
      undo: { rows_done: 1_700, lanes_removed: 1_699, lanes_restored: 0, lanes_kept: 1 },
    })
    expect(undone.undo.finished_at).not.toBeNull()
    expect((await undo()).body).toEqual(undone)
    const left = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    expect(left.body.lanes).toMatchObject([{ truck_cost: 1800 }])
  })

  it('keeps an imported quote with a requote', async () => {
    const tenant = await makeTenant(app)
    const { import_id } = await imported(tenant, header + rowTo('Atlanta').replace('Won', 'Lost'))
    const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    const again = await call(app, 'POST', `/api/lanes/${body.lanes[0].lane_ref}/requote`, {
      token: tenant.owner,
      body: { quoted_rate: 2000 },
    })
    expect(again.status).toBe(201)
    expect(await undone(tenant, import_id)).toMatchObject({ undo: { lanes_removed: 0, lanes_kept: 1 } })
  })

  it('records the restored booking under the person who undoes the import', async () => {
    const tenant = await makeTenant(app)
    const quote = await makeQuote(app, tenant)
    const { import_id } = await imported(tenant, `lane_ref,AR\n${quote.lane_ref},2222\n`)
    expect(await undone(tenant, import_id)).toMatchObject({ undo: { lanes_restored: 1 } })
    const { body } = await call(app, 'GET', `/api/lanes/${quote.lane_ref}/changes`, { token: tenant.owner })
    expect(body.changes).toMatchObject([
      { source: 'dashboard', changed_by: { name: 'Olive Quay' }, rolled_back_change_id: 1 },
      { source: 'import', after: { customer_rate: 2222, outcome: 'won' } },
    ])
  })

  it.each([
    ['slow', -3_600_000],
    ['fast', 3_600_000],
  ])('keeps values that a signed update confirmed, with a %s clock of the instance', async (_, offset) => {
    const before = app.now
    app.now = Date.now() + offset
    const integration = await makeIntegration(app)
    const { tenant } = integration
    const quote = await makeQuote(app, tenant)
    // The signed update only confirms the value, so only its time shows it.
    const { import_id } = await imported(tenant, `lane_ref,carrier_name\n${quote.lane_ref},Blue Mesa\n`)
    await pushUpdate(app, integration, { lane_ref: quote.lane_ref, carrier_name: 'Blue Mesa' })
    expect(await undone(tenant, import_id)).toMatchObject({ undo: { lanes_restored: 0, lanes_kept: 1 } })
    const other = await makeQuote(app, tenant)
    await pushUpdate(app, integration, { lane_ref: other.lane_ref, customer_rate: 2000 })
    const later = await imported(tenant, `lane_ref,carrier_name\n${other.lane_ref},Blue Mesa\n`)
    expect(await undone(tenant, later.import_id)).toMatchObject({ undo: { lanes_restored: 1 } })
    app.now = before
  })

  it('resumes an undo whose process died', async () => {
    const tenant = await makeTenant(app)
    const { import_id } = await imported(tenant, header + rowTo('Atlanta'))
    const doing = { caller: { tenant: tenantId(tenant.id), userId: 1 }, now: app.now }
    // The state after a request whose process is lost immediately afterwards.
    await app.database.inTenant(tenantId(tenant.id), (transaction) =>
      beginUndo(transaction, { ...doing, network: null, requestId: null }, import_id),
    )
    // The clock of this instance is fast, and heartbeats do not depend on it.
    let looks = 0
    const waiting = await appOn(app.testDatabase, {
      now: Date.now() + 3_600_000,
      resumeUndosEveryMs: 20,
      wrapDatabase: (database) => ({
        ...database,
        acrossTenants: (work) => database.acrossTenants(work).finally(() => looks++),
      }),
    })
    const read = async () =>
      (await call(app, 'GET', `/api/imports/${import_id}`, { token: tenant.owner })).body.status
    // The undo may still be alive for this instance, which polls meanwhile.
    const before = looks
    await expect.poll(() => looks).toBeGreaterThan(before + 2)
    expect(await read()).toBe('undoing')
    await app.database.inTenant(tenantId(tenant.id), (transaction) =>
      transaction
        .updateTable('imports')
        .set({ progress_at: sql<Date>`now() - interval '31 seconds'` })
        .where('tenant_id', '=', tenant.id)
        .execute(),
    )
    await expect.poll(read).toBe('undone')
    await waiting.close()
  })
})

describe('200', () => {
  it('matches the columns of a file before its upload, and reports missing fields', async () => {
    const tenant = await makeTenant(app)
    const match = (body: object) => call(app, 'POST', '/api/import-columns', { token: tenant.owner, body })
    const headers = ['Ship From', 'Ship To', 'Equip', 'Rate', 'Quote Date', 'Colour']
    const { status, body } = await match({ headers })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      columns: { origin: 'Ship From' },
      positions: { origin: 1, quoted_at: 5 },
      ignored_columns: ['Rate', 'Colour'],
      problems: [{ code: 'header', column: 'Rate' }],
    })
    expect(body.fields.find(({ field }: { field: string }) => field === 'quoted_rate')).toEqual({
      field: 'quoted_rate',
      description: 'what was quoted to the customer',
      required: false,
      is_guessed: false,
      may_be: [4],
      takes_constant: false,
    })
    expect(body.fields.filter(({ required }: { required: boolean }) => required)).toMatchObject([
      { field: 'equipment' },
    ])
    expect(body.needs.filter(({ is_met }: { is_met: boolean }) => !is_met)).toEqual([
      { what: 'the rate', any_of: [['quoted_rate'], ['customer_rate']], is_met: false, assumed: null },
    ])
    const mapped = await match({ headers, map: 'quoted_rate=#4' })
    expect(mapped.body).toMatchObject({ columns: { quoted_rate: 'Rate' }, constants: {}, problems: [] })
    const constant = await match({ headers, map: 'quoted_rate=#4,equipment==Van' })
    expect(constant.body).toMatchObject({ constants: { equipment: 'Van' }, problems: [] })
    expect(constant.body.columns.equipment).toBeUndefined()
    const wrong = await match({ headers, map: 'quoted_rate=#4,equipment==FTL' })
    expect(wrong.body.problems).toMatchObject([{ code: 'map', column: 'equipment' }])
  })

  it('reports who uploaded a file', async () => {
    const tenant = await makeTenant(app)
    const { created_by } = await imported(tenant, header + rowTo('Atlanta'))
    expect(created_by).toMatchObject({ name: 'Olive Quay' })
    const { body } = await call(app, 'GET', '/api/imports', { token: tenant.owner })
    expect(body.imports[0].created_by).toEqual(created_by)
  })

  it('lists imports newest first without their errors', async () => {
    const tenant = await makeTenant(app)
    await imported(tenant, `${header}"Dallas","Macon, GA",V,1,3/1/2026,Won\n`)
    await imported(tenant, header + rowTo('Atlanta'))
    const { body } = await call(app, 'GET', '/api/imports', { token: tenant.owner })
    expect(body.imports).toMatchObject([
      { import_id: 2, errors: [] },
      { import_id: 1, rows_refused: 1, errors: [] },
    ])
  })

  it('does not change an ended import when it is asked to stop', async () => {
    const tenant = await makeTenant(app)
    const { import_id } = await imported(tenant, header + rowTo('Atlanta'))
    const { status, body } = await call(app, 'POST', `/api/imports/${import_id}/stop`, {
      token: tenant.owner,
    })
    expect([status, body.status]).toEqual([200, 'done'])
  })
})

describe('403', () => {
  it('lets a viewer read but not import, and only an admin undo', async () => {
    const tenant = await makeTenant(app)
    const { import_id } = await imported(tenant, header + rowTo('Atlanta'))
    const viewer = await makePerson(app, tenant, 'viewer')
    const member = await makePerson(app, tenant, 'member')
    expect((await send({ owner: viewer.token }, header)).status).toBe(403)
    const match = { token: viewer.token, body: { headers: ['origin'] } }
    expect((await call(app, 'POST', '/api/import-columns', match)).status).toBe(403)
    expect((await call(app, 'GET', '/api/imports', { token: viewer.token })).status).toBe(200)
    expect((await call(app, 'POST', `/api/imports/${import_id}/undo`, { token: member.token })).status).toBe(
      403,
    )
  })
})

describe('404', () => {
  it("answers another brokerage's import like one that does not exist", async () => {
    const { import_id } = await imported(await makeTenant(app), header + rowTo('Atlanta'))
    const stranger = await makeTenant(app)
    for (const id of [import_id, 99]) {
      for (const [method, end] of [
        ['GET', ''],
        ['POST', '/stop'],
        ['POST', '/undo'],
      ] as const) {
        const { status, body } = await call(app, method, `/api/imports/${id}${end}`, {
          token: stranger.owner,
        })
        expect([status, body.detail]).toEqual([404, `No import ${id} in this brokerage.`])
      }
    }
  })
})

describe('409', () => {
  it('runs one import per brokerage at a time, and cannot undo a running one', async () => {
    const tenant = await makeTenant(app)
    const { body } = await send(tenant, header + rowTo('Atlanta').repeat(20_000))
    const [second, undone] = [
      await send(tenant, header + rowTo('Macon')),
      await call(app, 'POST', `/api/imports/${body.import_id}/undo`, { token: tenant.owner }),
    ]
    expect(second).toMatchObject({ status: 409, body: { detail: expect.stringContaining('still running') } })
    expect(undone.status).toBe(409)
    await call(app, 'POST', `/api/imports/${body.import_id}/stop`, { token: tenant.owner })
    await ended(tenant, body.import_id)
  })

  /** What an import, a dry run and another undo answer during an undo. */
  async function refusedDuringUndo(tenant: MadeTenant, undoing: number, other: number, rows: string) {
    const answers = [
      await send(tenant, header + rowTo('Atlanta')),
      await send(tenant, header + rowTo('Atlanta'), '?dry_run=true'),
      await call(app, 'POST', `/api/imports/${other}/undo`, { token: tenant.owner }),
    ]
    for (const { status, body } of answers) {
      expect([status, body.type]).toEqual([409, expect.stringContaining('state-conflict')])
      expect(body.detail).toMatch(
        new RegExp(
          `^Import ${undoing} \\(import.csv\\) is being undone: [\\d,]+ of ${rows} rows so far. Wait until`,
        ),
      )
    }
  }

  it('starts no import and no other undo during an undo', async () => {
    const tenant = await makeTenant(app)
    const first = await imported(tenant, header + rowTo('Macon'))
    const { import_id } = await imported(tenant, header + rowTo('Atlanta') + rowTo('Savannah'))
    const doing = { caller: { tenant: tenantId(tenant.id), userId: 1 }, now: app.now }
    // An undo that has begun and not done anything yet.
    await app.database.inTenant(tenantId(tenant.id), (transaction) =>
      beginUndo(transaction, { ...doing, network: null, requestId: null }, import_id),
    )
    await refusedDuringUndo(tenant, import_id, first.import_id, '2')
    await undoImport(app.database, {
      tenant: tenantId(tenant.id),
      importId: import_id,
      isStopping: () => false,
    })
    expect(await ended(tenant, import_id)).toMatchObject({ status: 'undone', undo: { lanes_removed: 2 } })
    expect(await imported(tenant, header + rowTo('Atlanta'))).toMatchObject({
      rows_added: 1,
      rows_repeated: 0,
    })
  })

  it('starts no import and no other undo while an undo works', { tags: 'long' }, async () => {
    const tenant = await makeTenant(app)
    const rows = Array.from({ length: 5_000 }, (_, index) =>
      rowTo('Atlanta').replace('2,150', String(1_000 + index)),
    )
    const first = await imported(tenant, header + rowTo('Macon'))
    const { import_id } = await imported(tenant, header + rows.join(''))
    const begun = await call(app, 'POST', `/api/imports/${import_id}/undo`, { token: tenant.owner })
    expect(begun.body.status).toBe('undoing')
    await refusedDuringUndo(tenant, import_id, first.import_id, '5,000')
    expect(await ended(tenant, import_id)).toMatchObject({ status: 'undone', undo: { lanes_removed: 5_000 } })
  })

  it('accepts one of two files sent at the same time', async () => {
    const tenant = await makeTenant(app)
    let both: Promise<Answer>[] = []
    // Holds the lock, so that both imports look for a running one before either has a number.
    await app.database.inTenant(tenantId(tenant.id), async (transaction) => {
      await nextTenantNumber(transaction, tenantId(tenant.id), 'import')
      both = ['Macon', 'Savannah'].map((city) => send(tenant, header + rowTo(city).repeat(5_000)))
      await waitingForLock(app.testDatabase.service)
    })
    const sent = await Promise.all(both)
    expect(sent.map(({ status }) => status).sort()).toEqual([202, 409])
    for (const { body } of sent.filter(({ status }) => status === 202)) {
      await call(app, 'POST', `/api/imports/${body.import_id}/stop`, { token: tenant.owner })
      await ended(tenant, body.import_id)
    }
  })

  it('cannot undo a dry run', async () => {
    const tenant = await makeTenant(app)
    const { import_id } = await imported(tenant, header + rowTo('Atlanta'), '?dry_run=true')
    expect((await call(app, 'POST', `/api/imports/${import_id}/undo`, { token: tenant.owner })).status).toBe(
      409,
    )
  })
})

describe('422', () => {
  it('reports the column of an invalid header at once, and records no import', async () => {
    const tenant = await makeTenant(app)
    const { status, body } = await send(tenant, header.replace('Ship From', 'Orgin') + rowTo('Atlanta'))
    expect(status).toBe(422)
    expect(body.errors).toMatchObject([{ code: 'header', detail: expect.stringContaining('origin=Orgin') }])
    const { body: list } = await call(app, 'GET', '/api/imports', { token: tenant.owner })
    expect(list.imports).toEqual([])
  })

  it('asks for the names of the columns', async () => {
    const { owner } = await makeTenant(app)
    const match = (body: object) => call(app, 'POST', '/api/import-columns', { token: owner, body })
    for (const body of [{}, { headers: [] }, { headers: Array(1_001).fill('a') }, { headers: [1] }]) {
      expect((await match(body)).status, JSON.stringify(body).slice(0, 40)).toBe(422)
    }
  })

  it('names the parameter of an invalid map', async () => {
    const { status, body } = await send(await makeTenant(app), header, '?map=quoted_rate%3DFrom')
    expect(status).toBe(422)
    expect(body.errors[0]).toMatchObject({ parameter: 'map', code: 'map' })
  })

  it('reports a NUL in a column name, and saves nothing', async () => {
    const tenant = await makeTenant(app)
    const { status, body } = await send(tenant, `${header.trimEnd()}\0\n`)
    expect(status).toBe(422)
    expect(body.errors[0]).toMatchObject({ code: 'header', detail: expect.stringContaining('NUL') })
    expect((await call(app, 'GET', '/api/imports', { token: tenant.owner })).body.imports).toEqual([])
  })

  it.each([
    'Ship From',
    'Ship To',
    'Equip',
    'Sell Rate',
    'Quote Date',
    'Status',
    'Load ID',
    'Customer',
    'Mode',
    'Notes',
  ])('refuses only the row with a NUL in %s, and imports the others', async (column) => {
    const tenant = await makeTenant(app)
    const names = [...header.trim().split(','), 'Load ID', 'Customer', 'Mode', 'Notes']
    const rows = ['Atlanta', 'Macon', 'Augusta'].map((city) =>
      ['Dallas TX', `${city} GA`, 'Van', '2150', '3/1/2026', 'Won', `L-${city}`, 'Acme', 'FTL', 'none'].map(
        (cell, at) =>
          city === 'Macon' && names[at] === column ? `${cell.slice(0, 1)}\0${cell.slice(1)}` : cell,
      ),
    )
    const file = [names, ...rows].map((cells) => cells.join(',')).join('\n')
    for (const query of ['?dry_run=true', '']) {
      const { body } = await send(tenant, file, query)
      const run = await ended(tenant, body.import_id)
      // A column that is not read refuses no row.
      expect(run).toMatchObject(
        column === 'Notes'
          ? { status: 'done', rows_added: 3 }
          : { status: 'done', rows_added: 2, rows_refused: 1, refused_rows_saved: 1 },
      )
    }
  })

  it('names the line and column of damaged UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${header}"Québec, QC","Lévis, QC",V,1,3/1/2026,Won\n`),
      Buffer.from('"Montr\xe9al, QC",x,V,1,3/1/2026,Won\n', 'latin1'),
    ])
    const { status, body } = await send(await makeTenant(app), bytes)
    expect(status).toBe(422)
    expect(body.detail).toContain('line 3, column "Ship From"')
  })
})

describe('a file as a spreadsheet saves it', () => {
  const rows = [
    ['Quotes of June 2025'],
    [],
    ['Ship From', 'Ship To', 'Equip', 'Quoted Rate', 'Quote Date', 'Outcome'],
    ['Dallas, TX', 'Atlanta, GA', 'V', 2150.5, new Date(Date.UTC(2025, 5, 25)), 'Won'],
    ['Montréal, QC', 'Toronto, ON', 'V', 1200, new Date(Date.UTC(2025, 5, 26)), 'Lost'],
    ['Nowhere at all', 'Toronto, ON', 'V', 1200, new Date(Date.UTC(2025, 5, 26)), 'Lost'],
    ['Total', '', '', 3350.5],
  ]
  const workbook = () => {
    const book = utils.book_new()
    utils.book_append_sheet(book, utils.aoa_to_sheet([['Read me']]), 'Notes')
    utils.book_append_sheet(book, utils.aoa_to_sheet(rows, { UTC: true }), 'Quotes')
    return write(book, { type: 'buffer', compression: true }) as Buffer
  }
  const text = rows
    .map((cells) =>
      cells.map((cell) => (cell instanceof Date ? cell.toISOString().slice(0, 10) : `"${cell}"`)).join(';'),
    )
    .join('\r\n')

  it.each([
    ['an Excel workbook', workbook()],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['Windows-1252', Buffer.from(text, 'latin1')],
  ])('is imported below its title and without its total: %s', async (kind, bytes) => {
    const tenant = await makeTenant(app)
    const { status, body } = await send(tenant, bytes)
    expect(status).toBe(202)
    const run = await ended(tenant, body.import_id)
    expect([run.status, run.rows_added, run.rows_won, run.rows_refused]).toEqual(['done', 2, 1, 1])
    expect(run.errors[0]).toMatchObject({ row: 6, column: 'Ship From' })
    const ofTheBytes = run.understood.filter(({ code }: { code: string }) =>
      ['encoding', 'lines_left_out'].includes(code),
    )
    expect(ofTheBytes.map(({ detail }: { detail: string }) => detail)).toEqual([
      ...(kind === 'Windows-1252'
        ? ['The text is in the encoding Windows-1252, with words such as "Montréal".']
        : []),
      '1 line above the header was left out: "Quotes of June 2025".',
      '1 line with a total was left out.',
    ])
    const { lanes: quotes } = (await call(app, 'GET', '/api/lanes?outcome=won', { token: tenant.owner })).body
    expect(quotes).toMatchObject([{ origin: 'Dallas, TX', quoted_rate: 2150.5 }])
  })

  it('is imported from the sheet that is asked for, and names the sheets otherwise', async () => {
    const { status, body } = await send(await makeTenant(app), workbook(), '?sheet=Old')
    expect(status).toBe(422)
    expect(body.detail).toContain('its sheets are "Notes", "Quotes"')
  })
})

describe('a workbook with a filter and two sheets', () => {
  const cells = [
    ['Ship From', 'Ship To', 'Equip', 'Quote Price', 'Notes'],
    ['Dallas, TX', 'Atlanta, GA', 'V', 2150],
    ['Dallas, TX', 'Memphis, TN', 'V', 1900],
  ]
  const sheet = utils.aoa_to_sheet(cells)
  sheet['!rows'] = [{}, {}, { hidden: true }]
  sheet.E2 = { t: 'n', f: 'D2*2' }
  const book = utils.book_new()
  utils.book_append_sheet(book, sheet, 'Mine')
  utils.book_append_sheet(book, utils.aoa_to_sheet(cells), 'Others')
  const file = write(book, { type: 'buffer', compression: true }) as Buffer

  it.each([
    ['', 2, '1 row of the sheet is hidden, as by a filter, and was read.', 'hidden=skip'],
    [
      '&map=hidden%3Dskip',
      1,
      '1 row of the sheet is hidden, as by a filter, and was left out.',
      'hidden=read',
    ],
  ])('says what it left out or read, after the import, too: %j', async (map, rows, said, choice) => {
    const tenant = await makeTenant(app)
    const { body } = await send(tenant, file, `?file_name=a.xlsx${map}`)
    const { rows_added, understood } = await ended(tenant, body.import_id)
    expect(rows_added).toBe(rows)
    const ofTheSheet = understood.filter(({ code }: { code: string }) =>
      ['hidden_rows', 'formulas_without_results', 'other_sheets'].includes(code),
    )
    expect(ofTheSheet).toMatchObject([
      { code: 'hidden_rows', detail: said, choices: [{ map: choice }] },
      { code: 'formulas_without_results', detail: expect.stringContaining('The cell E2 is a formula') },
      { code: 'other_sheets', detail: expect.stringContaining('"Others" has a table, too') },
    ])
  })

  it('is refused with another choice', async () => {
    const { status, body } = await send(await makeTenant(app), file, '?map=hidden%3Dno')
    expect([status, body.detail]).toEqual([422, expect.stringContaining('it must be hidden=skip')])
  })
})

describe('the refused rows of a file', () => {
  async function refusedRows(tenant: MadeTenant, importId: number): Promise<string> {
    const answer = await fetch(`${app.url}/api/imports/${importId}/refused-rows`, {
      headers: { Authorization: `Bearer ${tenant.owner}` },
    })
    expect(answer.status).toBe(200)
    return answer.text()
  }

  it('are a file with reasons, which can be corrected and means what it meant in the whole file', async () => {
    const tenant = await makeTenant(app)
    const line = (rate: string, day: string, customer = '+1 Logistics, Inc.') =>
      `"Dallas, TX","Atlanta, GA",Van,${rate},${day},${customer.includes(',') ? `"${customer}"` : customer},note\n`
    const columns = 'Ship From,Ship To,Equip,Sell Rate,Quote Date,Customer,Notes\n'
    // Only the whole file shows that the day is first.
    const file = `All amounts in CAD,,,,,,\n${columns}${line('2150', '25/02/2026')}${line('call', '03/01/2026')}${line('call me', '3.1.26,')}`
    const check = await imported(tenant, file, '?dry_run=true')
    expect(check).toMatchObject({ rows_refused: 2, refused_rows_saved: 2 })
    expect(check.causes).toMatchObject([
      { column: 'Sell Rate', rows: 1, lines: [4] },
      { rows: 1, lines: [5] },
    ])

    const text = await refusedRows(tenant, check.import_id)
    const lines = text.split('\r\n')
    expect(lines.slice(0, 2)).toEqual([
      'All amounts in CAD',
      'Ship From,Ship To,Equip,Sell Rate,Quote Date,Customer,Notes,Why refused (dates=day_first)',
    ])
    expect(lines[2]).toContain(`call,03/01/2026,"'+1 Logistics, Inc.",note,"Sell Rate must be an amount`)

    const corrected = await imported(tenant, lines.slice(0, 3).join('\r\n').replace(',call,', ',1850,'))
    expect(corrected).toMatchObject({ rows_added: 1, rows_refused: 0 })
    expect(corrected.ignored_columns).toContain('Why refused (dates=day_first)')
    const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    expect(body.lanes).toMatchObject([
      {
        quoted_rate: 1850,
        quoted_currency: 'CAD',
        created_at: '2026-01-03T00:00:00.000Z',
        quoted_customer_name: '+1 Logistics, Inc.',
      },
    ])
    expect(await refusedRows(tenant, corrected.import_id)).toBe('Why refused\r\n')

    // A second correction has one column of reasons.
    const again = await imported(tenant, lines.slice(0, 3).join('\r\n'), '?dry_run=true')
    expect((await refusedRows(tenant, again.import_id)).split('\r\n')).toEqual([...lines.slice(0, 3), ''])
  })
})

describe('a corrected file of refused rows', () => {
  const columns = 'From here,Goes to,"Offer, all",When,Result,Cost,Cost\n'
  const row = (rate: string) => `"Dallas, TX","Macon, GA",${rate},03/01/2026,"Dead, ""gone""",1500,9\n`
  const map = [
    'origin=From here,destination=#2,quoted_rate="Offer, all",quoted_at=When,outcome=Result,truck_cost=#6',
    'equipment==Van,customer_name=="Acme, Inc",basis=linehaul,cost_basis=all_in,currency=CAD,dates=day_first',
    'same_ids=update,outcome:"Dead, ""gone"""=lost price',
  ].join(',')

  it('is read with what was stated for the whole file, except what is stated anew', async () => {
    const tenant = await makeTenant(app)
    const first = await imported(
      tenant,
      columns + row('2100') + row('call'),
      `?map=${encodeURIComponent(map)}`,
    )
    expect(first).toMatchObject({ rows_added: 1, rows_refused: 1 })
    const answer = await fetch(`${app.url}/api/imports/${first.import_id}/refused-rows`, {
      headers: { Authorization: `Bearer ${tenant.owner}` },
    })
    const text = (await answer.text()).replace(',call,', ',2150,')
    const second = await imported(tenant, text)
    expect(second).toMatchObject({ rows_added: 1, rows_refused: 0, columns: first.columns })
    const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    const said = [
      ...['origin', 'equipment', 'quoted_basis', 'quoted_currency', 'estimated_cost', 'created_at'],
      ...['quoted_customer_name', 'outcome', 'outcome_reason'],
    ]
    const facts = (body.lanes as Record<string, unknown>[]).map((lane) => said.map((name) => lane[name]))
    expect(facts).toHaveLength(2)
    expect(facts[0]).toEqual(facts[1])
    expect(facts[0]?.slice(1, 4)).toEqual(['V', 'linehaul', 'CAD'])
    expect(facts[0]?.slice(5)).toEqual(['2026-01-03T00:00:00.000Z', 'Acme, Inc', 'lost', 'price'])

    const anew = `?dry_run=true&map=${encodeURIComponent('outcome:DEAD gone=skip,equipment==R')}`
    const other = await imported(tenant, text, anew)
    expect(other).toMatchObject({ rows_added: 0, columns: { equipment: '"R" in all rows' } })
    expect(other.words).toMatchObject([{ meaning: 'skip', rows: 1 }])
  })
})

describe('the outcomes of a file', () => {
  const file = (...statuses: string[]) =>
    header +
    statuses
      .map((status, at) =>
        rowTo('Atlanta')
          .replace('Won', status)
          .replace('3/1', `3/${at + 1}`),
      )
      .join('')

  it('are counted by a check, which warns when no quote was lost', async () => {
    const tenant = await makeTenant(app)
    const checked = async (text: string) => {
      const { body } = await send(tenant, text, '?dry_run=true')
      return ended(tenant, body.import_id)
    }
    const onlyWon = await checked(file('Won', 'Won', 'Open'))
    expect([onlyWon.rows_won, onlyWon.rows_lost, onlyWon.rows_pending]).toEqual([2, 0, 1])
    expect(onlyWon.warnings).toEqual([
      { code: 'no_lost_quotes', detail: 'No lost quotes: win chances cannot be learned.' },
    ])
    const mixed = await checked(file('Won', 'Lost', 'Lost - Price', 'strange'))
    expect([mixed.rows_won, mixed.rows_lost, mixed.rows_pending, mixed.rows_refused]).toEqual([1, 2, 0, 1])
    expect(mixed.warnings).toEqual([])
    expect((await checked(file('Open'))).warnings).toEqual([])
    const { body } = await send(tenant, file('Won'))
    expect((await ended(tenant, body.import_id)).warnings).toHaveLength(1)
    expect((await checked(file('Won'))).warnings).toEqual([])
  })
})

describe('a file without a date column', () => {
  const undated =
    'Ship From,Ship To,Equip,Sell Rate,Status\n"Dallas, TX","Macon, GA",Van,"$2,150.00",Won\n"Dallas, TX","Macon, GA",Van,2300,Lost\n'

  it('dates its quotes by the import, with a warning, and adds nothing when it is imported again', async () => {
    const tenant = await makeTenant(app)
    const sent = async (query = '') => ended(tenant, (await send(tenant, undated, query)).body.import_id)
    const checked = await sent('?dry_run=true')
    expect(checked.warnings).toMatchObject([{ code: 'no_dates' }])
    const imported = await sent()
    expect([imported.rows_added, imported.rows_refused]).toEqual([2, 0])
    const [{ detail }] = imported.warnings
    expect(detail).toContain(`quoted on ${imported.created_at.slice(0, 10)}, the day of the import`)
    const { body } = await call(app, 'GET', '/api/lanes', { token: tenant.owner })
    const days = body.lanes.map(({ created_at }: { created_at: string }) => created_at.slice(0, 10))
    expect(days).toEqual([imported.created_at.slice(0, 10), imported.created_at.slice(0, 10)])
    expect((await sent()).rows_repeated).toBe(2)
  })

  it('still rejects a row without a date in a file with dates', async () => {
    const tenant = await makeTenant(app)
    const file = undated.replace('Status', 'Status,Quote Date').replace('Won', 'Won,3/1/2026')
    const run = await ended(tenant, (await send(tenant, file)).body.import_id)
    expect([run.rows_added, run.warnings.length]).toEqual([1, 1])
    expect(run.errors).toMatchObject([{ row: 3, column: 'Quote Date' }])
  })
})

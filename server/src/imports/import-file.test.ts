import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appOn } from '#testing/app-on-database.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { byOperator } from '../audit/index.ts'
import {
  changeQuote,
  findImport,
  insertImport,
  listChanges,
  listQuotes,
  requestStop,
} from '../database/queries/index.ts'
import type { QuoteRow, RowError } from '../database/schema/index.ts'
import {
  type Database,
  DatabaseUnavailable,
  openDatabase,
  type TenantId,
  tenantId,
} from '../database/session/index.ts'
import { type ImportEnd, importFile } from './import-file.ts'
import { beginUndo } from './one-at-a-time.ts'
import { openImport } from './open-import.ts'
import { fingerprintOfId } from './row-fingerprint.ts'
import { undoImport } from './undo-import.ts'

let testing: TestDatabase
let database: Database
const now = Date.parse('2026-06-01T00:00:00Z')
let tenantsMade = 0

beforeAll(async () => {
  testing = await testDatabase()
  database = await openDatabase({ connection: testing.service, deadlines: testDeadlines })
})

afterAll(async () => {
  await database.close()
  await testing.drop()
})

async function newTenant(name = 'Test Brokers'): Promise<TenantId> {
  const tenant = tenantId(++tenantsMade)
  await database.inTenant(tenant, (transaction) =>
    transaction
      .insertInto('tenants')
      .values({ tenant_id: tenant, name, created_at: new Date(now) })
      .execute(),
  )
  return tenant
}

type Ran = ImportEnd & { importId: number; refused: RowError[] }

async function runImport(
  tenant: TenantId,
  text: string,
  options: {
    dryRun?: boolean
    map?: string
    onBatch?: (importId: number) => unknown
    through?: Database
  } = {},
): Promise<Ran> {
  const file = await openImport([Buffer.from(text)], options.map)
  const row = await database.inTenant(tenant, (transaction) =>
    insertImport(transaction, tenant, {
      file_name: 'quotes.csv',
      dry_run: options.dryRun ?? false,
      columns: file.columns.names,
      ignoredColumns: file.columns.ignored,
      bytes_total: file.csv.bytesTotal,
      created_by: null,
    }),
  )
  const refused: RowError[] = []
  const end = await importFile(options.through ?? database, {
    tenant,
    importId: row.import_id,
    createdBy: null,
    file,
    dryRun: options.dryRun ?? false,
    isStopping: () => false,
    onProgress: () => void options.onBatch?.(row.import_id),
    onRefused: (error) => refused.push(error),
  })
  return { ...end, importId: row.import_id, refused }
}

async function quotesOf(tenant: TenantId): Promise<QuoteRow[]> {
  return database.inTenant(tenant, (transaction) =>
    listQuotes(transaction, tenant, {}, { sort: 'newest', cursor: null, limit: 10_000 }),
  )
}

async function countOf(tenant: TenantId, table: 'quotes' | 'quote_requests'): Promise<number> {
  const { rows } = await database.inTenant(tenant, (transaction) =>
    transaction
      .selectFrom(table)
      .select((query) => query.fn.countAll<number>().as('rows'))
      .where('tenant_id', '=', tenant)
      .executeTakeFirstOrThrow(),
  )
  return rows
}

/** Makes the last heartbeat of an import old, as if its process had been lost half a minute ago. */
const silence = (tenant: TenantId, importId: number) =>
  database.inTenant(tenant, (transaction) =>
    transaction
      .updateTable('imports')
      .set({ progress_at: sql<Date>`now() - interval '31 seconds'` })
      .where('tenant_id', '=', tenant)
      .where('import_id', '=', importId)
      .execute(),
  )

async function importRow(tenant: TenantId, importId: number) {
  return database.inTenant(tenant, (transaction) => findImport(transaction, tenant, importId))
}

/** Undoes an import like the command, and returns the import afterwards. */
async function undo(tenant: TenantId, importId: number, through = database) {
  await database.inTenant(tenant, (transaction) => beginUndo(transaction, byOperator(tenant, now), importId))
  const job = { tenant, importId, isStopping: () => false }
  await undoImport(through, job)
  return importRow(tenant, importId)
}

const header = 'origin,destination,equipment,quoted_rate,quoted_at,outcome\n'
const rowTo = (city: string, rate = 2000) => `"Dallas, TX","${city}, GA",V,${rate},2026-03-01,won\n`

function manyRows(count: number): string {
  return `load id,${header}${Array.from({ length: count }, (_, index) => `L${index},${rowTo('Atlanta', 1000 + index)}`).join('')}`
}

describe('an import', () => {
  it('saves valid rows, rejects invalid rows whole, and names their line and column', async () => {
    const tenant = await newTenant()
    const bad = '"Dallas, TX","Macon, GA",V,1.850,2026-03-01,purple\n'
    const end = await runImport(tenant, header + rowTo('Atlanta') + bad + rowTo('Savannah'))
    expect(end).toMatchObject({ status: 'done', rowsRead: 3, rowsAdded: 2, rowsRefused: 1 })
    expect(end.refused.map(({ row, column }) => [row, column])).toEqual([
      [3, 'quoted_rate'],
      [3, 'outcome'],
    ])
    expect((await quotesOf(tenant)).map((quote) => quote.destination).sort()).toEqual([
      'Atlanta, GA',
      'Savannah, GA',
    ])
    expect(await importRow(tenant, end.importId)).toMatchObject({ status: 'done', errors: end.refused })
  })

  it('rejects the rows of another table, and names its header', async () => {
    const tenant = await newTenant()
    const other = 'destination,origin,equipment,quoted_rate,quoted_at,outcome\n'
    const end = await runImport(tenant, header + rowTo('Macon') + other + rowTo('Rome') + rowTo('Athens'))
    expect(end).toMatchObject({ rowsRead: 4, rowsAdded: 1, rowsRefused: 3 })
    expect(end.causes).toEqual([
      {
        column: null,
        detail:
          'The row is of another table: line 3 is a header with other columns. Import each table as a file of its own.',
        rows: 3,
        lines: [3, 4, 5],
      },
    ])
  })

  it('counts unknown words, and imports their rows as the map says', async () => {
    const tenant = await newTenant()
    const rows = ['Lost to CHR', 'LOST TO CHR', 'Dead', 'Perdido', 'won'].map((status, nth) =>
      rowTo('Atlanta', 2000 + nth).replace('won', status),
    )
    const text = header + rows.join('')
    const asked = await runImport(tenant, text, { dryRun: true })
    expect(asked).toMatchObject({ rowsRead: 5, rowsAdded: 2, rowsRefused: 3, rowsLost: 1 })
    expect(asked.words).toMatchObject([
      { column: 'outcome', word: 'Lost to CHR', rows: 2, meaning: null, likely: 'lost' },
      { word: 'Dead', rows: 1, meaning: null, likely: null },
    ])
    const map = [`${asked.words[0]?.map}=lost`, `${asked.words[1]?.map}=skip`].join(',')
    const end = await runImport(tenant, text, { map })
    expect(end).toMatchObject({ rowsRead: 4, rowsAdded: 4, rowsRefused: 0, rowsLost: 3, rowsWon: 1 })
    expect(end.words.map(({ word, rows, meaning }) => [word, rows, meaning])).toEqual([
      ['Lost to CHR', 2, 'lost'],
      ['Dead', 1, 'skip'],
    ])
    expect(end.understood.map(({ detail }) => detail)).toContain(
      'Left out: 1 row with words that the map leaves out.',
    )
    expect(await importRow(tenant, end.importId)).toMatchObject({ words: end.words })
  })

  it('saves unknown equipment as written, and lists it until the map says what it is', async () => {
    const tenant = await newTenant()
    const own = (city: string, code: string) => rowTo(city).replace(',V,', `,${code},`)
    const text =
      header + rowTo('Macon') + own('Rome', 'TARPED') + own('Athens', 'Tarped') + own('Savannah', 'VR')
    const asked = await runImport(tenant, text, { dryRun: true })
    expect(asked).toMatchObject({ rowsRead: 4, rowsAdded: 4, rowsRefused: 0 })
    expect(asked.words).toMatchObject([
      { word: 'TARPED', rows: 2, meaning: null, saved_as: 'TARPED', map: 'equipment:TARPED' },
      { word: 'VR', rows: 1, meaning: null, saved_as: 'VR' },
    ])
    expect(asked.understood.map(({ detail }) => detail)).toContain(
      'equipment: codes that are not known are saved as written, each as an equipment of its own: "TARPED" (2 rows), "VR" (1 row). If one means another equipment, state it in the map, such as equipment:TARPED=V.',
    )
    const map = 'equipment:TARPED=F,equipment:VR=skip'
    const end = await runImport(tenant, text, { map })
    expect(end.words.map(({ word, meaning, saved_as }) => [word, meaning, saved_as])).toEqual([
      ['TARPED', 'F', null],
      ['VR', 'skip', null],
    ])
    expect((await quotesOf(tenant)).map(({ equipment_code }) => equipment_code).sort()).toEqual([
      'F',
      'F',
      'V',
    ])
    const kept = await runImport(await newTenant(), text, { map: 'equipment:TARPED=TARPED,equipment:VR=VR' })
    expect(kept.words.map(({ meaning }) => meaning)).toEqual(['TARPED', 'VR'])
    expect(kept.understood.filter(({ code }) => code === 'words')).toEqual([])
    // A code of one's own that the map states is no question, and words that are refused have a sentence of their own.
    const asOwn = (map: string) => runImport(tenant, header + own('Rome', 'TARPED'), { map, dryRun: true })
    expect((await asOwn('equipment:TARPED=TRP')).words.map(({ word }) => word)).toEqual(['TARPED'])
    expect((await asOwn('equipment==TRP')).words).toEqual([])
    const mixed = header + own('Rome', 'TARPED') + own('Macon', 'Van or Reefer')
    const { understood } = await runImport(tenant, mixed, { dryRun: true })
    expect(understood.filter(({ code }) => code === 'words')).toHaveLength(2)
  })

  it.each([
    [
      'Lost to CHR',
      'are refused, most of them lost: with what remains, the share of quotes won would be 91 %; of all rows whose outcome is known, 40 % are won.',
    ],
    [
      'Dead',
      'are refused, most of them with a status that is not known: with what remains, the share of quotes won would be 91 %.',
    ],
    ['lost', null],
  ])('says what a remainder would do, if the others are %s', async (status, detail) => {
    const rows = (count: number, word: string) =>
      Array.from({ length: count }, (_, nth) => rowTo('Atlanta', 2000 + nth).replace('won', word)).join('')
    const text = header + rows(10, 'won') + rows(1, 'lost') + rows(14, status)
    const { understood } = await runImport(await newTenant(), text, { dryRun: true })
    const said = understood.filter(({ code }) => code === 'refused_rows').map((note) => note.detail)
    expect(said).toEqual(detail === null ? [] : [`14 of 25 rows ${detail}`])
  })

  it('adds nothing when a file is imported twice, and adds both of two equal rows of one file', async () => {
    const tenant = await newTenant()
    const text = header + rowTo('Atlanta') + rowTo('Atlanta') + rowTo('Macon')
    expect(await runImport(tenant, text)).toMatchObject({ rowsAdded: 3, rowsRepeated: 0 })
    expect(await runImport(tenant, text)).toMatchObject({ rowsAdded: 0, rowsRepeated: 3 })
    expect(await countOf(tenant, 'quotes')).toBe(3)
    expect(await countOf(tenant, 'quote_requests')).toBe(3)
  })

  it('recognizes a row by its id in another file, and rejects a row of another lane', async () => {
    const tenant = await newTenant()
    const text = `load id,${header}A,${rowTo('Atlanta')}A,${rowTo('Macon')}A,${rowTo('Atlanta')}`
    const end = await runImport(tenant, text)
    expect(end).toMatchObject({ rowsAdded: 1, rowsRepeated: 1, rowsRefused: 1 })
    expect(end.refused[0]).toMatchObject({
      row: 3,
      column: 'destination',
      detail: expect.stringContaining('as in line 2 that has this load id; it is "Macon, GA"'),
    })
    const other = await runImport(tenant, `load id,${header}A,${rowTo('Savannah')}`)
    expect(other).toMatchObject({ rowsRefused: 1, rowsUpdated: 0, rowsWon: 0 })
    expect(other.refused).toEqual([
      {
        row: 2,
        column: 'destination',
        detail:
          'destination must be "Atlanta, GA", as in the quote that has this load id; it is "Savannah, GA". A quote of another lane needs its own load id.',
      },
    ])
  })

  const loadsHeader = 'Load ID,Customer,Origin,Destination,Equipment,Quoted Rate,Quote Date,Truck Cost\n'
  const loadOf = (id: string, customer: string, rate: number, day: string) =>
    `${id},${customer},"Dallas, TX","Atlanta, GA",V,${rate},${day},\n`

  it('ids shared: asks about a row with the id of a load of another customer and another day', async () => {
    const tenant = await newTenant()
    await runImport(tenant, loadsHeader + loadOf('L-7', 'Acme', 2100, '2026-03-01'))
    const [acme] = await quotesOf(tenant)
    const other = loadsHeader + loadOf('L-7', 'Beta', 2600, '2026-03-05')
    for (const dryRun of [true, false]) {
      const asked = await runImport(tenant, other, { dryRun })
      expect(asked).toMatchObject({
        rowsRead: 1,
        rowsRefused: 1,
        rowsUpdated: 0,
        rowsAdded: 0,
        rowsPending: 0,
      })
      expect(asked.refused).toMatchObject([{ row: 2, column: 'Load ID' }])
      expect(asked.refused[0]?.detail).toContain(
        `"L-7" is the Load ID of the quote ${acme?.lane_ref} ("Acme", `,
      )
      const note = asked.understood.find(({ code }) => code === 'same_ids')
      expect(note?.choices.map(({ map }) => map)).toEqual(['same_ids=update', 'reference='])
    }
    expect(await quotesOf(tenant)).toEqual([acme])
    expect(await runImport(tenant, other, { map: 'same_ids=update', dryRun: true })).toMatchObject({
      rowsUpdated: 1,
    })
    expect(await runImport(tenant, other, { map: 'reference=' })).toMatchObject({ rowsAdded: 1 })
    const corrected = loadsHeader + loadOf('L-7', 'Acme Foods', 2150, '2026-03-03')
    const updated = await runImport(tenant, corrected)
    expect(updated).toMatchObject({ rowsUpdated: 1, rowsRefused: 0 })
    expect(updated.understood.filter(({ code }) => code === 'same_ids')).toEqual([])
    expect(await runImport(tenant, other, { map: 'same_ids=update' })).toMatchObject({ rowsUpdated: 1 })
  })

  it('a check counts the places that are not known, and says what they may mean', async () => {
    const text = header + rowTo('Atlanta') + rowTo('Savanah') + rowTo('Savanah')
    const end = await runImport(await newTenant(), text, { dryRun: true })
    expect(end.understood.filter(({ code }) => code === 'unknown_places')).toMatchObject([
      { detail: '1 place in 2 rows is not known and is stored as written.' },
      { detail: '"Savanah, GA" (line 3 and 1 more row) is not known. Did you mean Savannah, GA?' },
    ])
  })

  it('a value for all rows is a cell of each row: the file with that column repeats the same rows', async () => {
    const tenant = await newTenant()
    const text = header + rowTo('Atlanta') + rowTo('Savannah')
    const without = text.replaceAll(',V,', ',').replace(',equipment,', ',')
    const end = await runImport(tenant, without, { map: 'equipment==V' })
    expect(end).toMatchObject({ rowsAdded: 2, rowsRefused: 0 })
    expect(end.understood).toContainEqual({
      code: 'same_value',
      column: null,
      detail: 'equipment is "V" in all rows, as the map says.',
      choices: [],
    })
    expect(await runImport(tenant, text)).toMatchObject({ rowsAdded: 0, rowsRepeated: 2 })
    expect(await runImport(tenant, without, { map: 'equipment==Van' })).toMatchObject({ rowsRepeated: 2 })
    await expect(runImport(tenant, without, { map: 'equipment==FTL' })).rejects.toThrow('equipment==FTL')
  })

  it('ids not given: each row is a load, and those that an earlier version imported are repeated', async () => {
    const tenant = await newTenant()
    const rows = ['N/A', 'N/A', 'TBD', '#REF!'].map((id, nth) =>
      loadOf(id, `C${nth}`, 2000 + nth, '2026-03-01'),
    )
    const text = loadsHeader + rows.join('')
    const end = await runImport(tenant, text)
    expect(end).toMatchObject({ rowsAdded: 4, rowsRefused: 0 })
    expect(end.understood.filter(({ code }) => code === 'not_given')).toMatchObject([
      {
        code: 'not_given',
        column: 'Load ID',
        detail: 'Load ID: 4 cells were read as empty: "N/A", "TBD", "#REF!".',
      },
    ])
    expect(await runImport(tenant, text)).toMatchObject({ rowsAdded: 0, rowsRepeated: 4 })
    // The identity that earlier versions saved for the first row.
    await database.inTenant(tenant, (transaction) =>
      transaction
        .updateTable('quotes')
        .set({
          import_fingerprint: fingerprintOfId('N/A'),
          import_said: sql<string>`rtrim(translate(encode(substr(import_fingerprint, 1, 16), 'base64'), '+/', '-_'), '=')`,
        })
        .where('tenant_id', '=', tenant)
        .where('quoted_customer_name', '=', 'C0')
        .execute(),
    )
    expect(await runImport(tenant, text)).toMatchObject({ rowsAdded: 0, rowsRepeated: 4 })
    const changed = text.replace('C0', 'C9')
    expect(await runImport(tenant, changed)).toMatchObject({ rowsAdded: 1, rowsRepeated: 3 })
  })

  it('is isolated by tenant: the same file is new to another brokerage', async () => {
    const text = header + rowTo('Atlanta')
    expect(await runImport(await newTenant(), text)).toMatchObject({ rowsAdded: 1 })
    expect(await runImport(await newTenant(), text)).toMatchObject({ rowsAdded: 1 })
  })

  it('a dry run saves nothing but its result', async () => {
    const tenant = await newTenant()
    const text = `${header}${rowTo('Atlanta')}${rowTo('Macon')}"Dallas",x,V,1,2026-03-01,won\n`
    const dry = await runImport(tenant, text, { dryRun: true })
    expect(dry).toMatchObject({ rowsAdded: 2, rowsRefused: 1, status: 'done' })
    expect(await countOf(tenant, 'quote_requests')).toBe(0)
    await runImport(tenant, header + rowTo('Macon'))
    expect(await runImport(tenant, text, { dryRun: true })).toMatchObject({ rowsAdded: 1, rowsRepeated: 1 })
    expect(await importRow(tenant, dry.importId)).toMatchObject({ dry_run: true, rows_added: 2 })
  })

  it('saves the first thousand errors and counts the rest', async () => {
    const tenant = await newTenant()
    const end = await runImport(tenant, header + '"Dallas","Atlanta, GA",V,1,2026-03-01,won\n'.repeat(1_500))
    expect(end).toMatchObject({ rowsRefused: 1_500, rowsAdded: 0 })
    expect(end.refused).toHaveLength(1_500)
    expect((await importRow(tenant, end.importId))?.errors).toHaveLength(1_000)
  })

  it('stops on request, and continues with the same file', async () => {
    const tenant = await newTenant()
    const text = manyRows(2_500)
    const first = await runImport(tenant, text, {
      onBatch: (importId) =>
        database.inTenant(tenant, (transaction) => requestStop(transaction, tenant, importId)),
    })
    expect(first.status).toBe('stopped')
    expect(first.rowsAdded).toBeLessThan(2_500)
    expect(await countOf(tenant, 'quotes')).toBe(first.rowsAdded)
    expect(await importRow(tenant, first.importId)).toMatchObject({
      status: 'stopped',
      rows_added: first.rowsAdded,
    })
    const second = await runImport(tenant, text)
    expect(second).toMatchObject({ status: 'done', rowsRepeated: first.rowsAdded })
    expect(await countOf(tenant, 'quotes')).toBe(2_500)
  })

  it('continues after a database outage, and counts a batch once when its commit was not confirmed', async () => {
    const tenant = await newTenant()
    let calls = 0
    const flaky: Database = {
      ...database,
      async inTenant(of, work) {
        calls++
        // The first call reads the time.
        if (calls === 2) throw new DatabaseUnavailable('gone')
        const result = await database.inTenant(of, work)
        if (calls === 3) throw new DatabaseUnavailable('lost while committing', true)
        return result
      },
    }
    const end = await runImport(tenant, header + rowTo('Atlanta') + rowTo('Macon'), { through: flaky })
    expect(end).toMatchObject({ status: 'done', rowsAdded: 2, rowsRepeated: 0 })
    expect(await countOf(tenant, 'quotes')).toBe(2)
  })

  it('saves one batch at a time, in the order of the file, while it reads the next', async () => {
    const tenant = await newTenant()
    let working = 0
    let workingMost = 0
    const watched: Database = {
      ...database,
      async inTenant(of, work) {
        workingMost = Math.max(workingMost, ++working)
        try {
          return await database.inTenant(of, work)
        } finally {
          await delay(20)
          working--
        }
      },
    }
    const bad = '"Dallas, TX",Nowhere,V,2000,2026-03-01,won\n'
    const text = `${manyRows(1_500)}X,${bad}${manyRows(2_200).slice(manyRows(1_500).length)}X,${bad}`
    const seen: number[] = []
    const end = await runImport(tenant, text, { through: watched, onBatch: () => seen.push(working) })
    expect(end).toMatchObject({ status: 'done', rowsRead: 2_202, rowsAdded: 2_200, rowsRefused: 2 })
    expect(end.refused.map(({ row }) => row)).toEqual([1_502, 2_203])
    expect([workingMost, ...seen]).toEqual([1, 0, 0, 0])
    expect(await countOf(tenant, 'quotes')).toBe(2_200)
  })

  it('saves long rows in smaller batches, because their text is in memory', async () => {
    const batchesOf = async (noteLength: number) => {
      const row = (at: number) => `"Dallas, TX","Waco, TX",V,${900 + at},2026-03-01,${'n'.repeat(noteLength)}`
      let batches = 0
      const { status, rowsAdded } = await runImport(
        await newTenant(),
        [
          'origin,destination,equipment,quoted_rate,quoted_at,note',
          ...Array.from({ length: 200 }, (_, at) => row(at)),
        ].join('\n'),
        { onBatch: () => batches++ },
      )
      expect([status, rowsAdded]).toEqual(['done', 200])
      return batches
    }
    expect(await batchesOf(100)).toBe(1)
    expect(await batchesOf(20_000)).toBe(5)
  })

  it('reports its progress when a batch fails for good, and continues with the same file', async () => {
    const tenant = await newTenant()
    let calls = 0
    const failing: Database = {
      ...database,
      inTenant(of, work) {
        // The first call reads the time, and the fourth saves the third batch. The next call is at the end of the import.
        if (++calls === 4) return Promise.reject(new Error('a fault'))
        return database.inTenant(of, work)
      },
    }
    const text = manyRows(2_500)
    await expect(runImport(tenant, text, { through: failing })).rejects.toThrow('a fault')
    expect(calls).toBe(5)
    expect(await importRow(tenant, 1)).toMatchObject({
      status: 'failed',
      rows_read: 2_000,
      rows_added: 2_000,
    })
    expect(await countOf(tenant, 'quotes')).toBe(2_000)
    expect(await runImport(tenant, text)).toMatchObject({ rowsAdded: 500, rowsRepeated: 2_000 })
  })

  it('adds every row once when two imports of one file run at the same time', async () => {
    const tenant = await newTenant()
    const text = manyRows(1_200)
    const [one, two] = await Promise.all([runImport(tenant, text), runImport(tenant, text)])
    expect(one.rowsAdded + two.rowsAdded).toBe(1_200)
    expect(one.rowsRepeated + two.rowsRepeated).toBe(1_200)
    expect(await countOf(tenant, 'quotes')).toBe(1_200)
    expect(await countOf(tenant, 'quote_requests')).toBe(1_200)
  })

  it('reports an import without heartbeat as stopped', async () => {
    const tenant = await newTenant()
    const file = await openImport([Buffer.from(header)], undefined)
    const row = await database.inTenant(tenant, (transaction) =>
      insertImport(transaction, tenant, {
        file_name: 'a.csv',
        dry_run: false,
        columns: file.columns.names,
        ignoredColumns: [],
        bytes_total: 1,
        created_by: null,
      }),
    )
    expect(await importRow(tenant, row.import_id)).toMatchObject({ status: 'running' })
    await silence(tenant, row.import_id)
    expect(await importRow(tenant, row.import_id)).toMatchObject({
      status: 'stopped',
      failure: expect.stringContaining('again to continue'),
    })
  })
})

describe('a row with a lane_ref', () => {
  async function pendingQuote(tenant: TenantId): Promise<QuoteRow> {
    await runImport(tenant, `${header.replace(',outcome', '')}"Dallas, TX","Atlanta, GA",V,2000,2026-03-01\n`)
    const [quote] = await quotesOf(tenant)
    if (quote === undefined) throw new Error('No lane.')
    return quote
  }

  it('books that quote once, as a change by import', async () => {
    const tenant = await newTenant()
    const quote = await pendingQuote(tenant)
    const text = `lane_ref,AR,AP,Carrier,Book Date\n${quote.lane_ref},2100,1800,Blue Mesa,3/2/2026\n`
    const end = await runImport(tenant, text)
    expect(end).toMatchObject({ rowsUpdated: 1, rowsAdded: 0 })
    expect((await quotesOf(tenant))[0]).toMatchObject({
      outcome: 'won',
      outcome_source: 'import',
      customer_rate_cents: 210000,
      truck_cost_cents: 180000,
      truck_cost_source: 'import',
      carrier_name: 'Blue Mesa',
      decided_at: new Date('2026-03-02T00:00:00Z'),
    })
    const changes = await database.inTenant(tenant, (transaction) =>
      listChanges(transaction, tenant, quote.lane_id),
    )
    expect(changes).toMatchObject([{ source: 'import', after: { customer_rate_cents: 210000 } }])
    expect(await runImport(tenant, text)).toMatchObject({ rowsUpdated: 0, rowsRepeated: 1 })
    expect(await runImport(tenant, text, { dryRun: true })).toMatchObject({ rowsUpdated: 0, rowsRepeated: 1 })
  })

  it('is rejected when no quote of this brokerage has that lane_ref', async () => {
    const stranger = await pendingQuote(await newTenant())
    const end = await runImport(await newTenant(), `lane_ref,AR\n${stranger.lane_ref},2100\n`)
    expect(end).toMatchObject({ rowsRefused: 1, rowsUpdated: 0 })
    expect(end.refused[0]).toMatchObject({
      row: 2,
      column: 'lane_ref',
      detail: expect.stringContaining('no quote was found'),
    })
  })

  it('wins a quote that a person marked lost, and keeps a value that the TMS signed', async () => {
    const tenant = await newTenant()
    const quote = await pendingQuote(tenant)
    const stamp = { sender: 1, signed: 1, effective: 1 }
    await database.inTenant(tenant, (transaction) =>
      changeQuote(
        transaction,
        tenant,
        quote,
        {
          carrier_name: 'Signed Carrier',
          signed_at: { carrierName: [stamp] },
          outcome: 'lost',
          outcome_source: 'dashboard',
          decided_at: new Date(now),
        },
        { source: 'tms' },
        new Date(now),
      ),
    )
    const end = await runImport(tenant, `lane_ref,AR,Carrier\n${quote.lane_ref},2100,Other Carrier\n`)
    expect(end).toMatchObject({ rowsUpdated: 1, rowsRefused: 0, rowsNotApplied: 0 })
    expect(end.kept).toMatchObject([
      { row: 2, column: 'Carrier', file_value: 'Other Carrier', kept_value: 'Signed Carrier' },
    ])
    expect((await quotesOf(tenant))[0]).toMatchObject({
      customer_rate_cents: 210000,
      carrier_name: 'Signed Carrier',
      outcome: 'won',
      outcome_source: 'import',
    })
  })
})

describe('undoing an import', () => {
  it('removes its quotes, has no effect the second time, and a new import adds everything again', async () => {
    const tenant = await newTenant()
    const text = manyRows(1_100)
    const { importId } = await runImport(tenant, text)
    expect(await undo(tenant, importId)).toMatchObject({
      lanes_removed: 1_100,
      lanes_kept: 0,
      lanes_restored: 0,
    })
    expect(await countOf(tenant, 'quote_requests')).toBe(0)
    expect(await undo(tenant, importId)).toMatchObject({
      status: 'undone',
      undo_rows_done: 1_100,
      lanes_removed: 1_100,
    })
    expect(await runImport(tenant, text)).toMatchObject({ rowsAdded: 1_100, rowsRepeated: 0 })
  })

  it('keeps and counts quotes with later changes', async () => {
    const tenant = await newTenant()
    const { importId } = await runImport(tenant, header + rowTo('Atlanta') + rowTo('Macon'))
    const [quote] = await quotesOf(tenant)
    await runImport(tenant, `lane_ref,AR\n${quote?.lane_ref},2100\n`)
    expect(await undo(tenant, importId)).toMatchObject({ lanes_removed: 1, lanes_kept: 1 })
    expect((await quotesOf(tenant)).map(({ lane_ref }) => lane_ref)).toEqual([quote?.lane_ref])
    expect(await countOf(tenant, 'quote_requests')).toBe(1)
  })

  it('rolls its bookings back as new changes, and can be imported again', async () => {
    const tenant = await newTenant()
    await runImport(tenant, `${header.replace(',outcome', '')}"Dallas, TX","Atlanta, GA",V,2000,2026-03-01\n`)
    const [quote] = await quotesOf(tenant)
    const text = `lane_ref,AR,AP\n${quote?.lane_ref},2100,1800\n`
    const { importId } = await runImport(tenant, text)
    expect(await undo(tenant, importId)).toMatchObject({
      lanes_removed: 0,
      lanes_kept: 0,
      lanes_restored: 1,
    })
    expect((await quotesOf(tenant))[0]).toMatchObject({
      outcome: 'pending',
      outcome_source: null,
      customer_rate_cents: null,
      truck_cost_source: null,
    })
    const changes = await database.inTenant(tenant, (transaction) =>
      listChanges(transaction, tenant, quote?.lane_id ?? 0),
    )
    expect(changes.map((change) => change.rolled_back_change)).toEqual([1, null])
    expect(await undo(tenant, importId)).toMatchObject({ lanes_restored: 1 })
    expect(await runImport(tenant, text)).toMatchObject({ rowsUpdated: 1 })
  })

  it('keeps a booking when the quote was changed after it', async () => {
    const tenant = await newTenant()
    await runImport(tenant, `${header.replace(',outcome', '')}"Dallas, TX","Atlanta, GA",V,2000,2026-03-01\n`)
    const [quote] = await quotesOf(tenant)
    const { importId } = await runImport(tenant, `lane_ref,AR\n${quote?.lane_ref},2100\n`)
    await runImport(tenant, `lane_ref,AP\n${quote?.lane_ref},1800\n`)
    expect(await undo(tenant, importId)).toMatchObject({
      lanes_restored: 0,
      lanes_kept: 1,
    })
    expect((await quotesOf(tenant))[0]?.customer_rate_cents).toBe(210000)
  })

  it('continues after any interruption, and processes each quote once', async () => {
    const tenant = await newTenant()
    const [plain] = [header.replace(',outcome', '')]
    const here = Array.from(
      { length: 230 },
      (_, index) => `B${index},"Dallas, TX","Macon, GA",V,2000,2026-03-01\n`,
    )
    await runImport(tenant, `load id,${plain}${here.join('')}`)
    const booked = (await quotesOf(tenant)).map(({ lane_ref }) => `,,,,,,,${lane_ref},2500\n`).join('')
    const { importId } = await runImport(
      tenant,
      `${manyRows(1_200).trimEnd().replaceAll('\n', ',,\n').replace('outcome,,', 'outcome,lane_ref,AR')},,\n${booked}`,
    )
    expect(await importRow(tenant, importId)).toMatchObject({ rows_added: 1_200, rows_updated: 230 })
    let calls = 0
    const failing: Database = {
      ...database,
      async inTenant(of, work) {
        calls++
        // An error of the service, a database outage, and a commit without confirmation.
        if (calls === 1) throw new Error('a fault')
        if (calls === 2) throw new DatabaseUnavailable('gone')
        const result = await database.inTenant(of, work)
        if (calls === 4) throw new DatabaseUnavailable('lost while committing', true)
        return result
      },
    }
    expect(await undo(tenant, importId, failing)).toMatchObject({
      status: 'undone',
      undo_rows_done: 1_430,
      lanes_removed: 1_200,
      lanes_restored: 230,
      lanes_kept: 0,
      failure: null,
    })
    expect(calls).toBeGreaterThan(4)
    const quotes = await quotesOf(tenant)
    expect([quotes.length, quotes.every(({ outcome }) => outcome === 'pending')]).toEqual([230, true])
  })

  it('stays undoing, with the reason, when it cannot continue, and the next attempt completes it', async () => {
    const tenant = await newTenant()
    const { importId } = await runImport(tenant, manyRows(600))
    const job = { tenant, importId, isStopping: () => false }
    await database.inTenant(tenant, (transaction) =>
      beginUndo(transaction, byOperator(tenant, now), importId),
    )
    let calls = 0
    const broken: Database = {
      ...database,
      inTenant: (of, work) =>
        // The first batch succeeds. Every attempt of the second one fails. The next call records the failure.
        ++calls > 1 && calls < 8 ? Promise.reject(new Error('a fault')) : database.inTenant(of, work),
    }
    await expect(undoImport(broken, job)).rejects.toThrow('a fault')
    expect(await importRow(tenant, importId)).toMatchObject({
      status: 'undoing',
      undo_rows_done: 500,
      failure: expect.stringContaining('The undo is paused'),
    })
    expect(await undo(tenant, importId)).toMatchObject({
      status: 'undone',
      lanes_removed: 600,
      failure: null,
    })
  })
})

describe('the command', { tags: 'long' }, () => {
  const program = fileURLToPath(new URL('../operations/import-main.ts', import.meta.url))

  function command(words: string[]) {
    const child = spawn(process.execPath, [program, ...words], {
      env: {
        ...process.env,
        DATABASE_URL: testing.serviceUrl,
        MIGRATION_DATABASE_URL: testing.ownerUrl,
        LANEWISE_SECRET_KEY: randomBytes(32).toString('base64'),
      },
    })
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.stderr.on('data', (text) => (output += text))
    const ended = new Promise<{ code: number | null; output: string }>((done) =>
      child.on('close', (code) => done({ code, output })),
    )
    return { child, ended }
  }

  async function inFolder(work: (folder: string) => Promise<void>) {
    const folder = await mkdtemp(join(tmpdir(), 'lanewise-import-'))
    try {
      await work(folder)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  it('loses and repeats no row when it is killed and run again', () =>
    inFolder(async (folder) => {
      const tenant = await newTenant('Killed Brokers')
      const path = join(folder, 'loads.csv')
      await writeFile(path, manyRows(5_000))
      const killed = command([path, '--tenant', 'killed brokers'])
      while ((await countOf(tenant, 'quotes')) === 0) await delay(20)
      killed.child.kill('SIGKILL')
      await killed.ended
      const before = await countOf(tenant, 'quotes')
      expect(before).toBeLessThan(5_000)
      expect(await countOf(tenant, 'quote_requests')).toBe(before)
      const refused = await command([path, '--tenant', String(tenant)]).ended
      expect(refused).toMatchObject({
        code: 1,
        output: expect.stringContaining('Import 1 (loads.csv) is still'),
      })
      await silence(tenant, 1)
      const { code, output } = await command([path, '--tenant', String(tenant)]).ended
      expect(output).toContain(`${(5_000 - before).toLocaleString('en-US')} quotes added`)
      expect(code).toBe(0)
      expect(await countOf(tenant, 'quotes')).toBe(5_000)
    }))

  it('prints the words that are not known with their pairs, and what a remainder would do', () =>
    inFolder(async (folder) => {
      const tenant = await newTenant('Wordy Brokers')
      const path = join(folder, 'loads.csv')
      const rows = (count: number, word: string, from: number) =>
        Array.from({ length: count }, (_, nth) => rowTo('Atlanta', from + nth).replace('won', word)).join('')
      await writeFile(
        path,
        header + rows(10, 'won', 2000) + rows(1, 'lost', 2100) + rows(14, 'Lost to CHR', 2200),
      )
      const { output } = await command([path, '--tenant', String(tenant), '--dry-run']).ended
      expect(output).toContain("--map 'outcome:Lost to CHR=lost': 14 rows")
      expect(output).toContain('14 of 25 rows are refused, most of them lost: with what remains')
    }))

  it('stops at Ctrl-C after the current rows, and says how to continue', () =>
    inFolder(async (folder) => {
      const tenant = await newTenant('Patient Brokers')
      const path = join(folder, 'loads.csv')
      await writeFile(path, manyRows(5_000))
      // The last of the rows waits until the signal was sent.
      const holder = new pg.Client(testing.owner)
      await holder.connect()
      await holder.query(`select pg_advisory_lock(1);
        create function wait_for_holder() returns trigger language plpgsql as
          'begin perform pg_advisory_xact_lock_shared(1); return new; end';
        create trigger wait_for_holder before insert on quotes for each row
          when (new.tenant_id = ${tenant} and new.quoted_rate_cents = 599900) execute function wait_for_holder()`)
      const stopped = command([path, '--tenant', 'Patient Brokers'])
      await expect.poll(() => countOf(tenant, 'quotes')).toBeGreaterThan(0)
      stopped.child.kill('SIGINT')
      await holder.query(
        'select pg_advisory_unlock(1); drop trigger wait_for_holder on quotes; drop function wait_for_holder()',
      )
      await holder.end()
      const { code, output } = await stopped.ended
      expect(code).toBe(130)
      expect(output).toContain('Import the file again to continue where it stopped')
      expect((await importRow(tenant, 1))?.status).toBe('stopped')
    }))

  it('a killed undo is resumed by the next service that starts, and blocks imports until then', () =>
    inFolder(async (folder) => {
      const tenant = await newTenant('Undone Brokers')
      const path = join(folder, 'loads.csv')
      const text = manyRows(5_000)
      await writeFile(path, text)
      const { importId } = await runImport(tenant, text)
      const killed = command(['--undo', String(importId), '--tenant', 'Undone Brokers'])
      while ((await countOf(tenant, 'quotes')) === 5_000) await delay(5)
      killed.child.kill('SIGKILL')
      await killed.ended
      const left = await countOf(tenant, 'quotes')
      expect(left).toBeGreaterThan(0)
      expect(await importRow(tenant, importId)).toMatchObject({
        status: 'undoing',
        undo_rows_done: 5_000 - left,
      })
      const refused = await command([path, '--tenant', 'Undone Brokers']).ended
      expect(refused.code).toBe(1)
      expect(refused.output).toContain(`Import ${importId} (quotes.csv) is being undone`)
      await silence(tenant, importId)
      const service = await appOn(testing, { resumeUndosEveryMs: 20 })
      await expect.poll(async () => (await importRow(tenant, importId))?.status).toBe('undone')
      await service.close()
      expect(await importRow(tenant, importId)).toMatchObject({ lanes_removed: 5_000, lanes_kept: 0 })
      expect(await countOf(tenant, 'quotes')).toBe(0)
    }))

  it('stops an undo at Ctrl-C, and continues when it is run again', () =>
    inFolder(async () => {
      const tenant = await newTenant('Pausing Brokers')
      const { importId } = await runImport(tenant, manyRows(5_000))
      const undoing = ['--undo', String(importId), '--tenant', 'Pausing Brokers']
      const stopped = command(undoing)
      while ((await countOf(tenant, 'quotes')) === 5_000) await delay(5)
      stopped.child.kill('SIGINT')
      const first = await stopped.ended
      expect(first.code).toBe(130)
      expect(first.output).toContain('not fully undone yet')
      expect(await countOf(tenant, 'quotes')).toBeGreaterThan(0)
      const second = await command(undoing).ended
      expect(second).toMatchObject({ code: 0, output: expect.stringContaining('5,000 quotes removed') })
      expect(await countOf(tenant, 'quotes')).toBe(0)
    }))

  it('prints rejected rows, writes them to a file, lists and undoes imports', () =>
    inFolder(async (folder) => {
      await newTenant('Listing Brokers')
      const path = join(folder, 'loads.csv')
      const errors = join(folder, 'errors.csv')
      const row = rowTo('Atlanta').replace('2026-03-01', '3/1/2026')
      await writeFile(path, `${header}${row}"=cmd, TX","Macon, GA",V,x,2026-03-01,won\n`)
      const first = await command([path, '--tenant', 'Listing Brokers', '--errors', errors]).ended
      expect(first.code).toBe(0)
      expect(first.output).toContain(
        'quoted_at: month first, so 3/1/2026 is March 1, 2026.\n  --map "dates=day_first": Day first: 3 January 2026',
      )
      expect(first.output).toContain('line 3, quoted_rate: quoted_rate must be an amount of dollars')
      expect(await readFile(errors, 'utf8')).toContain('3,"quoted_rate","quoted_rate must be')
      expect((await command(['--list', '--tenant', 'Listing Brokers']).ended).output).toContain('1 added')
      const undone = await command(['--undo', '1', '--tenant', 'Listing Brokers']).ended
      expect(undone.output).toContain('1 quote removed')
      const missing = await command(['--undo', '9', '--tenant', 'Listing Brokers']).ended
      expect(missing).toMatchObject({ code: 1, output: expect.stringContaining('has no import 9') })
    }))

  it('exits with 2 for wrong usage, with 1 for an invalid file, and lists the brokerages when none is named', () =>
    inFolder(async (folder) => {
      await Promise.all([newTenant('One Brokers'), newTenant('Other Brokers')])
      const path = join(folder, 'loads.csv')
      await writeFile(path, `Orgin,destination,equipment,Rate,quoted_at\n`)
      expect(await command(['--colour']).ended).toMatchObject({
        code: 2,
        output: expect.stringContaining('--help'),
      })
      expect(await command([]).ended).toMatchObject({
        code: 2,
        output: expect.stringContaining('Name the file'),
      })
      expect(await command([join(folder, 'no.csv')]).ended).toMatchObject({
        code: 1,
        output: expect.stringContaining('there is no such file'),
      })
      const wrong = await command([path, '--tenant', 'One Brokers']).ended
      expect(wrong.code).toBe(1)
      expect(wrong.output).toContain('line 1: No column has the place of pickup')
      expect(wrong.output).toContain('quoted_rate=Rate')
      const unnamed = await command(['--list']).ended
      expect(unnamed.code).toBe(1)
      expect(unnamed.output).toMatch(/One Brokers {2}\(\d+\)/)
    }))
})

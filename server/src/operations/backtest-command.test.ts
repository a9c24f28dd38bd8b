/** @module-tag long */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quotesFile } from '#testing/quotes-file.ts'
import { type TestDatabase, testDatabase } from '#testing/test-database.ts'
import { testDeadlines } from '#testing/test-deadlines.ts'
import { insertImport } from '../database/queries/index.ts'
import { type Database, openDatabase, tenantId } from '../database/session/index.ts'
import { importFile, openImport } from '../imports/index.ts'
import { readBacktestCommand } from './backtest-command.ts'
import { UsageError } from './import-command-line.ts'

let testing: TestDatabase
let database: Database
const now = Date.now()

beforeAll(async () => {
  testing = await testDatabase()
  database = await openDatabase({ connection: testing.service, deadlines: testDeadlines })
  await brokerage(1, 'Full Trucks', quotesFile({ seed: 5, quotes: 420, until: now, hours: 4 }))
  await brokerage(2, 'New Trucks', quotesFile({ seed: 6, quotes: 12, until: now, hours: 4 }))
})

afterAll(async () => {
  await database.close()
  await testing.drop()
})

async function brokerage(number: number, name: string, csv: string): Promise<void> {
  const tenant = tenantId(number)
  const at = new Date(now)
  const file = await openImport([Buffer.from(csv)], undefined)
  const row = await database.inTenant(tenant, async (transaction) => {
    await transaction.insertInto('tenants').values({ tenant_id: tenant, name, created_at: at }).execute()
    return insertImport(transaction, tenant, {
      file_name: 'quotes.csv',
      dry_run: false,
      columns: file.columns.names,
      ignoredColumns: [],
      bytes_total: file.csv.bytesTotal,
      created_by: null,
    })
  })
  const end = await importFile(database, {
    tenant,
    importId: row.import_id,
    createdBy: null,
    file,
    dryRun: false,
    isStopping: () => false,
  })
  expect(end).toMatchObject({ status: 'done', rowsRefused: 0 })
}

const program = fileURLToPath(new URL('./backtest-main.ts', import.meta.url))

/** Runs the command in its own process. */
function runBacktest(words: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program, ...words], {
    env: {
      ...process.env,
      DATABASE_URL: testing.serviceUrl,
      MIGRATION_DATABASE_URL: testing.ownerUrl,
      LANEWISE_SECRET_KEY: randomBytes(32).toString('base64'),
      ...env,
    },
  })
  let output = ''
  let remarks = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  child.stderr.on('data', (text) => {
    remarks += text
  })
  return new Promise<{ code: number | null; output: string; remarks: string }>((done) =>
    child.on('close', (code) => done({ code, output, remarks })),
  )
}

describe('npm run backtest', () => {
  it('shows progress, the estimate against simple rules, calibration, and dollars', async () => {
    const { code, output, remarks } = await runBacktest(['--tenant', 'full trucks'])
    expect(remarks).toContain('Testing the estimate on 420 quotes of Full Trucks.')
    expect(remarks).toContain('100 %')
    expect(output).toMatch(/^Backtest of Full Trucks, \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d\n/)
    for (const forecaster of [
      'calibrated estimate',
      "lane's win rate",
      'overall',
      'literal',
      'share of quotes won',
    ]) {
      expect(output).toMatch(new RegExp(`^ {2}${forecaster}.*\\d\\.\\d{3} .*\\d\\.\\d{4}`, 'm'))
    }
    expect(output.match(/^ +\d+\.\d % +\d+\.\d % +\d+$/gm)).toHaveLength(10)
    expect(output).toMatch(/difference, estimated +-?\$[\d,]+\n {2}80 % range of the difference: /)
    expect(output).toContain('an estimate by the model itself, not an experiment')
    expect(code).toBe(0)
  })

  it('reports too few quotes, also for a brokerage named by its id', async () => {
    expect(await runBacktest(['--tenant', '2'])).toMatchObject({
      code: 3,
      output:
        'New Trucks: There are too few quotes to test the estimate on: 12 decided quotes, and 200 are needed.\n',
    })
  })

  it('asks for a brokerage, and lists the existing ones', async () => {
    const { code, remarks } = await runBacktest([])
    expect(code).toBe(1)
    expect(remarks).toBe('Name the brokerage with --tenant:\n  Full Trucks  (1)\n  New Trucks  (2)\n')
  })

  it('prints its help without a database, and rejects unknown arguments', async () => {
    const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    const help = await runBacktest(['--help'], nowhere)
    expect(help.code).toBe(0)
    expect(help.output).toContain('--tenant')
    const wrong = await runBacktest(['--tenent', 'x'], nowhere)
    expect(wrong.code).toBe(2)
    expect(wrong.remarks).toContain('npm run backtest -- --help')
    expect((await runBacktest(['--tenant', '1'], nowhere)).code).toBe(1)
  })
})

it('tests the last 180 days unless another number of days is named', () => {
  expect(readBacktestCommand([])).toEqual({ kind: 'backtest', tenant: undefined, windowDays: 180 })
  expect(readBacktestCommand(['--days', '90'])).toMatchObject({ windowDays: 90 })
  for (const days of ['29', '601', 'x', '']) {
    expect(() => readBacktestCommand(['--days', days])).toThrow(UsageError)
  }
})

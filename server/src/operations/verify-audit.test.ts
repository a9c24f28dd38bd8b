import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { asTableOwner } from '#testing/as-table-owner.ts'
import { call, type MadeTenant, makeServiceToken, makeTenant } from '#testing/make.ts'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { auditHeads } from '../audit/index.ts'
import { serviceLog } from '../watching/index.ts'
import { readLoggedHeads, verifyAuditLogs } from './verify-audit.ts'

let app: TestApp
/** A person with write access to every table. */
let owner: pg.Client
const folder = mkdtempSync(join(tmpdir(), 'lanewise-audit-'))
const logFile = join(folder, 'service.log')

beforeAll(async () => {
  app = await testApp()
  owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Writes the service's log lines about audit logs into a file, as `npm start > service.log` does. */
async function logHeads(): Promise<void> {
  const lines: string[] = ['{"level":"info","msg":"request"}\n', 'not a line of ours\n']
  const log = serviceLog('info', { write: (line) => lines.push(line) })
  await auditHeads({ database: app.database, log }).drain()
  writeFileSync(logFile, lines.join(''))
}

/** A brokerage with ten rows in its audit log. */
async function tenantWithRows(): Promise<MadeTenant> {
  const tenant = await makeTenant(app)
  for (let made = 0; made < 9; made++) await makeServiceToken(app, tenant.owner)
  return tenant
}

/** Changes that a person with write access to every table could make. */
async function tamper(tenant: MadeTenant, ...statements: string[]): Promise<void> {
  await asTableOwner(owner, tenant.id, async () => {
    for (const statement of statements) await owner.query(statement)
  })
}

/** The command's result for a brokerage's audit log. `isAlone`: the command verifies only this log, not those of all brokerages. */
async function verified(tenant: MadeTenant, file?: string, isAlone = true): Promise<string> {
  const { serviceUrl: databaseUrl, ownerUrl: migrationDatabaseUrl } = app.testDatabase
  const around = {
    config: { databaseUrl, migrationDatabaseUrl, dataDirectory: '/nowhere', deadlineFactor: 30 },
    remark: () => {},
  }
  const heads = file === undefined ? new Map() : await readLoggedHeads(file)
  const logs = await verifyAuditLogs(around, { named: isAlone ? String(tenant.id) : undefined, heads })
  const mine = logs.filter(({ line }) => line.includes(`(${tenant.id}):`))
  expect(mine).toHaveLength(1)
  expect(mine[0]?.unbroken).toBe(mine[0]?.line.includes('unbroken'))
  return mine[0]?.line.split(': ')[1]?.split(';')[0] ?? ''
}

/** The SQLSTATE with which the service's own role is refused a statement. */
async function refusedTo(statement: string): Promise<string | undefined> {
  const client = new pg.Client(app.testDatabase.service)
  await client.connect()
  try {
    await client.query(statement)
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  } finally {
    await client.end()
  }
}

test.each([
  "update audit_log set kind = 'signed-in'",
  'delete from audit_log',
  'truncate audit_log',
  'drop table audit_log',
])('the service itself cannot: %s', async (statement) => {
  expect(await refusedTo(statement)).toBe('42501')
})

describe('the verifier', () => {
  test('reports an unchanged log as intact, with and without the logged heads', async () => {
    const tenant = await tenantWithRows()
    expect(await verified(tenant)).toBe('10 rows, unbroken')
    await logHeads()
    // The command verifies all brokerages if none is named.
    expect(await verified(tenant, logFile, false)).toBe('10 rows, unbroken')
    await makeServiceToken(app, tenant.owner)
    expect(await verified(tenant, logFile)).toBe('11 rows, unbroken')
  })

  test('concurrent rows of two brokerages make two intact chains', async () => {
    const tenants = await Promise.all([makeTenant(app), makeTenant(app)])
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => makeServiceToken(app, tenants[index % 2]?.owner ?? '')),
    )
    for (const tenant of tenants) expect(await verified(tenant, undefined, false)).toBe('16 rows, unbroken')
  })

  let changed: MadeTenant
  beforeAll(async () => {
    changed = await tenantWithRows()
    await tamper(changed, 'create temporary table true_row as select * from audit_log where entry_number = 4')
  })

  test.each([
    [
      'one byte of what it is about',
      `update audit_log set about = replace(about, '"test"', '"tesu"') where entry_number = 4`,
    ],
    ['the kind', `update audit_log set kind = 'token-revoked' where entry_number = 4`],
    [
      'the time, by a microsecond',
      `update audit_log set at = at + interval '1 microsecond' where entry_number = 4`,
    ],
    ['who did it', `update audit_log set user_id = null where entry_number = 4`],
    ['from where', `update audit_log set network = '192.0.2.8' where entry_number = 4`],
    ['the count', `update audit_log set count = 2 where entry_number = 4`],
    [
      'one bit of the hash',
      `update audit_log set hash = set_bit(hash, 7, 1 - get_bit(hash, 7)) where entry_number = 4`,
    ],
  ])('names the row with a changed %s', async (_what, statement) => {
    await tamper(changed, statement)
    expect(await verified(changed)).toBe('row 4 was changed after it was written')
    await tamper(
      changed,
      'delete from audit_log where entry_number = 4',
      'insert into audit_log select * from true_row',
    )
    expect(await verified(changed)).toBe('10 rows, unbroken')
  })

  test('names a row that was deleted', async () => {
    const tenant = await tenantWithRows()
    await tamper(tenant, 'delete from audit_log where entry_number = 4')
    expect(await verified(tenant)).toBe('row 4 is missing')
  })

  test('names the first row after a deleted one when the later rows were renumbered', async () => {
    const tenant = await tenantWithRows()
    await tamper(
      tenant,
      'delete from audit_log where entry_number = 4',
      ...[5, 6, 7, 8, 9, 10].map(
        (entry) => `update audit_log set entry_number = ${entry - 1} where entry_number = ${entry}`,
      ),
      `update tenant_counters set last_number = 9 where counter = 'audit'`,
    )
    expect(await verified(tenant)).toBe('row 4 was changed after it was written')
  })

  test('reports rows removed from the end', async () => {
    const tenant = await tenantWithRows()
    await tamper(tenant, 'delete from audit_log where entry_number >= 8')
    expect(await verified(tenant)).toBe('row 8 is missing, and all up to 10')
  })

  test('detects a concealed truncation from the logged heads only', async () => {
    const tenant = await tenantWithRows()
    await logHeads()
    await tamper(
      tenant,
      'delete from audit_log where entry_number >= 8',
      `update tenant_counters set last_number = 7 where counter = 'audit'`,
    )
    expect(await verified(tenant)).toBe('7 rows, unbroken')
    expect(await verified(tenant, logFile)).toBe('row 8 is missing, and all up to 10')
    // The service adds rows after the truncation, so that all numbers exist again.
    for (let made = 0; made < 3; made++) await makeServiceToken(app, tenant.owner)
    expect(await verified(tenant)).toBe('10 rows, unbroken')
    expect(await verified(tenant, logFile)).toBe('row 10 is not the one that the service logged')
  })

  test('detects a log that is gone completely', async () => {
    const tenant = await tenantWithRows()
    await logHeads()
    await tamper(tenant, 'delete from audit_log', `delete from tenant_counters where counter = 'audit'`)
    expect(await verified(tenant, logFile)).toBe('row 1 is missing, and all up to 10')
  })
})

test('the service logs the newest rows every hour', async () => {
  const tenant = await makeTenant(app)
  const lines: string[] = []
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const log = serviceLog('info', { write: (line) => lines.push(line) })
    const heads = auditHeads({ database: app.database, log })
    const mine = () => lines.filter((line) => line.includes(`"tenant":${tenant.id},`)).length
    vi.advanceTimersByTime(3_599_000)
    expect(mine()).toBe(0)
    vi.advanceTimersByTime(1_000)
    expect(mine()).toBe(1)
    await heads.drain()
    expect(mine()).toBe(1)
  } finally {
    vi.useRealTimers()
  }
})

test('the newest row of a log is logged once, after its commit', async () => {
  const tenant = await makeTenant(app)
  app.database.takeAuditHeads()
  await makeServiceToken(app, tenant.owner)
  await makeServiceToken(app, tenant.owner)
  // This call is refused after its transaction has begun, so it commits nothing.
  const twice = { name: 'Sam', email: tenant.email, role: 'member' }
  expect((await call(app, 'POST', '/api/users', { token: tenant.owner, body: twice })).status).toBe(409)
  const mine = () => app.database.takeAuditHeads().filter((head) => head.tenant === tenant.id)
  expect(mine().map(({ entry }) => entry)).toEqual([3])
  expect(mine()).toEqual([])
})

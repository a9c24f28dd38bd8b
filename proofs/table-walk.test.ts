import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '#testing/test-app.ts'
import { idsOf } from './seeded-ids.ts'
import { canaryOf, type SeededTenants, seededTenants } from './seeded-tenants.ts'

/** Text columns that accept only certain values, so they cannot contain a canary. */
const withoutCanary = [
  'approvals.counter_cents',
  'approvals.state',
  'daily_counts.counter',
  'event_deliveries.state',
  'event_endpoints.disabled_reason',
  'event_endpoints.state',
  'expiry_notices.credential',
  'imports.status',
  'quote_changes.rule',
  'quote_changes.source',
  'quotes.customer_basis',
  'quotes.customer_currency',
  'quotes.expected_basis',
  'quotes.outcome',
  'quotes.outcome_reason',
  'quotes.outcome_source',
  'quotes.quoted_basis',
  'quotes.quoted_currency',
  'quotes.mode',
  'quotes.rate_type',
  'quotes.truck_basis',
  'quotes.truck_currency',
  'quotes.truck_cost_source',
  'market_rates.basis',
  'market_rates.kind',
  'market_rates.currency',
  'market_rates.entered_by',
  'market_rates.scope',
  'market_rates.source',
  'tenants.default_basis',
  'tenants.default_rate_type',
  'tenants.integration_pool',
  'tenants.date_order',
  'tenants.status',
  'tenants.time_zone',
  'tenants.win_probability_method',
  'users.role',
  'users.status',
]

let app: TestApp
let tenants: SeededTenants
/** A connection of the service role, for queries with mistakes. */
let service: pg.Client

const [a, b] = [idsOf('A'), idsOf('B')]

beforeAll(async () => {
  app = await testApp()
  tenants = await seededTenants(app)
  await tenants.seed('A')
  await tenants.seed('B')
  service = new pg.Client(app.testDatabase.service)
  await service.connect()
})
afterAll(async () => {
  await service.end()
  await tenants.close()
  await app.close()
})

/** Runs `work` in a transaction of a tenant, or of none, and rolls it back. */
async function within<T>(tenant: number | null, work: () => Promise<T>): Promise<T> {
  await service.query('begin')
  try {
    if (tenant !== null) await service.query(`select set_config('app.tenant_id', '${tenant}', true)`)
    return await work()
  } finally {
    await service.query('rollback')
  }
}

/** Returns the SQLSTATE with which a statement fails, or null if it succeeds. */
const sqlStateOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: { code?: string }) => error.code ?? 'no state',
  )

async function countsOf(where = 'true'): Promise<Record<string, number>> {
  const { rows } = await service.query<{ name: string; rows: number }>(
    tenants.tables
      .map((table) => `select '${table}' as name, count(*)::int as rows from ${table} where ${where}`)
      .join(' union all '),
  )
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]))
}
const none = () => Object.fromEntries(tenants.tables.map((table) => [table, 0]))

test('each brokerage has a row in every table, with a canary in every free-text column', async () => {
  for (const label of ['A', 'B'] as const) {
    const owner = tenants.asOwner(label)
    const without: string[] = []
    for (const table of tenants.tables) {
      const texts = tenants.columns.filter(
        ({ table: of, type }) => of === table && (type === 'text' || type === 'jsonb'),
      )
      const { rows } = await owner.query<Record<string, unknown>>(
        `select * from ${table} where tenant_id = $1`,
        [idsOf(label).tenant],
      )
      expect(rows.length, table).toBeGreaterThan(0)
      for (const { name } of texts) {
        const hasCanary = rows.some((row) =>
          JSON.stringify(row[name] ?? '').includes(`${canaryOf(label)}${table}-${name}`),
        )
        if (!hasCanary) without.push(`${table}.${name}`)
      }
    }
    // Without a canary: the rule of a fuel period and the forecast contain numbers, signed_at contains times by field name, and
    // outcome_before_booking contains an outcome.
    expect(without.sort()).toEqual(
      [
        ...withoutCanary,
        'fuel_periods.rule',
        'quotes.signed_at',
        'quotes.outcome_before_booking',
        'quotes.forecast',
      ].sort(),
    )
  }
})

describe('in a transaction of A', () => {
  test('only rows of A are visible', async () => {
    const { everything, own } = await within(a.tenant, async () => ({
      everything: await countsOf(),
      own: await countsOf(`tenant_id = ${a.tenant}`),
    }))
    expect(everything).toEqual(own)
    for (const [table, count] of Object.entries(own)) expect(count, table).toBeGreaterThan(0)
    expect(await within(a.tenant, () => countsOf(`tenant_id = ${b.tenant}`))).toEqual(none())
  })

  test('no row of B can be changed, deleted or locked by its key', async () => {
    const before = await tenants.checksum('B')
    for (const table of tenants.tables) {
      const of = `from ${table} where tenant_id = ${b.tenant}`
      // With 42501 the role lacks the privilege, so the statement changes nothing either.
      for (const statement of [
        `update ${table} set tenant_id = tenant_id where tenant_id = ${b.tenant}`,
        `delete ${of}`,
        `select ${of} for update`,
      ]) {
        const done = await within(a.tenant, () =>
          service.query(statement).then(
            ({ rowCount }) => rowCount,
            (error: { code?: string }) => error.code,
          ),
        )
        expect([0, '42501'], `${statement}: ${done}`).toContain(done)
      }
    }
    expect(await tenants.checksum('B')).toBe(before)
  })

  test('no row can be inserted for B, and no row of A can be moved to B', async () => {
    for (const table of tenants.tables) {
      const names = tenants.columns.filter(({ table: of }) => of === table).map(({ name }) => `"${name}"`)
      const values = names.map((name) => (name === '"tenant_id"' ? String(b.tenant) : name))
      const copy = `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${table} limit 1`
      expect(await sqlStateOf(within(a.tenant, () => service.query(copy))), table).toBe('42501')
      const move = `update ${table} set tenant_id = ${b.tenant} where tenant_id = ${a.tenant}`
      expect(await sqlStateOf(within(a.tenant, () => service.query(move))), table).toBe('42501')
    }
  })

  test('no table can be truncated', async () => {
    for (const table of tenants.tables) {
      expect(
        await sqlStateOf(within(a.tenant, () => service.query(`truncate ${table} cascade`))),
        table,
      ).toBe('42501')
    }
  })
})

test('no row of A can reference a row of B, through any foreign key', async () => {
  const owner = tenants.asOwner('A')
  const { rows: keys } = await owner.query<{
    child: string
    parent: string
    columns: string[]
    referenced: string[]
  }>(`
    select k.conrelid::regclass::text as child, k.confrelid::regclass::text as parent,
      array(select a.attname::text from unnest(k.conkey) with ordinality c (n, at)
            join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.n order by c.at) as columns,
      array(select a.attname::text from unnest(k.confkey) with ordinality c (n, at)
            join pg_attribute a on a.attrelid = k.confrelid and a.attnum = c.n order by c.at) as referenced
    from pg_constraint k where k.contype = 'f' and k.connamespace = 'public'::regnamespace`)
  expect(keys.length).toBeGreaterThan(10)
  for (const { child, parent, columns, referenced } of keys) {
    const pointing = columns.filter((name) => name !== 'tenant_id')
    // A key that consists of tenant_id alone references the tenant itself, which was tested above.
    if (pointing.length === 0) continue
    // The change refers to B's last row, because the first quote has the same number in both brokerages.
    const last = referenced.map((name) => `"${name}" desc`).join(', ')
    const { rows } = await tenants
      .asOwner('B')
      .query<Record<string, string>>(
        `select * from ${parent} where tenant_id = ${b.tenant} order by ${last} limit 1`,
      )
    const sets = pointing.map((name) => `"${name}" = '${rows[0]?.[referenced[columns.indexOf(name)] ?? '']}'`)
    // The owner of the tables makes the change, because only the constraint can stop it.
    const state = await sqlStateOf(
      owner.query(`update ${child} set ${sets.join(', ')} where tenant_id = ${a.tenant}`),
    )
    expect(state, `${child} (${columns.join(', ')})`).toMatch(/^2350[35]$/)
  }
})

describe('without a tenant no rows are visible', () => {
  test('in a transaction without a tenant', async () => {
    expect(await within(null, () => countsOf())).toEqual(none())
  })

  test('on the same connection after a commit, a rollback and an error', async () => {
    const setA = `select set_config('app.tenant_id', '${a.tenant}', true)`
    await service.query('begin')
    await service.query(setA)
    await service.query('commit')
    expect(await countsOf()).toEqual(none())
    await service.query('begin')
    await service.query(setA)
    await service.query('rollback')
    expect(await countsOf()).toEqual(none())
    await service.query('begin')
    await service.query(setA)
    expect(await sqlStateOf(service.query('select 1 / 0'))).toBe('22012')
    await service.query('rollback')
    expect(await countsOf()).toEqual(none())
  })

  test('and a tenant that is not a number is an error', async () => {
    await service.query('begin')
    await service.query(`select set_config('app.tenant_id', 'all', true)`)
    expect(await sqlStateOf(countsOf())).toBe('22P02')
    await service.query('rollback')
  })
})

test('seededTenants() refuses an unknown table, so that no test can leave out a new table', async () => {
  const owner = tenants.asOwner('A')
  await owner.query('create table newcomers (tenant_id integer not null, name text not null)')
  try {
    await expect(seededTenants(app)).rejects.toThrow('no test rows for the table newcomers')
  } finally {
    await owner.query('drop table newcomers')
  }
})

describe('a planted fault is found', () => {
  test('a tenant set for the session is still set after the transaction', async () => {
    const leaky = new pg.Client(app.testDatabase.service)
    await leaky.connect()
    try {
      await leaky.query('begin')
      await leaky.query(`select set_config('app.tenant_id', '${b.tenant}', false)`)
      await leaky.query('commit')
      const { rows } = await leaky.query<{ count: number }>('select count(*)::int as count from quotes')
      expect(rows[0]?.count).toBeGreaterThan(0)
    } finally {
      await leaky.end()
    }
  })

  test('a table without row-level security shows rows of B to A', async () => {
    const owner = tenants.asOwner('A')
    await owner.query('alter table users disable row level security')
    try {
      const seen = await within(a.tenant, () => countsOf(`tenant_id = ${b.tenant}`))
      expect(seen.users).toBeGreaterThan(0)
    } finally {
      await owner.query('alter table users enable row level security')
    }
  })
})

import { createHash } from 'node:crypto'
import pg from 'pg'
import { tokenScopeNames } from '#contract/token-scopes.ts'
import type { RecordedForecast } from '#engine/recorded-forecast.ts'
import { secretPlace } from '#server/access/index.ts'
import { tablesWithoutTenant } from '#server/database/schema/index.ts'
import { hashPassword, seal } from '#server/security/index.ts'
import type { TestApp } from '#testing/app-on-database.ts'
import { type Column, columnsOf } from './seeded-columns.ts'
import { customerRowsOf } from './seeded-customers.ts'
import { eventRowsOf } from './seeded-events.ts'
import { fuelRowsOf, marketRateRowsOf } from './seeded-fuel.ts'
import {
  bases,
  idsOf,
  invitationSecret,
  jtiOf,
  type Label,
  seededDay,
  seededListSettings,
  seededNetwork,
  sessionOf,
  type TenantIds,
  tenantIdOf,
  uuidOf,
} from './seeded-ids.ts'
import { approvalOf, pricingRulesOf } from './seeded-rules.ts'

/**
 * Two brokerages, A and B, with rows in every table, for tests of tenant isolation. Every free-text column contains a canary,
 * `CANARY-<A or B>-<table>-<column>`, and the two use different numbers, so that data in the wrong place can be recognized.
 */

type Value = string | number | boolean | Date | Buffer | null
type Row = Readonly<Record<string, Value>>
export const canaryOf = (label: Label) => `CANARY-${label}-`
export const password = 'correct horse battery staple'

const forecastAt = (at: Date): RecordedForecast => ({
  made_at: at.toISOString(),
  win_probability: 0.5,
  low: 0.4,
  high: 0.6,
  cost: null,
  cost_from: null,
  going_rate: null,
  best_rate: null,
  lane_win_rate: 0.5,
  quoted_as: '1800',
  model: null,
})

export const signingSecretOf = (label: Label) => `lwsec_of_brokerage_${label}`

/** The digest of the signed request that began the seeded import. */
export function importRequestOf({ import: importId }: Pick<TenantIds, 'import'>): Buffer {
  return createHash('sha256').update(`import ${importId}`).digest()
}

/** The body of the shipment update that each brokerage has already sent. */
export const updateOf = (ids: TenantIds) => JSON.stringify({ lane_ref: ids.laneRef, customer_rate: 2150 })

const hourMs = 3_600_000

/** Returns the rows of a brokerage, in insertion order. A missing column is filled according to its type. */
function rowsOf(
  ids: TenantIds,
  now: number,
  app: TestApp,
  passwordHash: string,
  version: number,
): Readonly<Record<string, readonly Row[]>> {
  const { label, tenant } = ids
  const base = bases[label]
  const at = new Date(now)
  const earlier = (hours: number) => new Date(now - hours * hourMs)
  const later = new Date(now + 30 * 24 * hourMs)
  const cents = label === 'A' ? 7_654_300 : 201_000
  const people = (['owner', 'admin', 'member', 'viewer'] as const).map((role) => ({
    user_id: ids[role],
    role,
    status: 'active',
    email: role === 'owner' ? ids.ownerEmail : `canary-${label.toLowerCase()}-${role}@example.com`,
    password_hash: passwordHash,
    created_at: at,
  }))
  const lane = (number: number, more: Row): Row => ({
    lane_id: number === 0 ? ids.lane : base * 2_000_000 + number,
    lane_ref: `${ids.request}-${number + 1}-1`,
    request_id: ids.request,
    lane_number: number + 1,
    quote_count: 1,
    quoted_rate_cents: cents + number * 100,
    estimated_cost_cents: cents - 20_000,
    expected_cost_cents: cents - 20_000,
    expected_cost_low_cents: cents - 30_000,
    expected_cost_high_cents: cents - 10_000,
    expected_basis: null,
    market_rate_cents: cents,
    miles: 780,
    outcome: 'won',
    outcome_reason: 'price',
    rate_type: 'spot',
    mode: 'truckload',
    stops: null,
    quoted_basis: null,
    customer_basis: null,
    truck_basis: null,
    quoted_currency: null,
    customer_currency: null,
    truck_currency: null,
    external_id: number === 0 ? `${canaryOf(label)}quotes-external_id` : null,
    outcome_source: 'dashboard',
    void_reason: null,
    superseded_by: null,
    superseded_as: null,
    decided_at: earlier(24 * number + 1),
    customer_rate_cents: cents + number * 100,
    truck_cost_cents: cents - 1000,
    truck_cost_source: 'tms',
    booked_at: earlier(24 * number),
    created_by: ids.owner,
    created_at: earlier(24 * number + 2),
    updated_at: earlier(24 * number),
    ...more,
  })
  const dallasToAtlanta = {
    origin_key: 'dallas|TX',
    destination_key: 'atlanta|GA',
    origin_state: 'TX',
    destination_state: 'GA',
    equipment_code: 'V',
  }
  const secondOfUpdate = Math.floor(now / 1000)
  return {
    tenants: [
      {
        status: 'active',
        win_probability_method: 'at_or_below',
        default_basis: 'all_in',
        default_rate_type: 'spot',
        integration_pool: 'all',
        time_zone: label === 'A' ? 'America/Chicago' : 'UTC',
        date_order: 'month_first',
        pricing_rules: pricingRulesOf(ids, canaryOf(label)),
        created_at: at,
        sandbox_of: null,
        sandbox_id: null,
      },
    ],
    tenant_facts: [{ facts_version: version }],
    quote_versions: [{ lane_id: ids.lane, version, changed_at: at }],
    tenant_windows: [{ taken: '{}' }],
    tenant_counters: [
      ...[
        'user',
        'token',
        'secret',
        'import',
        'call',
        'audit',
        'event-endpoint',
        'event-secret',
        'customer',
        'team',
      ].map((counter) => ({
        counter,
        last_number: base + 900,
      })),
      { last_number: 1 },
    ],
    users: [
      ...people,
      { user_id: ids.removed, role: 'admin', status: 'removed', created_at: at },
      {
        user_id: ids.invited,
        role: 'member',
        status: 'invited',
        password_hash: null,
        invitation_hash: createHash('sha256').update(invitationSecret[label]).digest(),
        invitation_expires_at: later,
        created_at: at,
      },
      { user_id: ids.person, role: 'viewer', status: 'active', email: ids.personEmail, created_at: at },
    ],
    sessions: [...people.map(({ user_id }) => user_id), ids.removed].map((user_id) => ({
      session_id: sessionOf(label, user_id),
      user_id,
      created_at: at,
      expires_at: later,
    })),
    daily_counts: [{ counter: 'invitation', day: seededDay, used: 3 }],
    sign_in_networks: [{ user_id: ids.owner, network_hash: seededNetwork(label), signed_in_at: at }],
    quote_list_settings: [
      {
        // No caller has settings: these belong to an invited person, who cannot sign in.
        user_id: ids.invited,
        version: 1,
        settings: JSON.stringify(seededListSettings(canaryOf(label))),
      },
    ],
    ...marketRateRowsOf(ids, cents, earlier(24)),
    ...fuelRowsOf(label),
    approvals: [approvalOf(ids, { canary: canaryOf(label), at })],
    ...customerRowsOf(ids, { at, canary: canaryOf(label), isA: label === 'A' }),
    service_tokens: [ids.liveToken, ids.expiredToken, ids.revokedToken, ids.spareToken].map((token_id) => ({
      token_id,
      jti: jtiOf(label, token_id),
      ...(token_id === ids.spareToken
        ? {}
        : { scope: tokenScopeNames.join(' '), last_used_from: '127.0.0.1' }),
      user_id: ids.owner,
      created_at: at,
      expires_at: token_id === ids.expiredToken ? earlier(24) : later,
      revoked_at: token_id === ids.revokedToken ? earlier(1) : null,
      // The time is so recent that a call does not update it.
      last_used_at: token_id === ids.spareToken ? null : later,
    })),
    signing_secrets: [ids.secret, ids.spareSecret].map((secret_id) => ({
      secret_id,
      ...(secret_id === ids.secret ? { name: 'tms' } : {}),
      sealed: seal(app.secretKey, secretPlace(tenant, secret_id), signingSecretOf(label)),
      created_by: ids.owner,
      created_at: at,
      last_used_at: later,
    })),
    imports: [
      {
        import_id: ids.import,
        request_digest: importRequestOf(ids),
        status: 'done',
        dry_run: false,
        rows_added: label === 'A' ? 5 : 0,
        ignored_columns: JSON.stringify([`${canaryOf(label)}imports-ignored_columns`]),
        errors: JSON.stringify([{ row: 2, column: null, detail: `${canaryOf(label)}imports-errors` }]),
        understood: JSON.stringify([
          { code: 'encoding', column: null, detail: `${canaryOf(label)}imports-understood`, choices: [] },
        ]),
        causes: JSON.stringify([
          { column: null, detail: `${canaryOf(label)}imports-causes`, rows: 1, lines: [2] },
        ]),
        words: JSON.stringify([
          {
            field: 'equipment',
            column: 'Equip',
            word: `${canaryOf(label)}imports-words`,
            rows: 1,
            meaning: null,
            likely: null,
            map: 'equipment:X',
          },
        ]),
        changes: JSON.stringify([{ row: 3, lane_ref: `${canaryOf(label)}imports-changes`, fields: [] }]),
        kept: JSON.stringify([
          {
            row: 4,
            lane_ref: ids.laneRef,
            column: 'AR',
            file_value: 2100,
            kept_value: 2200,
            set_by: { source: 'tms', name: null },
            detail: `${canaryOf(label)}imports-kept`,
          },
        ]),
        created_by: ids.owner,
        created_at: at,
        progress_at: at,
        finished_at: at,
      },
    ],
    quote_requests: [
      {
        request_id: ids.request,
        request_key: ids.requestKey,
        created_by: ids.owner,
        created_at: at,
        import_id: null,
      },
      {
        request_id: ids.request + 1,
        request_key: null,
        created_by: ids.owner,
        created_at: at,
        import_id: ids.import,
      },
    ],
    quotes: [
      lane(0, {
        lane_ref: ids.laneRef,
        forecast: JSON.stringify(forecastAt(at)),
      }),
      ...[1, 2, 3, 4, 5, 6].map((number) =>
        lane(number, {
          ...dallasToAtlanta,
          ...(number % 2 === 0 ? { outcome: 'lost' } : {}),
        }),
      ),
      lane(7, {
        ...dallasToAtlanta,
        request_id: ids.request + 1,
        lane_ref: `${ids.request + 1}-1-1`,
        lane_number: 1,
        import_id: ids.import,
        import_fingerprint: createHash('sha256').update(`row of ${label}`).digest(),
      }),
      // The database accepts any text as lane_ref.
      lane(8, {
        lane_ref: `${canaryOf(label)}quotes-lane_ref`,
        voided_at: at,
        void_reason: `${canaryOf(label)}quotes-void_reason`,
        stops: `${canaryOf(label)}quotes-stops`,
        superseded_by: `${canaryOf(label)}quotes-superseded_by`,
        superseded_as: `${canaryOf(label)}quotes-superseded_as`,
      }),
    ],
    shipment_updates: [
      {
        request_digest: createHash('sha256').update(`${secondOfUpdate}.`).update(updateOf(ids)).digest(),
        lane_id: ids.lane,
        signed_at: at,
        received_at: at,
        token_id: ids.liveToken,
        updated: true,
      },
    ],
    quote_changes: [
      {
        lane_id: ids.lane,
        change_number: 1,
        source: 'tms',
        rule: 'booking_is_a_win',
        user_id: ids.owner,
        token_id: ids.liveToken,
        changed_at: at,
        before: JSON.stringify({ carrier_name: `${canaryOf(label)}quote_changes-before` }),
        after: JSON.stringify({ carrier_name: `${canaryOf(label)}quote_changes-after` }),
      },
    ],
    audit_log: [
      {
        entry_number: ids.entry,
        at,
        user_id: ids.owner,
        token_id: ids.liveToken,
        subject_user_id: ids.person,
        count: 1,
        request_id: uuidOf(label, ids.entry),
        hash: createHash('sha256').update(`audit of ${label}`).digest(),
      },
    ],
    ...eventRowsOf(ids, { at, canary: canaryOf(label), secretKey: app.secretKey }),
    integration_calls: [
      {
        call_id: ids.call,
        called_at: at,
        status: 401,
        request_id: uuidOf(label, ids.call),
        token_id: ids.liveToken,
        duration_ms: 1,
        not_kept: 0,
      },
    ],
  }
}

/** Returns a value for a column that the row does not set: a canary for text or JSON, otherwise the default. */
function filled(column: Column, label: Label): Value | undefined {
  const canary = `${canaryOf(label)}${column.table}-${column.name}`
  if (column.type === 'text') return canary
  const isRead = ['signed_at', 'outcome_before_booking', 'forecast'].includes(column.name)
  if (column.type === 'jsonb' && !isRead) return JSON.stringify({ [canary]: canary })
  if (column.hasDefault || column.nullable) return undefined
  throw new Error(`There is no test value for ${column.table}.${column.name}: add it to rowsOf.`)
}

/** Runs statements in one round trip. Repeats them if the service logged a call after the calls were deleted and before the tokens were. */
async function runTogether(owner: pg.Client, statements: readonly string[], tries = 5): Promise<void> {
  try {
    await owner.query(statements.join(';\n'))
  } catch (error) {
    await owner.query('rollback')
    const { code } = error as { code?: string }
    if (tries === 0 || (code !== '23503' && code !== '40P01')) throw error
    await runTogether(owner, statements, tries - 1)
  }
}

function literal(value: Value): string {
  if (value === null) return 'null'
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`
  return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value))
}

/** Inserts the two brokerages, and detects changes to their rows. */
export interface SeededTenants {
  readonly columns: readonly Column[]
  /** The tables of tenants, each after the tables it references. */
  readonly tables: readonly string[]
  /** When each brokerage sent its shipment update, in epoch seconds. */
  readonly sentAtSeconds: number
  /** Restores the original rows of a tenant. */
  seed(label: Label): Promise<void>
  remove(label: Label): Promise<void>
  /** Returns row counts and checksums of all tables of a tenant, except those in `without`. */
  checksum(label: Label, without?: readonly string[]): Promise<string>
  /** A connection as the owner of the tables, with row-level security set to the tenant. */
  asOwner(label: Label): pg.Client
  close(): Promise<void>
}

export async function seededTenants(app: TestApp): Promise<SeededTenants> {
  const owners = { A: await ownerOf(app, 'A'), B: await ownerOf(app, 'B') }
  const columns = await columnsOf(owners.A)
  const now = app.now
  const passwordHash = await hashPassword(password)
  let version = 1
  const rows = {
    A: rowsOf(idsOf('A'), now, app, passwordHash, version),
    B: rowsOf(idsOf('B'), now, app, passwordHash, version),
  }
  const tables = Object.keys(rows.A)
  const unknown = [...new Set(columns.map(({ table }) => table))].filter(
    (table) => !tables.includes(table) && !(tablesWithoutTenant as readonly string[]).includes(table),
  )
  const close = async () => {
    await Promise.all(Object.values(owners).map((owner) => owner.end()))
  }
  if (unknown.length > 0) {
    await close()
    throw new Error(`There are no test rows for the table ${unknown.join(', ')}: add them to rowsOf.`)
  }

  function literals(label: Label, table: string, given: Row): Readonly<Record<string, string>> {
    const full: Record<string, Value> = {}
    for (const { table: of, name, ...column } of columns) {
      if (of !== table) continue
      const value =
        name in given
          ? given[name]
          : name === 'tenant_id'
            ? tenantIdOf[label]
            : filled({ table, name, ...column }, label)
      if (value !== undefined) full[name] = value
    }
    const strange = Object.keys(given).filter((name) => !(name in full))
    if (strange.length > 0) throw new Error(`${table} has no column ${strange.join(', ')}.`)
    return Object.fromEntries(Object.entries(full).map(([name, value]) => [name, literal(value)]))
  }

  /** Returns one INSERT statement with literal values for all rows of a table, so that a whole tenant takes one round trip. */
  function insertion(label: Label, table: string, list: readonly Row[]): string {
    const all = list.map((row) => literals(label, table, row))
    const names = [...new Set(all.flatMap((row) => Object.keys(row)))]
    const values = all.map((row) => `(${names.map((name) => row[name] ?? 'default').join(', ')})`)
    return `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')}) values ${values.join(', ')}`
  }

  /** In a distributed database, the workers get the tenant only within a transaction. */
  const entered = (label: Label) => ['begin', `select enter_tenant('${tenantIdOf[label]}', 0, 0, 0)`]
  const removals = (label: Label) => [
    ...tables.toReversed().map((table) => `delete from ${table} where tenant_id = ${tenantIdOf[label]}`),
    `delete from sign_in_emails where tenant_id = ${tenantIdOf[label]}`,
  ]

  /** The INSERT statements, made once, because some tests seed hundreds of times. */
  const rowInsertions = {
    A: Object.entries(rows.A).map(([table, list]) => [table, insertion('A', table, list)] as const),
    B: Object.entries(rows.B).map(([table, list]) => [table, insertion('B', table, list)] as const),
  }

  function insertions(label: Label): string[] {
    const { ownerEmail, personEmail, tenant, owner, person } = idsOf(label)
    return [
      ...rowInsertions[label].map(([table, made]) =>
        table === 'tenant_facts' ? insertion(label, table, [{ facts_version: version }]) : made,
      ),
      `insert into sign_in_emails values
        ('${ownerEmail}', ${tenant}, ${owner}), ('${personEmail}', ${tenant}, ${person})`,
    ]
  }

  const checks = [...tables, 'sign_in_emails']
    .map(
      (table) =>
        `select '${table}' as name, count(*)::int as rows, md5(coalesce(string_agg(t::text, E'\\n' order by t::text), '')) as sum from ${table} t where tenant_id = $1`,
    )
    .join(' union all ')

  return {
    columns,
    tables,
    sentAtSeconds: Math.floor(now / 1000),
    async seed(label) {
      // A new version invalidates what the service has cached.
      version += 1_000
      const statements = [...entered(label), ...removals(label), ...insertions(label), 'commit']
      await runTogether(owners[label], statements)
    },
    async remove(label) {
      await runTogether(owners[label], [...entered(label), ...removals(label), 'commit'])
    },
    async checksum(label, without = []) {
      const { rows: sums } = await owners[label].query<{ name: string }>({
        name: 'checksum',
        text: checks,
        values: [tenantIdOf[label]],
      })
      return JSON.stringify(sums.filter(({ name }) => !without.includes(name)))
    },
    asOwner: (label) => owners[label],
    close,
  }
}

async function ownerOf(app: TestApp, label: Label): Promise<pg.Client> {
  const owner = new pg.Client(app.testDatabase.owner)
  await owner.connect()
  // Row-level security applies to the owner, too.
  await owner.query(`set app.tenant_id = '${tenantIdOf[label]}'`)
  return owner
}

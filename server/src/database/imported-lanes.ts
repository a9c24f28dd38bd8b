import { sql } from 'kysely'
import { byteStrings, days, float8s, int4s, int8s, texts, timestamps } from './binary-arrays.ts'
import { laneRef, type NewLane, nextNumbers } from './lanes.ts'
import { type Database, factsChanged, type TenantId, type TenantTransaction } from './open-database.ts'

/** A past quote as a file has it: a request with one lane. */
export interface NewImportedLane {
  readonly customerName: string
  readonly reference: string | null
  readonly createdAt: Date
  readonly fingerprint: Buffer
  readonly lane: Omit<NewLane, 'import_fingerprint' | 'placed' | 'customer_name'>
}

/** Which of these rows are here already: fingerprint in hex -> the import that brought it. */
export async function findImported(
  transaction: TenantTransaction,
  tenant: TenantId,
  fingerprints: readonly Buffer[],
): Promise<Map<string, number | null>> {
  if (fingerprints.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('lanes')
    .select(['import_fingerprint', 'import_id'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`import_fingerprint = any(${byteStrings(fingerprints)}::bytea[])`)
    .execute()
  return new Map(rows.map((row) => [row.import_fingerprint?.toString('hex') ?? '', row.import_id]))
}

type Row = NewImportedLane & { readonly laneId: number; readonly requestId: number }
type Column = readonly [name: string, type: string, values: (rows: readonly Row[]) => Buffer]

/** A column of `lanes` whose value is the lane's own. */
function own<Name extends keyof Row['lane'], Value>(
  name: Name,
  type: string,
  array: (values: readonly (Value | null)[]) => Buffer,
  ..._checked: Row['lane'][Name] extends Value | null | undefined ? [] : [never]
): Column {
  return [
    name,
    type,
    (rows) => array(rows.map(({ lane }) => (lane[name] as Value | null | undefined) ?? null)),
  ]
}

const requestColumns: readonly Column[] = [
  ['request_id', 'bigint', (rows) => int8s(rows.map((row) => row.requestId))],
  ['customer_name', 'text', (rows) => texts(rows.map((row) => row.customerName))],
  ['reference', 'text', (rows) => texts(rows.map((row) => row.reference))],
  ['created_at', 'timestamptz', (rows) => timestamps(rows.map((row) => row.createdAt))],
]

const laneColumns: readonly Column[] = [
  ['lane_id', 'bigint', (rows) => int8s(rows.map((row) => row.laneId))],
  ['lane_ref', 'text', (rows) => texts(rows.map((row) => laneRef(row.requestId, 1, 1)))],
  ['request_id', 'bigint', (rows) => int8s(rows.map((row) => row.requestId))],
  ['quoted_customer_name', 'text', (rows) => texts(rows.map((row) => row.customerName))],
  ['created_at', 'timestamptz', (rows) => timestamps(rows.map((row) => row.createdAt))],
  ['updated_at', 'timestamptz', (rows) => timestamps(rows.map((row) => row.createdAt))],
  ['import_fingerprint', 'bytea', (rows) => byteStrings(rows.map((row) => row.fingerprint))],
  own('origin', 'text', texts),
  own('destination', 'text', texts),
  own('origin_key', 'text', texts),
  own('destination_key', 'text', texts),
  own('origin_state', 'text', texts),
  own('destination_state', 'text', texts),
  own('origin_market', 'text', texts),
  own('destination_market', 'text', texts),
  own('equipment', 'text', texts),
  own('equipment_code', 'text', texts),
  own('quoted_rate_cents', 'integer', int4s),
  own('estimated_cost_cents', 'integer', int4s),
  own('market_rate_cents', 'integer', int4s),
  own('miles', 'double precision', float8s),
  own('pickup_date', 'date', days),
  own('outcome', 'text', texts),
  own('outcome_reason', 'text', texts),
  own('outcome_source', 'text', texts),
  own('decided_at', 'timestamptz', timestamps),
  own('customer_rate_cents', 'integer', int4s),
  own('truck_cost_cents', 'integer', int4s),
  own('truck_cost_source', 'text', texts),
  own('carrier_name', 'text', texts),
  own('carrier_notes', 'text', texts),
  own('booked_at', 'timestamptz', timestamps),
]

const namesOf = (columns: readonly Column[]) => sql.raw(columns.map(([name]) => name).join(', '))

/** Rows as a table of these columns. */
function tableOf(columns: readonly Column[], rows: readonly Row[]) {
  const arrays = columns.map(([, type, values]) => sql`${values(rows)}::${sql.raw(type)}[]`)
  return sql`unnest(${sql.join(arrays)}) as imported (${namesOf(columns)})`
}

/**
 * Writes past quotes of an import, a request and a lane each, in two statements for all of them. None of them may be
 * here already: whoever calls has looked, and holds the lock of imports since.
 */
export async function insertImportedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  by: { readonly importId: number; readonly createdBy: number | null },
  lanes: readonly NewImportedLane[],
): Promise<void> {
  if (lanes.length === 0) return
  const requestNumbers = await nextNumbers(transaction, 'request_number', lanes.length)
  const laneNumbers = await nextNumbers(transaction, 'lane_number', lanes.length)
  const rows = lanes.map((lane, index) => ({
    ...lane,
    requestId: identifiers.requestId(requestNumbers[index] ?? -1),
    laneId: identifiers.laneId(laneNumbers[index] ?? -1),
  }))
  const origin = sql`${tenant}::integer, ${by.createdBy}::integer, ${by.importId}::integer`
  await sql`
    insert into quote_requests (tenant_id, created_by, import_id, ${namesOf(requestColumns)})
    select ${origin}, imported.* from ${tableOf(requestColumns, rows)}
  `.execute(transaction)
  await sql`
    insert into lanes (tenant_id, created_by, import_id, lane_number, quote_count, ${namesOf(laneColumns)})
    select ${origin}, 1, 1, imported.* from ${tableOf(laneColumns, rows)}
  `.execute(transaction)
  factsChanged(transaction, { before: [], after: lanes.map(({ lane }) => lane.outcome ?? 'pending') })
}

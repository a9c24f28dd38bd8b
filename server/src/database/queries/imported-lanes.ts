import { sql } from 'kysely'
import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import type { Outcome } from '#engine/history.ts'
import type { TenantTransaction } from '../schema/index.ts'
import { type Database, quotesChanged, type TenantId } from '../session/index.ts'
import { binaryArrays } from './binary-arrays.ts'
import { bookingColumns } from './booking-columns.ts'
import { laneRef, type NewLane } from './lanes.ts'

const { byteStrings, days, float8s, int4s, int8s, texts, timestamps } = binaryArrays

/** A past quote in a file: a request with one lane. */
export interface NewImportedLane {
  readonly customerName: string
  readonly reference: string | null
  readonly createdAt: Date
  readonly fingerprint: Buffer
  /** A digest of the row, if the row is identified by its own id. */
  readonly said: string | null
  readonly lane: Omit<
    NewLane,
    | 'import_fingerprint'
    | 'placed'
    | 'customer_name'
    | 'expected_cost_cents'
    | 'expected_cost_low_cents'
    | 'expected_cost_high_cents'
    | 'outcome'
  > & { readonly outcome: Outcome }
}

/** A lane that an import created. */
export interface ImportedBefore {
  readonly laneId: number
  readonly said: string | null
}

/** The rows that exist already: fingerprint in hex -> lane. */
export async function findImported(
  transaction: TenantTransaction,
  tenant: TenantId,
  fingerprints: readonly Buffer[],
): Promise<Map<string, ImportedBefore>> {
  if (fingerprints.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('lanes')
    .select(['import_fingerprint', 'lane_id', 'import_said'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`import_fingerprint = any(${byteStrings(fingerprints)}::bytea[])`)
    .execute()
  return new Map(
    rows.map((row) => [
      row.import_fingerprint?.toString('hex') ?? '',
      { laneId: row.lane_id, said: row.import_said },
    ]),
  )
}

interface LaneNumbers {
  readonly requestId: number
  readonly laneId: number
}

/** Assigns numbers for requests of one lane each, in one query. */
async function newLaneNumbers(
  transaction: TenantTransaction,
  identifiers: Database['identifiers'],
  count: number,
): Promise<LaneNumbers[]> {
  const { rows } = await sql<{ request: number; lane: number }>`
    select request, lane from rows from (next_numbers('request_number', ${count}), next_numbers('lane_number', ${count})) as numbers (request, lane)
  `.execute(transaction)
  return rows.map(({ request, lane }) => ({
    requestId: identifiers.requestId(request),
    laneId: identifiers.laneId(lane),
  }))
}

type Row = NewImportedLane & LaneNumbers
type Column = readonly [name: string, type: string, values: (rows: readonly Row[]) => Buffer]

/** A column of `lanes` with a value per lane. */
function own<Name extends keyof Row['lane']>(
  name: Name,
  type: string,
  array: (values: readonly (NonNullable<Row['lane'][Name]> | null)[]) => Buffer,
): Column {
  return [name, type, (rows) => array(rows.map(({ lane }) => lane[name] ?? null))]
}

const ofUnit = {
  cents: ['integer', int4s],
  text: ['text', texts],
  time: ['timestamptz', timestamps],
} as const

/** The columns that are sent. Those of the request are stored with the request, or with both. */
const columns: readonly Column[] = [
  ['lane_id', 'bigint', (rows) => int8s(rows.map((row) => row.laneId))],
  ['lane_ref', 'text', (rows) => texts(rows.map((row) => laneRef(row.requestId, 1, 1)))],
  ['request_id', 'bigint', (rows) => int8s(rows.map((row) => row.requestId))],
  ['quoted_customer_name', 'text', (rows) => texts(rows.map((row) => row.customerName))],
  ['created_at', 'timestamptz', (rows) => timestamps(rows.map((row) => row.createdAt))],
  ['reference', 'text', (rows) => texts(rows.map((row) => row.reference))],
  ['import_fingerprint', 'bytea', (rows) => byteStrings(rows.map((row) => row.fingerprint))],
  ['import_said', 'text', (rows) => texts(rows.map((row) => row.said))],
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
  own('truck_cost_source', 'text', texts),
  // The customer in a file is the customer of the quote.
  ...sentBookingFields
    .filter((field) => field !== 'customerName')
    .map((field): Column => {
      const column = bookingColumns[field]
      const [type, array] = ofUnit[bookingTable[field].unit]
      return [column, type, (rows) => array(rows.map(({ lane }) => lane[column] ?? null) as never)]
    }),
]

const ofLanes = columns.filter(([name]) => name !== 'reference')
const ofRequests = columns.filter(([name]) =>
  ['request_id', 'quoted_customer_name', 'reference', 'created_at'].includes(name),
)
const laneNames = sql.raw(ofLanes.map(([name]) => name).join(', '))
const sentNames = sql.raw(ofLanes.map(([name]) => `sent.${name}`).join(', '))

/** Lanes per statement. Encoding them blocks the process for a few milliseconds. */
const lanesPerStatement = 500

/**
 * Inserts past quotes of an import, with one request and one lane each. None may exist already: the caller must have checked
 * while holding the import lock.
 */
export async function insertImportedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  by: { readonly importId: number; readonly createdBy: number | null },
  lanes: readonly NewImportedLane[],
): Promise<void> {
  if (lanes.length === 0) return
  const numbers = await newLaneNumbers(transaction, identifiers, lanes.length)
  for (let start = 0; start < lanes.length; start += lanesPerStatement) {
    const rows = lanes.slice(start, start + lanesPerStatement).map((lane, index): Row => {
      const { requestId = -1, laneId = -1 } = numbers[start + index] ?? {}
      return { ...lane, requestId, laneId }
    })
    const sent = (wanted: readonly Column[]) => sql`
      from tenants as one cross join unnest(${sql.join(wanted.map(([, type, values]) => sql`${values(rows)}::${sql.raw(type)}[]`))})
        as sent (${sql.raw(wanted.map(([name]) => name).join(', '))})
      where one.tenant_id = ${tenant}
    `
    const origin = sql`one.tenant_id, ${by.createdBy}::integer, ${by.importId}::integer`
    // Select from the tenant's row, so that in a distributed database the tenant's worker runs the statement.
    await sql`
      insert into quote_requests
        (tenant_id, created_by, import_id, request_id, customer_name, reference, created_at)
      select ${origin}, sent.request_id, sent.quoted_customer_name, sent.reference, sent.created_at ${sent(ofRequests)}
    `.execute(transaction)
    await sql`
      insert into lanes (tenant_id, created_by, import_id, lane_number, quote_count, updated_at, ${laneNames})
      select ${origin}, 1, 1, sent.created_at, ${sentNames} ${sent(ofLanes)}
    `.execute(transaction)
  }
  quotesChanged(
    transaction,
    numbers.map(({ laneId }) => laneId),
  )
}

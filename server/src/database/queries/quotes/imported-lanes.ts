import { type RawBuilder, sql } from 'kysely'
import { bookingTable, sentBookingFields } from '#engine/booking-fields.ts'
import type { StoredOutcome } from '#engine/history.ts'
import type { QuoteStamps } from '#engine/quote-update.ts'
import type { TenantTransaction } from '../../schema/index.ts'
import { type Database, quotesChanged, quotesMade, type TenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'
import { type InsertedColumn, insertRows } from '../insert-rows.ts'
import { bookingColumns } from './booking-columns.ts'
import { type ExpectedColumn, laneRef, type NewLane } from './lanes.ts'

const { byteStrings, days, float8s, int4s, int8s, texts, timestamps } = binaryArrays

/** A quote in a file, or one that another system pushed: a request with one lane. */
interface NewSingleLane {
  readonly customerName: string
  readonly reference: string | null
  readonly createdAt: Date
  readonly lane: Omit<
    NewLane,
    'import_fingerprint' | 'placed' | 'customer_name' | ExpectedColumn | 'outcome'
  > & { readonly outcome: StoredOutcome }
}

/** A past quote in a file. */
export interface NewImportedLane extends NewSingleLane {
  readonly fingerprint: Buffer
  /** A digest of the row, if the row is identified by its own id. */
  readonly said: string | null
}

/** A quote that another system pushed. */
export interface NewPushedLane extends NewSingleLane {
  readonly externalId: string
  /** The person of the brokerage that the rep is, if known. */
  readonly createdBy: number | null
  readonly repName: string | null
  readonly rateType: 'spot' | 'contract' | null
  readonly validUntil: Date | null
  readonly stamps: QuoteStamps
  readonly expected: Partial<Pick<NewLane, ExpectedColumn>>
}

/** A lane that an import created. */
export interface ImportedBefore {
  readonly laneId: number
  readonly said: string | null
}

/** The lanes that another system pushed under these ids: external_id -> lane. */
export async function findPushed(
  transaction: TenantTransaction,
  tenant: TenantId,
  externalIds: readonly string[],
): Promise<Map<string, ImportedBefore>> {
  if (externalIds.length === 0) return new Map()
  const rows = await transaction
    .selectFrom('lanes')
    .select(['external_id', 'lane_id', 'import_said'])
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`external_id = any(${[...externalIds]}::text[])`)
    .execute()
  return new Map(rows.map((row) => [row.external_id ?? '', { laneId: row.lane_id, said: row.import_said }]))
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

type Row = NewSingleLane & LaneNumbers
type Column<R extends Row = Row> = readonly [
  name: string,
  type: string,
  values: (rows: readonly R[]) => Buffer,
  /** Converts the sent value to the type of the column. */
  cast?: string,
]

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
  basis: ['text', texts],
  currency: ['text', texts],
  charges: ['text', texts],
} as const

/** The columns that are sent. Those of the request are stored with the request, or with both. */
const columns: readonly Column[] = [
  ['lane_id', 'bigint', (rows) => int8s(rows.map((row) => row.laneId))],
  ['lane_ref', 'text', (rows) => texts(rows.map((row) => laneRef(row.requestId, 1, 1)))],
  ['request_id', 'bigint', (rows) => int8s(rows.map((row) => row.requestId))],
  ['quoted_customer_name', 'text', (rows) => texts(rows.map((row) => row.customerName))],
  ['created_at', 'timestamptz', (rows) => timestamps(rows.map((row) => row.createdAt))],
  ['reference', 'text', (rows) => texts(rows.map((row) => row.reference))],
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
  own('quoted_basis', 'text', texts),
  own('quoted_fuel_cents', 'integer', int4s),
  own('quoted_accessorials_cents', 'integer', int4s),
  own('quoted_currency', 'text', texts),
  own('quoted_charges', 'text', texts),
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

/** The columns of an imported quote alone, and of a pushed one. */
const importedColumns: readonly Column<NewImportedLane & LaneNumbers>[] = [
  ['import_fingerprint', 'bytea', (rows) => byteStrings(rows.map((row) => row.fingerprint))],
  ['import_said', 'text', (rows) => texts(rows.map((row) => row.said))],
]
const pushedColumns: readonly Column<NewPushedLane & LaneNumbers>[] = [
  ['external_id', 'text', (rows) => texts(rows.map((row) => row.externalId))],
  ['rep_name', 'text', (rows) => texts(rows.map((row) => row.repName))],
  ['rate_type', 'text', (rows) => texts(rows.map((row) => row.rateType))],
  ['valid_until', 'timestamptz', (rows) => timestamps(rows.map((row) => row.validUntil))],
  ['quote_signed_at', 'text', (rows) => texts(rows.map((row) => JSON.stringify(row.stamps))), '::jsonb'],
]
const expectedColumns = (
  ['expected_cost_cents', 'expected_cost_low_cents', 'expected_cost_high_cents'] as const
).map(
  (name): Column<NewPushedLane & LaneNumbers> => [
    name,
    'integer',
    (rows) => int4s(rows.map(({ expected }) => expected[name] ?? null)),
  ],
)
const expectedBasis: Column<NewPushedLane & LaneNumbers> = [
  'expected_basis',
  'text',
  (rows) => texts(rows.map(({ expected }) => expected.expected_basis ?? null)),
]
const createdBy: Column<NewPushedLane & LaneNumbers> = [
  'created_by',
  'integer',
  (rows) => int4s(rows.map((row) => row.createdBy)),
]

const requestColumns = ['request_id', 'quoted_customer_name', 'reference', 'created_at']
const ofLanes = columns.filter(([name]) => name !== 'reference')
const ofRequests = columns.filter(([name]) => requestColumns.includes(name))

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
  await insertSingleLanes(transaction, tenant, identifiers, lanes, {
    ofRequests,
    ofLanes: [...ofLanes, ...importedColumns],
    same: [
      ['import_id', sql`${by.importId}::integer`],
      ['created_by', sql`${by.createdBy}::integer`],
    ],
  })
}

/**
 * Inserts quotes that another system pushed, with one request and one lane each, and returns their references in order. No
 * external_id may exist already: the caller must hold the lock of pushes.
 */
export async function insertPushedLanes(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  lanes: readonly NewPushedLane[],
): Promise<{ readonly laneId: number; readonly laneRef: string }[]> {
  const numbers = await insertSingleLanes(transaction, tenant, identifiers, lanes, {
    ofRequests: [...ofRequests, createdBy],
    ofLanes: [...ofLanes, createdBy, ...pushedColumns, ...expectedColumns, expectedBasis],
    same: [],
  })
  quotesMade(
    transaction,
    numbers.map(({ laneId }) => ({ lane_id: laneId })),
  )
  return numbers.map(({ requestId, laneId }) => ({ laneId, laneRef: laneRef(requestId, 1, 1) }))
}

interface InsertedColumns<Lane extends NewSingleLane> {
  readonly ofRequests: readonly Column<Lane & LaneNumbers>[]
  readonly ofLanes: readonly Column<Lane & LaneNumbers>[]
  /** Columns with the same value in every row of both tables. */
  readonly same: readonly (readonly [name: string, value: RawBuilder<unknown>])[]
}

async function insertSingleLanes<Lane extends NewSingleLane>(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  lanes: readonly Lane[],
  wanted: InsertedColumns<Lane>,
): Promise<LaneNumbers[]> {
  if (lanes.length === 0) return []
  const numbers = await newLaneNumbers(transaction, identifiers, lanes.length)
  for (let start = 0; start < lanes.length; start += lanesPerStatement) {
    const rows = lanes.slice(start, start + lanesPerStatement).map((lane, index) => {
      const { requestId = -1, laneId = -1 } = numbers[start + index] ?? {}
      return { ...lane, requestId, laneId }
    })
    const sent = (columns: InsertedColumns<Lane>['ofLanes']) =>
      columns.map(([name, type, values, cast]) => ({
        name,
        type,
        values: values(rows),
        ...(cast && { cast }),
      }))
    // The table of requests has the customer under another name.
    const inRequest = (column: InsertedColumn) =>
      column.name === 'quoted_customer_name' ? { ...column, name: 'customer_name' } : column
    await insertRows(
      transaction,
      tenant,
      'quote_requests',
      sent(wanted.ofRequests).map(inRequest),
      wanted.same,
    )
    await insertRows(transaction, tenant, 'lanes', sent(wanted.ofLanes), [
      ...wanted.same,
      ['lane_number', sql`1`],
      ['quote_count', sql`1`],
      ['updated_at', sql`sent.created_at`],
    ])
  }
  quotesChanged(
    transaction,
    numbers.map(({ laneId }) => laneId),
  )
  return numbers
}

import { type Insertable, sql } from 'kysely'
import {
  type DerivedQuoteColumn,
  type QuoteColumn,
  quoteColumnOf,
  quoteFields,
  quoteTable,
} from '#engine/quote-fields.ts'
import type { QuoteStamps } from '#engine/quote-update.ts'
import { fieldColumns, type QuoteRow, type QuotesTable, type TenantTransaction } from '../../schema/index.ts'
import { type Database, quotesChanged, quotesMade, type TenantId } from '../../session/index.ts'
import { binaryArrays } from '../binary-arrays.ts'
import { type InsertedColumn, insertRows, type SameColumn } from '../insert-rows.ts'
import { type BookingColumn, bookingColumns } from './booking-columns.ts'
import { type OfferRow, offerColumns, supersedingOf } from './offers.ts'

/** The truck cost that was expected at the time of the quote, with its range and its basis. */
export type ExpectedColumn =
  | 'expected_cost_cents'
  | 'expected_cost_low_cents'
  | 'expected_cost_high_cents'
  | 'expected_basis'

/** The quoted rate and the estimated cost, without named charges; with their basis, included charges, and currency. */
export type QuotedAmountColumn =
  | 'quoted_rate_cents'
  | 'estimated_cost_cents'
  | 'quoted_basis'
  | 'quoted_fuel_cents'
  | 'quoted_accessorials_cents'
  | 'quoted_currency'

/** The columns that determine the expected cost of a quote. */
export type CostColumn =
  | 'origin_key'
  | 'destination_key'
  | 'origin_state'
  | 'destination_state'
  | 'equipment_code'
  | 'miles'

/** The columns of a quote that all quotes of its request share. */
type RequestColumn = 'quoted_customer_name' | 'created_at' | 'created_by'
type NewQuoteColumn = Exclude<QuoteColumn | DerivedQuoteColumn, RequestColumn>
type OtherColumn =
  | 'outcome'
  | 'outcome_reason'
  | 'outcome_source'
  | 'decided_at'
  | 'truck_cost_source'
  | 'import_fingerprint'
  | 'import_said'
  | 'external_id'
  | 'forecast'
  | 'superseded_by'
  | 'superseded_as'

/** A quote to insert, with parsed places and equipment. */
export type NewQuote = Pick<Insertable<QuotesTable>, NewQuoteColumn | ExpectedColumn> &
  Partial<Pick<Insertable<QuotesTable>, OtherColumn | BookingColumn>> & {
    readonly quote_signed_at?: QuoteStamps
    readonly outcome_before_booking?: QuoteRow['outcome_before_booking']
    /** For quotes migrated with their history: LANENUM and COUNT of the lane_ref, and the time of the quote. */
    readonly placed?: { readonly laneNumber: number; readonly quoteCount: number; readonly createdAt: Date }
  }

export interface NewQuoteRequest {
  readonly customerName: string
  readonly reference: string | null
  readonly createdBy: number | null
  readonly createdAt: Date
  readonly importId: number | null
  /** The client's idempotency key, and a digest of the body that was sent with it. */
  readonly repeatable?: { readonly key: string; readonly digest: Buffer }
  readonly quotes: readonly NewQuote[]
}

/** A lane_ref from its three parts. @example laneRef(48211093754, 1, 2) // '48211093754-1-2' */
export function laneRef(requestId: number, laneNumber: number, quoteCount: number): string {
  return `${requestId}-${laneNumber}-${quoteCount}`
}

type NewRequest = NewQuoteRequest & { readonly requestId: number }

/** A quote to insert, with its request and its numbers in it. */
interface PlacedQuote {
  readonly quote: NewQuote
  readonly request: Omit<NewRequest, 'quotes' | 'reference'>
  readonly quoteId: number
  readonly laneNumber: number
  readonly quoteCount: number
  readonly createdAt: Date
}

const { byteStrings, days, float8s, int4s, int8s, texts, timestamps } = binaryArrays

/** How the values of a column are sent: the type of its array, its encoding, and the cast to the type of the column. */
const kinds = {
  bigint: ['bigint', int8s],
  bytes: ['bytea', byteStrings],
  date: ['date', days],
  double: ['double precision', float8s],
  integer: ['integer', int4s],
  json: ['text', texts, '::jsonb'],
  text: ['text', texts],
  time: ['timestamptz', timestamps],
  uuid: ['text', texts, '::uuid'],
} as const
type Kind = keyof typeof kinds

interface Column<Row> {
  readonly name: string
  readonly kind: Kind
  readonly value: (row: Row) => unknown
}

/** The columns that are neither a field of a quote nor of a booking. */
const otherColumns = {
  outcome: 'text',
  outcome_reason: 'text',
  outcome_source: 'text',
  outcome_before_booking: 'json',
  decided_at: 'time',
  truck_cost_source: 'text',
  import_fingerprint: 'bytes',
  import_said: 'text',
  external_id: 'text',
  forecast: 'json',
  superseded_by: 'text',
  superseded_as: 'text',
  quote_signed_at: 'json',
  expected_cost_cents: 'integer',
  expected_cost_low_cents: 'integer',
  expected_cost_high_cents: 'integer',
  expected_basis: 'text',
} as const satisfies Record<OtherColumn | ExpectedColumn | 'quote_signed_at' | 'outcome_before_booking', Kind>

/** The columns whose value is from the request or has a default. */
const valuesOf: Readonly<Partial<Record<string, Column<PlacedQuote>['value']>>> = {
  quoted_customer_name: ({ request }) => request.customerName,
  created_at: ({ createdAt }) => createdAt,
  created_by: ({ request }) => request.createdBy,
  outcome: ({ quote }) => quote.outcome ?? 'pending',
  outcome_before_booking: ({ quote: { outcome_before_booking: facts } }) =>
    facts == null ? null : JSON.stringify(facts),
  quote_signed_at: ({ quote }) => JSON.stringify(quote.quote_signed_at ?? {}),
}

const ofLane = (name: string, kind: Kind): Column<PlacedQuote> => ({
  name,
  kind,
  value: valuesOf[name] ?? (({ quote }) => quote[name as keyof NewQuote] ?? null),
})

/** The columns of an inserted quote. All quotes are inserted with the same statement, whichever way they came in. */
const laneColumns: readonly Column<PlacedQuote>[] = [
  { name: 'lane_id', kind: 'bigint', value: ({ quoteId }) => quoteId },
  {
    name: 'lane_ref',
    kind: 'text',
    value: ({ request, laneNumber, quoteCount }) => laneRef(request.requestId, laneNumber, quoteCount),
  },
  { name: 'request_id', kind: 'bigint', value: ({ request }) => request.requestId },
  { name: 'lane_number', kind: 'integer', value: ({ laneNumber }) => laneNumber },
  { name: 'quote_count', kind: 'integer', value: ({ quoteCount }) => quoteCount },
  { name: 'import_id', kind: 'integer', value: ({ request }) => request.importId },
  { name: 'updated_at', kind: 'time', value: ({ createdAt }) => createdAt },
  ...fieldColumns.map(([name, kind]) => ofLane(name, kind)),
  ...Object.entries(otherColumns).map(([name, kind]) => ofLane(name, kind)),
]

const requestColumns: readonly Column<NewRequest>[] = [
  { name: 'request_id', kind: 'bigint', value: ({ requestId }) => requestId },
  { name: 'customer_name', kind: 'text', value: ({ customerName }) => customerName },
  { name: 'reference', kind: 'text', value: ({ reference }) => reference },
  { name: 'created_by', kind: 'integer', value: ({ createdBy }) => createdBy },
  { name: 'created_at', kind: 'time', value: ({ createdAt }) => createdAt },
  { name: 'import_id', kind: 'integer', value: ({ importId }) => importId },
  { name: 'request_key', kind: 'uuid', value: ({ repeatable }) => repeatable?.key ?? null },
  { name: 'request_digest', kind: 'bytes', value: ({ repeatable }) => repeatable?.digest ?? null },
]

/** Rows per statement. Encoding them blocks the process for a few milliseconds. */
const rowsPerStatement = 500

async function insertAll<Row>(
  transaction: TenantTransaction,
  tenant: TenantId,
  table: 'quotes' | 'quote_requests',
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const slice = rows.slice(start, start + rowsPerStatement)
    const same: SameColumn[] = []
    const sent: InsertedColumn[] = []
    for (const { name, kind, value } of columns) {
      const [type, array, cast = ''] = kinds[kind]
      const values: readonly unknown[] = slice.map(value)
      const [first] = values
      // Most columns have one value in all rows of a file, often none. As arrays, they would take a quarter of the insert.
      const isSame = values.length > 1 && values.every((one) => one === first)
      if (isSame) same.push([name, sql`${first}::${sql.raw(type)}${sql.raw(cast)}`])
      else sent.push({ name, type, cast, values: (array as (values: readonly unknown[]) => Buffer)(values) })
    }
    await insertRows(transaction, tenant, table, sent, same)
  }
}

async function insertQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  placed: readonly PlacedQuote[],
): Promise<void> {
  await insertAll(transaction, tenant, 'quotes', laneColumns, placed)
  quotesChanged(
    transaction,
    placed.map(({ quoteId }) => quoteId),
  )
  // Quotes in a file are old, so no events are sent for them.
  quotesMade(
    transaction,
    placed.filter(({ request }) => request.importId === null).map(({ quoteId }) => ({ lane_id: quoteId })),
  )
}

/** Numbers for new requests and quotes, in one query. A request has at least one quote. */
async function newNumbers(
  transaction: TenantTransaction,
  requests: number,
  lanes: number,
): Promise<readonly { readonly request: number | null; readonly lane: number }[]> {
  const { rows } = await sql<{ request: number | null; lane: number }>`
    select request, lane from rows from (next_numbers('request_number', ${requests}), next_numbers('lane_number', ${lanes})) as numbers (request, lane)
  `.execute(transaction)
  return rows
}

interface InsertedQuote {
  readonly quoteId: number
  readonly laneRef: string
}

/** Marks the superseded offers among quotes that are migrated with their history. */
function withSuperseding(placed: readonly PlacedQuote[]): readonly PlacedQuote[] {
  if (placed.every(({ quoteCount }) => quoteCount === 1)) return placed
  const loads = Map.groupBy(placed, ({ request, laneNumber }) => `${request.requestId}-${laneNumber}`)
  const next = new Map(
    [...loads.values()].flatMap((offers) => {
      const rows = offers.map((one) => ({ ...offerToInsert(one), one }))
      return supersedingOf(rows).map(({ row, next: superseding }) => [row.one, superseding] as const)
    }),
  )
  return placed.map((one) => ({ ...one, quote: { ...one.quote, ...next.get(one) } }))
}

function offerToInsert({ quote, quoteId, request, laneNumber, quoteCount }: PlacedQuote): OfferRow {
  const absent = Object.fromEntries(
    [...offerColumns, ...Object.values(bookingColumns)].map((column) => [column, null]),
  )
  return {
    ...absent,
    outcome: 'pending',
    ...quote,
    lane_id: quoteId,
    lane_ref: laneRef(request.requestId, laneNumber, quoteCount),
    quote_count: quoteCount,
  } as unknown as OfferRow
}

/**
 * Inserts quote requests with their quotes, and returns the quotes in the given order. The caller must know that no quote with the same
 * external_id or import_fingerprint exists, so it holds the lock of pushes or imports.
 */
export async function insertRequests(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  requests: readonly NewQuoteRequest[],
): Promise<InsertedQuote[]> {
  if (requests.length === 0) return []
  const laneCount = requests.reduce((count, { quotes }) => count + quotes.length, 0)
  const numbers = await newNumbers(transaction, requests.length, laneCount)
  const numbered = requests.map((request, nth): NewRequest => {
    const requestId = identifiers.requestId(numbers[nth]?.request ?? -1)
    return { ...request, requestId }
  })
  const placed: PlacedQuote[] = []
  for (const request of numbered) {
    for (const [position, quote] of request.quotes.entries()) {
      placed.push({
        quote,
        request,
        quoteId: identifiers.quoteId(numbers[placed.length]?.lane ?? -1),
        laneNumber: quote.placed?.laneNumber ?? position + 1,
        quoteCount: quote.placed?.quoteCount ?? 1,
        createdAt: quote.placed?.createdAt ?? request.createdAt,
      })
    }
  }
  await insertAll(transaction, tenant, 'quote_requests', requestColumns, numbered)
  await insertQuotes(transaction, tenant, withSuperseding(placed))
  return placed.map(({ quoteId, request, laneNumber, quoteCount }) => ({
    quoteId,
    laneRef: laneRef(request.requestId, laneNumber, quoteCount),
  }))
}

/** The quotes that the transaction inserted, in the given order. */
export async function insertedQuotes(
  transaction: TenantTransaction,
  tenant: TenantId,
  quoteIds: readonly number[],
): Promise<QuoteRow[]> {
  const rows = await transaction
    .selectFrom('quotes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`lane_id = any(${[...quoteIds]}::bigint[])`)
    .execute()
  const byId = new Map(rows.map((row) => [row.lane_id, row]))
  return quoteIds.flatMap((id) => byId.get(id) ?? [])
}

/** A requote's own values. Its other columns are copied from the earlier quote. */
type NextQuote = Partial<Pick<NewQuote, NewQuoteColumn | ExpectedColumn | 'forecast'>> & {
  readonly createdBy: number
  readonly createdAt: Date
}

/** The columns that a requote copies from the earlier quote. */
const keptColumns: readonly string[] = quoteFields
  .filter((field) => quoteTable[field].copiedByRequote)
  .flatMap((field) => [quoteColumnOf(field), ...quoteTable[field].derived])

/** All quotes of a load share the row of the request, so its lock makes concurrent requotes sequential. */
export async function lockRequest(
  transaction: TenantTransaction,
  tenant: TenantId,
  { request_id }: Pick<QuoteRow, 'request_id'>,
): Promise<void> {
  await transaction
    .selectFrom('quote_requests')
    .select('request_id')
    .where('tenant_id', '=', tenant)
    .where('request_id', '=', request_id)
    .forUpdate()
    .execute()
}

/** Inserts the next quote of a load: same places and equipment, COUNT + 1. The caller has locked the load's first quote. */
export async function insertRequote(
  transaction: TenantTransaction,
  tenant: TenantId,
  identifiers: Database['identifiers'],
  quoted: QuoteRow,
  { createdBy, createdAt, ...next }: NextQuote,
): Promise<QuoteRow> {
  await lockRequest(transaction, tenant, quoted)
  const { last } = await transaction
    .selectFrom('quotes')
    .select((query) => query.fn.max('quote_count').as('last'))
    .where('tenant_id', '=', tenant)
    .where('request_id', '=', quoted.request_id)
    .where('lane_number', '=', quoted.lane_number)
    .executeTakeFirstOrThrow()
  const [number] = await newNumbers(transaction, 0, 1)
  const kept = Object.fromEntries(keptColumns.map((column) => [column, quoted[column as keyof QuoteRow]]))
  const quoteId = identifiers.quoteId(number?.lane ?? -1)
  await insertQuotes(transaction, tenant, [
    {
      quote: { ...(kept as unknown as NewQuote), ...next },
      request: {
        requestId: quoted.request_id,
        customerName: quoted.quoted_customer_name,
        createdBy,
        createdAt,
        importId: null,
      },
      quoteId,
      laneNumber: quoted.lane_number,
      quoteCount: last + 1,
      createdAt,
    },
  ])
  const [inserted] = await insertedQuotes(transaction, tenant, [quoteId])
  if (inserted === undefined) throw new Error('An inserted quote does not exist.')
  return inserted
}

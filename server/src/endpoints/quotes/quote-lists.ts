import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { type FieldError, invalid } from '#contract/errors.ts'
import { readTime } from '#contract/fields.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import {
  exportQuotes,
  exportShipments,
  listQuotes,
  listShipments,
  searchShipments,
} from '#contract/quote-requests.ts'
import { dollarsFromCents } from '#engine/money.ts'
import type { QuoteSelection } from '#engine/quote-statistics/quote-selection.ts'
import { percentOf } from '#engine/statistics/percent-of.ts'
import { statisticsOf, statisticsOfSome } from '../../book/index.ts'
import { quoteLists as lists, people } from '../../database/queries/index.ts'
import type { TenantTransaction } from '../../database/schema/index.ts'
import type { Database, TenantId } from '../../database/session/index.ts'
import { quoteAnswers, quoteCsvHead, quoteCsvLines, readEquipment, readPlaceKey } from '../../quotes/index.ts'
import { csvPages, rowsExportedAtOnce } from '../csv-pages.ts'
import { type CsvFile, type ReadCall, type ServedEndpoint, serve } from '../endpoint-call.ts'
import { cursorPosition, cursorText, wrongCursor } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { basisAnswer } from '../performance/compared-basis.ts'

type QuoteListQuery = QueryOf<typeof listQuotes> | QueryOf<typeof listShipments>
type ExportQuery = QueryOf<typeof exportQuotes>
/** The parts of a call that select quotes. */
interface QuoteListCall {
  readonly caller: { readonly tenant: TenantId }
  readonly query: ExportQuery
  readonly now: number
}

const dayMs = 86_400_000

/** The filter of a query. The book is read only if the query selects the quotes behind a figure. */
async function quoteFilter(
  { caller: { tenant }, query, now }: QuoteListCall,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<lists.QuoteFilter> {
  const errors: FieldError[] = []
  const { pending_days: pendingDays } = query
  if (pendingDays !== undefined && query.outcome !== undefined && query.outcome !== 'pending') {
    const detail = 'pending_days selects pending quotes only; remove outcome, or remove pending_days.'
    errors.push({ parameter: 'outcome', code: 'invalid', detail })
  }
  const place = (parameter: 'origin' | 'destination') => {
    const text = query[parameter]
    return text === undefined ? null : readPlaceKey(text, { parameter }, errors)
  }
  const [originKey, destinationKey] = [place('origin'), place('destination')]
  const equipmentCode =
    query.equipment === undefined ? null : readEquipment(query.equipment, { parameter: 'equipment' }, errors)
  if (errors.length > 0) throw invalid(errors)
  const moment = (text: string | undefined) => (text === undefined ? null : readTime(text))
  const [from, to] = [moment(query.from), moment(query.to)]
  const filter: lists.QuoteFilter = {
    ...(query.outcome === undefined ? {} : { outcome: query.outcome }),
    ...(query.offers === undefined ? {} : { offers: query.offers }),
    ...(pendingDays === undefined ? {} : { pendingSince: new Date(now - pendingDays * dayMs) }),
    ...(query.reason === undefined ? {} : { reason: query.reason }),
    ...(originKey === null ? {} : { originKey }),
    ...(destinationKey === null ? {} : { destinationKey }),
    ...(equipmentCode === null ? {} : { equipmentCode }),
    ...(query.rate_type === undefined ? {} : { rateType: query.rate_type }),
    ...(query.mode === undefined ? {} : { mode: query.mode }),
    ...(query.customer === undefined ? {} : { customer: { tenant, name: query.customer } }),
    ...(query.carrier === undefined ? {} : { carrier: query.carrier }),
    ...(query.quoted_by === undefined ? {} : { quotedBy: query.quoted_by }),
    ...(query.q === undefined ? {} : { words: query.q }),
    ...(from === null ? {} : { from: new Date(from) }),
    ...(to === null ? {} : { to: new Date(to) }),
  }
  if (query.finding === undefined) return filter
  const statistics = await statisticsOf(parts, tenant)
  return { ...filter, quoteIds: await statistics.behind(query.finding, selectionOf(filter).selection) }
}

/** The part of a filter by which a book can select. `isAll` is true if that is the whole filter. */
function selectionOf(filter: lists.QuoteFilter): { selection: QuoteSelection; isAll: boolean } {
  const {
    originKey,
    destinationKey,
    equipmentCode,
    rateType,
    customer,
    quotedBy,
    from,
    to,
    booked: _,
    offers,
    ...others
  } = filter
  return {
    selection: {
      ...(originKey === undefined ? {} : { originKey }),
      ...(destinationKey === undefined ? {} : { destinationKey }),
      ...(equipmentCode === undefined ? {} : { equipmentCode }),
      ...(rateType === undefined ? {} : { rateType }),
      ...(customer === undefined ? {} : { customerName: customer.name }),
      ...(quotedBy === undefined ? {} : { quotedBy }),
      ...(from === undefined ? {} : { from: from.getTime() }),
      ...(to === undefined ? {} : { to: to.getTime() }),
    },
    // A book has the last offer of each load.
    isAll: Object.keys(others).length === 0 && offers !== 'superseded',
  }
}

const keyForms = {
  time: (key: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(key) && readTime(key) !== null,
  cents: (key: string) => /^-?\d{1,12}$/.test(key),
  text: (key: string) => !key.includes('\0'),
} as const

function readQuoteCursor(text: string | undefined, sort: lists.QuoteSort): lists.QuoteCursor | null {
  if (text === undefined) return null
  const [of, key, quoteId] = cursorPosition(text) ?? []
  const fits = key === null || (typeof key === 'string' && keyForms[lists.sortKeyKind(sort)](key))
  if (of !== sort || !fits || typeof quoteId !== 'number' || !Number.isSafeInteger(quoteId))
    throw wrongCursor()
  return { key, quoteId }
}

async function quotePage(
  transaction: TenantTransaction,
  tenant: TenantId,
  query: QuoteListQuery,
  filter: lists.QuoteFilter,
) {
  const limit = query.limit ?? pageSizeDefault
  const sort = query.sort ?? 'newest'
  const cursor = readQuoteCursor(query.cursor, sort)
  const rows = await lists.listQuotes(transaction, tenant, filter, { sort, cursor, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    lanes: await quoteAnswers(transaction, tenant, page),
    next_cursor:
      rows.length > limit && last !== undefined ? cursorText([sort, last.sort_key, last.lane_id]) : null,
    ...(cursor !== null
      ? { total: null, loads: null }
      : rows.length <= limit
        ? { total: rows.length, loads: rows.filter((row) => row.superseded_by === null).length }
        : await totalsOf(transaction, tenant, filter)),
  }
}

/**
 * The number of quotes of a filter, and of their loads. Counting the quotes behind a figure in the database takes as long as their
 * page, and the book has counted them already, unless the filter has a condition that the book did not apply.
 */
async function totalsOf(transaction: TenantTransaction, tenant: TenantId, filter: lists.QuoteFilter) {
  const { quoteIds, ...others } = filter
  const areCounted = others.booked !== true && selectionOf(others).isAll
  return quoteIds !== undefined && areCounted
    ? { total: quoteIds.length, loads: quoteIds.length }
    : lists.countQuotes(transaction, tenant, filter)
}

/**
 * A selection of quotes as CSV, newest first. Each piece is read in its own transaction, so that a slow reader holds no
 * connection. A quote that changes meanwhile is exported in its old or new state; no quote is missing or repeated.
 */
function csvOf(
  database: Pick<Database, 'inTenant'>,
  tenant: TenantId,
  filter: lists.QuoteFilter,
): CsvFile['text'] {
  return csvPages(quoteCsvHead, (cursor: lists.QuoteCursor | null) =>
    database.inTenant(tenant, async (transaction) => {
      const page = { sort: 'newest', cursor, limit: rowsExportedAtOnce } as const
      const rows = await lists.listQuotes(transaction, tenant, filter, page)
      const last = rows.length < rowsExportedAtOnce ? undefined : rows.at(-1)
      return {
        lines: quoteCsvLines(
          await quoteAnswers(transaction, tenant, rows),
          await people.defaultsOf(transaction, tenant),
        ),
        next: last === undefined ? null : { key: last.sort_key, quoteId: last.lane_id },
      }
    }),
  )
}

function csvFile(what: 'lanes' | 'shipments', text: CsvFile['text'], now: number): CsvFile {
  return { fileName: `lanewise-${what}-${new Date(now).toISOString().slice(0, 10)}.csv`, text }
}

async function shipments(
  { caller: { tenant }, query, now }: ReadCall<typeof listShipments>,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof listShipments>> {
  const filter = { ...(await quoteFilter({ caller: { tenant }, query, now }, parts)), booked: true }
  const { selection, isAll } = selectionOf(filter)
  const ids = () =>
    parts.database.inTenant(tenant, (transaction) => lists.idsOfQuotes(transaction, tenant, filter))
  const page = await parts.database.inTenant(tenant, (transaction) =>
    quotePage(transaction, tenant, query, filter),
  )
  const quoteIds = isAll ? null : await ids()
  const statistics = await statisticsOfSome(parts, tenant, async () => quoteIds ?? (await ids()))
  const { totals, converted } = await statistics.shipments(quoteIds === null ? selection : { quoteIds })
  return {
    ...page,
    totals: {
      shipments: totals.shipments,
      cancelled: totals.cancelled,
      customer_rate: dollarsFromCents(totals.customerRateCents),
      truck_cost: dollarsFromCents(totals.truckCostCents),
      margin: dollarsFromCents(totals.marginCents),
      margin_pct: percentOf(totals.marginCents, totals.marginBaseCents),
      shipments_with_margin: totals.withMargin,
      quoted_margin: dollarsFromCents(totals.quotedMarginCents),
      shipments_with_quoted_margin: totals.withQuotedMargin,
      landed_vs_quoted: dollarsFromCents(totals.landedVsQuotedCents),
      comparable_shipments: totals.comparable,
    },
    basis: basisAnswer({ basis: statistics.basis, ...converted }),
  }
}

export const quoteListEndpoints: ServedEndpoint[] = [
  serve(listQuotes, async ({ caller, query, now }, { books, database }) => {
    const filter = await quoteFilter({ caller, query, now }, { books, database })
    return database.inTenant(caller.tenant, (transaction) =>
      quotePage(transaction, caller.tenant, query, filter),
    )
  }),

  serve(exportQuotes, async ({ caller, query, now }, { books, database }) => {
    const filter = await quoteFilter({ caller, query, now }, { books, database })
    return csvFile('lanes', csvOf(database, caller.tenant, filter), now)
  }),

  serve(listShipments, shipments),
  serve(searchShipments, shipments),

  serve(exportShipments, async ({ caller, query, now }, { books, database }) => {
    const filter = await quoteFilter({ caller, query, now }, { books, database })
    return csvFile('shipments', csvOf(database, caller.tenant, { ...filter, booked: true }), now)
  }),
]

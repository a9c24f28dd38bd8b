import type * as contract from '#contract/customers.ts'
import type { AnswerOf, QueryOf } from '#contract/endpoint.ts'
import { pageSizeDefault } from '#contract/limits.ts'
import type { ComparedBasis } from '#contract/rate-basis.ts'
import type { PerformanceCursor } from '#engine/quote-statistics/performance-groups.ts'
import type { RateBasis } from '#engine/rate-basis.ts'
import type { RateType } from '#engine/rate-type.ts'
import { csvHead, csvLinesInSteps } from '../../csv/index.ts'
import type { TenantId } from '../../database/session/index.ts'
import { csvPages, groupsExportedAtOnce } from '../csv-pages.ts'
import type { Call, CsvFile } from '../endpoint-call.ts'
import { cursorText } from '../page-cursor.ts'
import type { Parts } from '../parts.ts'
import { basisCells, basisHeaders } from '../performance/compared-basis.ts'
import { figureColumns } from '../performance/performance-csv.ts'
import { orderOf, performancePage, readPerformanceCursor } from '../performance/performance-rows.ts'
import { customerAnswers } from './customer-answer.ts'

type ListedCustomer = AnswerOf<typeof contract.listCustomers>['customers'][number]

const listOrder = ({ sort, order }: Pick<QueryOf<typeof contract.listCustomers>, 'sort' | 'order'>) =>
  ({ by: 'customer', ...(sort && { sort }), ...(order && { order }) }) as const

/** A page of the customers with a name that contains `q`, and the cursor of the next page. */
async function customersPage(
  parts: Pick<Parts, 'books' | 'database'>,
  tenant: TenantId,
  {
    q,
    rateType,
    cursor,
    limit,
    ...query
  }: ReturnType<typeof listOrder> & {
    readonly q: string | undefined
    readonly rateType: RateType | undefined
    readonly cursor: PerformanceCursor | null
    readonly limit: number
  },
): Promise<{
  customers: ListedCustomer[]
  total: number
  next: PerformanceCursor | null
  basis: ComparedBasis
}> {
  const found = await performancePage(parts, tenant, {
    query,
    selection: rateType === undefined ? {} : { rateType },
    cursor,
    limit,
    ...(q === undefined ? {} : { named: q.trim() }),
  })
  const named = found.rows.map(({ key, label }) => ({ key, name: label }))
  const answers = await parts.database.inTenant(tenant, (transaction) =>
    customerAnswers(transaction, tenant, named),
  )
  return {
    customers: found.rows.flatMap(({ key: _key, label: _label, lane: _lane, ...figures }, at) => {
      const [customer, lastQuoted] = [answers[at], found.lastQuoted[at]]
      return customer === undefined || lastQuoted === undefined
        ? []
        : [{ ...customer, ...figures, last_quoted_at: lastQuoted.toISOString() }]
    }),
    total: found.rows_total,
    next: found.next,
    basis: found.basis,
  }
}

const csvColumns: readonly (readonly [string, (customer: ListedCustomer) => string | number | null])[] = [
  ['Customer', ({ name }) => name],
  ['Other names', ({ aliases }) => aliases.map(({ name }) => name).join('; ')],
  ['Tier', ({ tier }) => tier],
  ['Payment days', ({ payment_days }) => payment_days],
  ['Last quoted', ({ last_quoted_at }) => last_quoted_at],
  ...figureColumns,
]
const customersCsvHead = () => csvHead([...csvColumns.map(([header]) => header), ...basisHeaders])
const customersCsvLines = (rows: readonly ListedCustomer[], basis: RateBasis) =>
  csvLinesInSteps(rows, (row) => [...csvColumns.map(([, cell]) => cell(row)), ...basisCells(basis)])

/** A page of the customers with their figures. */
export async function listCustomers(
  { caller: { tenant }, query }: Call<typeof contract.listCustomers>,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<AnswerOf<typeof contract.listCustomers>> {
  const order = listOrder(query)
  const { name } = orderOf(order)
  const cursor = readPerformanceCursor(query.cursor, name)
  const { limit = pageSizeDefault } = query
  const asked = { ...order, q: query.q, rateType: query.rate_type, cursor, limit }
  const { customers, total, next, basis } = await customersPage(parts, tenant, asked)
  return {
    customers,
    basis,
    customers_total: total,
    next_cursor: next === null ? null : cursorText([name, next.rank, next.quotes, next.key]),
  }
}

/** All customers of the list, as a CSV file. */
export async function exportCustomers(
  { caller: { tenant }, query, now }: Call<typeof contract.exportCustomers>,
  parts: Pick<Parts, 'books' | 'database'>,
): Promise<CsvFile> {
  return {
    fileName: `lanewise-customers-${new Date(now).toISOString().slice(0, 10)}.csv`,
    text: csvPages(customersCsvHead(), async (cursor: PerformanceCursor | null) => {
      const piece = {
        ...listOrder(query),
        q: query.q,
        rateType: query.rate_type,
        cursor,
        limit: groupsExportedAtOnce,
      }
      const page = await customersPage(parts, tenant, piece)
      return { lines: customersCsvLines(page.customers, page.basis.amounts), next: page.next }
    }),
  }
}

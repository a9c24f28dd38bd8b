import type { AnswerOf } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import { readPastedQuotes } from '#contract/pasted-quotes.ts'
import { type Pricing, pricingOf } from '../../book/index.ts'
import { people } from '../../database/queries/index.ts'
import { readRequested } from '../../entering/index.ts'
import { readPasted } from '../../imports/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { checkRates, customerToQuote, type QuotedBy, warningsOf } from './check-rates.ts'

type Row = AnswerOf<typeof readPastedQuotes>['rows'][number]

export const pastedQuotesEndpoint = serve(readPastedQuotes, async ({ body, caller, now }, parts) => {
  const { tenant, userId } = caller
  const settings = await parts.database.inTenant(tenant, (transaction) =>
    people.fileDefaultsOf(transaction, tenant),
  )
  const { text, columns = [], dates: order = null, confirmed = [], has_header: hasHeader = null } = body
  const chosen = columns.map(({ column, field = null }) => ({ column, field }))
  const reading = {
    ...settings,
    dates: { ...settings.dates, chosen: order },
    now,
    chosen,
    confirmed,
    hasHeader,
  }
  const pasted = await yieldBetweenSteps(readPasted(text, reading))
  const pricing = pasted.rows.length === 0 ? null : await pricingOf(parts, tenant, now)
  const columnOf = (field: string) => pasted.columns.find((column) => column.field === field)?.column ?? null
  const rows = pasted.rows.map((row) => withQuote(row, columnOf))
  const warnings =
    pricing === null ? new Map() : await warningsOfRows(rows, { tenant, userId, now, pricing }, parts)
  return { ...pasted, rows: rows.map(({ row }) => ({ ...row, warnings: warnings.get(row) ?? [] })) }
})

type ReadRow = Omit<Row, 'warnings'>

/** A row, and its quote as a quote request has it; null without a rate or with errors, which may be those of its charges. */
function withQuote(row: ReadRow, columnOf: (field: string) => number | null) {
  const { origin = '', destination = '', quoted_rate, customer_name: name = '', ...rest } = row.quote
  if (row.errors.length > 0 || quoted_rate === undefined) return { row, name, quote: null }
  const errors: FieldError[] = []
  // Without an equipment, the desk quotes a van.
  const quote = readRequested({ equipment: 'V', ...rest, origin, destination, quoted_rate }, errors, {
    acceptUnknown: true,
  })
  const wrong = errors.map(({ pointer, detail, suggestions = [] }) => ({
    column: columnOf((pointer ?? '').slice(1)),
    detail: detail.replace(/\.$/, ''),
    suggestions: [...suggestions],
    is_unknown: false,
  }))
  return { row: { ...row, errors: wrong }, name, quote: wrong.length === 0 ? quote : null }
}

/**
 * The warnings about the rates of rows, as a quote request has them. The rows of a customer are checked together, because hundreds may have
 * the same one.
 */
async function warningsOfRows(
  rows: readonly ReturnType<typeof withQuote>[],
  { pricing, ...by }: Omit<QuotedBy, 'isApproved'> & { readonly pricing: Pricing },
  parts: Pick<Parts, 'database'>,
): Promise<ReadonlyMap<ReadRow, Row['warnings']>> {
  const warnings = new Map<ReadRow, Row['warnings']>()
  const priced = rows.flatMap(({ row, name, quote }) =>
    quote === null ? [] : [{ row, quote: { ...quote, quoted_customer_name: name } }],
  )
  for (const [name, ofCustomer] of Map.groupBy(priced, ({ quote }) => quote.quoted_customer_name)) {
    const customer = await customerToQuote(name === '' ? undefined : name, pricing, by.tenant, parts)
    const checked = await checkRates(
      ofCustomer.map(({ quote }) => quote),
      { customer, by: { ...by, isApproved: false }, pricing },
      parts,
    )
    for (const [nth, { row }] of ofCustomer.entries()) warnings.set(row, warningsOf(checked[nth]))
  }
  return warnings
}

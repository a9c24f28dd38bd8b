import type { AnswerOf } from '#contract/endpoint.ts'
import type { FieldError } from '#contract/errors.ts'
import { readPastedQuotes } from '#contract/pasted-quotes.ts'
import { type Pricing, pricingOf } from '../../book/index.ts'
import { people } from '../../database/queries/index.ts'
import { readRequested } from '../../entering/index.ts'
import { readPasted } from '../../imports/index.ts'
import { yieldBetweenSteps } from '../../runtime/index.ts'
import { type AskedBy, serve } from '../endpoint-call.ts'
import type { Parts } from '../parts.ts'
import { checkRates, customerToQuote, warningsOf } from './check-rates.ts'

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
  const rows: Row[] = []
  for (const row of pasted.rows) {
    const { quote, errors } = row
    const isPriced = pricing !== null && errors.length === 0 && quote.quoted_rate !== undefined
    rows.push(
      isPriced
        ? await checkedRow(row, pricing, { tenant, userId, now }, columnOf, parts)
        : { ...row, warnings: [] },
    )
  }
  return { ...pasted, rows }
})

/** A row with a rate, checked as a quote request checks it: the errors of its charges, and the warnings about its rate. */
async function checkedRow(
  row: Omit<Row, 'warnings'>,
  pricing: Pricing,
  by: { readonly tenant: AskedBy['caller']['tenant']; readonly userId: number; readonly now: number },
  columnOf: (field: string) => number | null,
  parts: Pick<Parts, 'database'>,
): Promise<Row> {
  const { origin = '', destination = '', quoted_rate = 0, customer_name: name = '', ...rest } = row.quote
  const errors: FieldError[] = []
  // Without an equipment, the desk quotes a van.
  const quote = readRequested({ equipment: 'V', ...rest, origin, destination, quoted_rate }, errors, {
    acceptUnknown: true,
  })
  if (quote === null || errors.length > 0) {
    const wrong = errors.map(({ pointer, detail, suggestions = [] }) => ({
      column: columnOf((pointer ?? '').slice(1)),
      detail: detail.replace(/\.$/, ''),
      suggestions: [...suggestions],
      is_unknown: false,
    }))
    return { ...row, errors: wrong, warnings: [] }
  }
  const customer = await customerToQuote(name === '' ? undefined : name, pricing, by.tenant, parts)
  const [checked] = await checkRates(
    [{ ...quote, quoted_customer_name: name }],
    { customer, by: { ...by, isApproved: false }, pricing },
    parts,
  )
  return { ...row, warnings: warningsOf(checked) }
}

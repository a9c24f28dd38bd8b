import { formatDollars } from '#engine/money.ts'
import { type Setter, settersOf } from '../database/queries/index.ts'
import type { NotAppliedValue, QuoteRow, TenantTransaction } from '../database/schema/index.ts'
import type { MadeQuotes } from './made-quotes.ts'
import type { NotAppliedField } from './merge-row.ts'
import type { Job } from './saved-rows.ts'

/** A value of a row that did not change its quote, because a newer or a signed value is there. */
export interface RowNotApplied {
  readonly line: number
  readonly quote: QuoteRow
  readonly field: NotAppliedField
}

/** The values of the file that were not applied, each with the source of the quote's value. */
export async function notAppliedValues(
  transaction: TenantTransaction,
  { tenant, context }: Job,
  all: readonly RowNotApplied[],
  made: MadeQuotes,
): Promise<NotAppliedValue[]> {
  // A check makes no quotes, so values of theirs are counted, but have no lane_ref to be listed under.
  const notApplied = all.flatMap((one) => {
    const laneRef = one.quote.lane_id < 0 ? made.at(one.quote.lane_id)?.laneRef : one.quote.lane_ref
    return laneRef == null ? [] : [{ ...one, laneRef }]
  })
  if (notApplied.length === 0) return []
  const setters = await settersOf(
    transaction,
    tenant,
    notApplied.map(({ quote, field }) => ({ quoteId: quote.lane_id, column: field.column })),
  )
  return notApplied.map(({ line, quote, laneRef, field }, index) => {
    const { column, fileValue, currentValue, because } = field
    const name = context.columns.names[field.field] ?? field.field
    const set_by = setterOf(quote, field, setters[index] ?? null)
    const who = set_by.source === 'tms' ? 'the TMS' : (set_by.name ?? 'a person')
    const stands = quote.cancelled_at === null ? `which ${who} set` : 'because the TMS cancelled the booking'
    const money = column.endsWith('_cents')
    const text = (value: string | number | null) =>
      value === null ? 'empty' : money ? formatDollars(Math.round(Number(value) * 100)) : `"${value}"`
    return {
      row: line,
      lane_ref: laneRef,
      column: name,
      file_value: fileValue,
      kept_value: currentValue,
      set_by,
      detail: `${name} stays ${text(currentValue)}, ${because ?? stands}; the file has ${text(fileValue)}.`,
    }
  })
}

/** Who set the quote's value that a file did not replace: a person, the TMS or an import. */
function setterOf(
  quote: QuoteRow,
  { column, because }: NotAppliedField,
  setter: Setter | null,
): NotAppliedValue['set_by'] {
  if (because !== undefined) {
    const quotedIn = quote.import_id !== null ? 'import' : quote.external_id !== null ? 'tms' : 'dashboard'
    return setter ?? { source: quotedIn, name: null }
  }
  const isOutcome = column === 'outcome' || column === 'outcome_reason'
  const source = isOutcome ? (quote.outcome_source ?? 'tms') : 'tms'
  // A person's change is the last one on record even if the TMS confirmed the value later, because that records no change.
  const isPersons = setter?.source === 'dashboard' && (!isOutcome || source === 'dashboard')
  return isPersons ? setter : { source, name: null }
}
